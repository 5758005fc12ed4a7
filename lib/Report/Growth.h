//===- Growth.h - How a peak grows with a size ------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_REPORT_GROWTH_H
#define ES_LIB_REPORT_GROWTH_H

#include "es/Analysis/MemoryProfile.h"
#include "es/Report/MemoryReport.h"

namespace mlir::es {

/// The live bytes at a point as a polynomial of a size: `fixed`, `each` for
/// every unit, and `square` for every pair (scores of attention, of a
/// sequence).
struct GrowingPoint {
  double fixed = 0;
  double each = 0;
  double square = 0;

  double at(double size) const { return fixed + size * (each + size * square); }
  /// What one more costs.
  double getSlope(double size) const { return at(size + 1) - at(size); }
};

Growth computeGrowth(ArrayRef<GrowingPoint> points, double size);

/// Points of a program whose timelines are known at two sizes.
std::vector<GrowingPoint> fitGrowth(ArrayRef<uint64_t> atSize,
                                    ArrayRef<uint64_t> atDouble, uint64_t size);

/// The same, at three: `size`, twice and three times as much.
std::vector<GrowingPoint> fitGrowth(ArrayRef<uint64_t> once,
                                    ArrayRef<uint64_t> twice,
                                    ArrayRef<uint64_t> thrice, uint64_t size);

/// Points of a training step of fixed sizes, if all that depends on an input,
/// and is neither a gradient of a parameter nor a parameter updated, grew with
/// `size`.
std::vector<GrowingPoint> splitByDependence(const MemoryProfile &profile,
                                            FunctionOpInterface step,
                                            function_ref<bool(Value)> isInput,
                                            uint64_t size);

/// In words.
std::string describeGrowth(const GrowthReport &growth);
std::string describeGrowth(const Growth &growth);

} // namespace mlir::es

#endif // ES_LIB_REPORT_GROWTH_H
