//===- Shaping.h - From fitness to coefficients -*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What es.shape_fitness means: f64, in the order of the members.
//
//===----------------------------------------------------------------------===//

#ifndef ES_REFERENCE_SHAPING_H
#define ES_REFERENCE_SHAPING_H

#include <cstdint>
#include <vector>

namespace mlir::es::reference {

enum class Shaping { centered_rank, zscore, sign, raw };
enum class NanPolicy { error, worst, drop };

struct ShapingOptions {
  Shaping shaping = Shaping::centered_rank;
  NanPolicy nan = NanPolicy::error;
  bool maximize = true;
  bool antithetic = false;
  /// centered_rank as whole numbers; the unit says what one is worth.
  bool integer = false;
};

struct Coefficients {
  /// False if a fitness is bad and the policy is `error`.
  bool ok = true;
  /// One a pair; whole numbers with `sign` and with `integer`.
  std::vector<float> values;
  /// The members that count in the scale.
  int64_t members = 0;
  /// What a coefficient of 1 is worth.
  double unit = 1.0;
};

Coefficients shapeFitness(const std::vector<float> &fitness,
                          const ShapingOptions &options);

enum class Scale { exact, mean, sqrt };

/// S, without the sign: 1/(N sigma), 1/N or sigma/sqrt(N), times the unit.
/// 0 if no member counts.
float getScale(Scale scale, int64_t members, double sigma, double unit);

} // namespace mlir::es::reference

#endif // ES_REFERENCE_SHAPING_H
