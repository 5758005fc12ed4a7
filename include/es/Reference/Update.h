//===- Update.h - Perturbation and update -*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What es.perturb and es.update mean, an element at a time.
//
//===----------------------------------------------------------------------===//

#ifndef ES_REFERENCE_UPDATE_H
#define ES_REFERENCE_UPDATE_H

#include "es/Reference/Noise.h"
#include "es/Reference/Shaping.h"
#include "es/Reference/Storage.h"

#include <vector>

namespace mlir::es::reference {

enum class Order { seq, chunk, exact };
enum class Optimizer { sgd, momentum, adam };
enum class Decay { none, coupled, decoupled };
enum class Rounding {
  nearest,
  stochastic,
  compensated,
  master,
  threshold,
  error_feedback
};

/// Which noise a parameter gets.
struct NoiseOptions {
  Key key;
  Noise noise = Noise::normal16;
  /// 0 is full rank. Low rank is for matrices; other shapes are full rank.
  unsigned rank = 0;
};

struct Rule {
  Optimizer optimizer = Optimizer::sgd;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0;
  Decay decay = Decay::none;
  /// From 1, for adam.
  int64_t step = 1;
};

struct Parameter {
  uint32_t id = 0;
  Storage storage = Storage::f32;
  std::vector<int64_t> shape;
  void *data = nullptr;
  double sigma = 0.02, lr = 0.01;
  Rounding rounding = Rounding::nearest;
  /// First and second moment: f64 where the parameter is f64, else f32, or a
  /// float of 16 bits, rounded at random.
  void *moments[2] = {nullptr, nullptr};
  Storage momentStorage = Storage::f32;
  /// compensated: what bf16 or f16 lost, in that type; master and
  /// error_feedback: f32.
  void *companion = nullptr;
  /// Integers: what 1 stands for, and the threshold in standard deviations.
  double quantum = 1.0, tau = 2.0;
  /// Where there is an axis: what 1 stands for at each of its indices.
  int axis = -1;
  std::vector<double> quanta;

  int64_t getNumElements() const;
  double getQuantum(uint64_t element) const;
};

struct UpdateOptions {
  NoiseOptions noise;
  Order order = Order::seq;
  int64_t chunk = 1;
  Scale scale = Scale::exact;
  bool maximize = true;
  Coefficients coefficients;
  Rule rule;
};

/// The noise of one pair at one element; with low rank, A B^T / sqrt(rank).
float getNoise(const NoiseOptions &options, const Parameter &parameter,
               uint32_t pair, uint64_t element);

/// sum_p c_p eps_p at one element, as the order says. Low rank adds a term a
/// column, (c_p a) b, and leaves 1 / sqrt(rank) to the scale.
float accumulate(const UpdateOptions &options, const Parameter &parameter,
                 uint64_t element);

/// The same in whole numbers, for `exact`.
int64_t accumulateExactly(const UpdateOptions &options,
                          const Parameter &parameter, uint64_t element);

/// Updates a parameter and its states. If every coefficient is 0 it changes
/// nothing, states included.
void update(const UpdateOptions &options, const Parameter &parameter);

/// Writes round(theta + sign sigma eps) into `out`, of the same storage type.
void perturb(const NoiseOptions &options, const Parameter &parameter,
             uint32_t pair, bool negative, void *out);

} // namespace mlir::es::reference

#endif // ES_REFERENCE_UPDATE_H
