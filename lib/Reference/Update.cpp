//===- Update.cpp - Perturbation and update -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Reference/Update.h"
#include "es/Reference/NoiseVersion1.h"

#include <cmath>

using namespace mlir::es::noise;
using namespace mlir::es::reference;

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

/// beta^n by squaring: no libm, so equal everywhere.
static double power(double base, int64_t n) {
  double result = 1;
  for (; n > 0; n >>= 1, base = base * base)
    if (n & 1)
      result = result * base;
  return result;
}

namespace {
/// The scalars of a step, all rounded to f32 once.
struct Scalars {
  Scalars(const UpdateOptions &options, const Parameter &parameter);

  float scale, lr, alpha, beta1, beta2, rest1, rest2, correction1, correction2,
      epsilon, decay, lrDecay;
};
} // namespace

/// What one unit of the sum is worth beyond the coefficients: integers count
/// sixteenths of int8 noise, and low rank owes 1 / sqrt(rank).
static double getUnit(const UpdateOptions &options,
                      const Parameter &parameter) {
  double unit = options.coefficients.unit;
  bool lowRank = options.noise.rank > 0 && parameter.shape.size() == 2;
  if (options.order == Order::exact && options.noise.noise == Noise::int8)
    unit = unit * (lowRank ? kInt8Scale * kInt8Scale : kInt8Scale);
  if (lowRank)
    unit = unit / std::sqrt(double(options.noise.rank));
  return unit;
}

Scalars::Scalars(const UpdateOptions &options, const Parameter &parameter) {
  const Rule &rule = options.rule;
  scale = getScale(options.scale, options.coefficients.members, parameter.sigma,
                   getUnit(options, parameter));
  if (!options.maximize)
    scale = -scale;
  lr = float(parameter.lr);
  alpha = lr * scale;
  beta1 = float(rule.beta1);
  beta2 = float(rule.beta2);
  rest1 = float(1.0 - rule.beta1);
  rest2 = float(1.0 - rule.beta2);
  correction1 = float(1.0 / (1.0 - power(rule.beta1, rule.step)));
  correction2 = float(1.0 / (1.0 - power(rule.beta2, rule.step)));
  epsilon = float(rule.epsilon);
  decay = float(rule.weightDecay);
  lrDecay = lr * decay;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

template <typename T> static T *as(void *data) {
  return static_cast<T *>(data);
}

static uint16_t roundTo(Storage storage, float value) {
  return storage == Storage::bf16 ? toBf16(value) : toF16(value);
}
static uint16_t roundTo(Storage storage, float value, uint32_t random) {
  return storage == Storage::bf16 ? toBf16(value, random)
                                  : toF16(value, random);
}

static uint32_t getRandom(const NoiseOptions &options, uint32_t id,
                          uint64_t element, Purpose purpose = kRoundParameter) {
  return getRoundingBits({options.key, id, kNoPair, purpose}, element);
}

static bool isHalf(Storage storage) {
  return storage == Storage::bf16 || storage == Storage::f16;
}

template <typename T>
static T loadMoment(const Parameter &p, unsigned i, uint64_t element) {
  if (isHalf(p.momentStorage))
    return T(load(p.momentStorage, p.moments[i], element));
  return as<T>(p.moments[i])[element];
}

template <typename T>
static void storeMoment(const UpdateOptions &options, const Parameter &p,
                        unsigned i, uint64_t element, T value) {
  if (!isHalf(p.momentStorage)) {
    as<T>(p.moments[i])[element] = value;
    return;
  }
  uint32_t random = getRandom(options.noise, p.id, element,
                              i ? kRoundMoment2 : kRoundMoment1);
  as<uint16_t>(p.moments[i])[element] =
      roundTo(p.momentStorage, float(value), random);
}

/// The new value of `theta`, in f32 or f64; the moments change in place. It
/// goes on with moments as they were before they were rounded.
template <typename T>
static T applyRule(const UpdateOptions &options, const Parameter &p,
                   const Scalars &s, T theta, float sum, uint64_t element) {
  const Rule &rule = options.rule;
  if (rule.decay == Decay::decoupled)
    theta = std::fma(-T(s.lrDecay), theta, theta);
  bool coupled = rule.decay == Decay::coupled;
  if (rule.optimizer == Optimizer::sgd && !coupled)
    return std::fma(T(s.alpha), T(sum), theta);
  T g = T(s.scale) * T(sum);
  if (coupled)
    g = std::fma(-T(s.decay), theta, g);
  if (rule.optimizer == Optimizer::sgd)
    return std::fma(T(s.lr), g, theta);
  T m = loadMoment<T>(p, 0, element);
  if (rule.optimizer == Optimizer::momentum) {
    m = std::fma(T(s.beta1), m, g);
    storeMoment(options, p, 0, element, m);
    return std::fma(T(s.lr), m, theta);
  }
  T v = loadMoment<T>(p, 1, element);
  m = std::fma(T(s.beta1), m, T(s.rest1) * g);
  v = std::fma(T(s.beta2), v, (T(s.rest2) * g) * g);
  storeMoment(options, p, 0, element, m);
  storeMoment(options, p, 1, element, v);
  T direction = T(s.lr) * (m * T(s.correction1));
  return theta + direction / (std::sqrt(v * T(s.correction2)) + T(s.epsilon));
}

static void updateHalf(const UpdateOptions &options, const Parameter &p,
                       const Scalars &s, uint64_t e, float sum) {
  float theta = float(load(p.storage, p.data, e));
  if (p.rounding == Rounding::master)
    theta = as<float>(p.companion)[e];
  if (p.rounding == Rounding::compensated)
    theta = theta + float(load(p.storage, p.companion, e));
  float value = applyRule<float>(options, p, s, theta, sum, e);
  uint16_t &stored = as<uint16_t>(p.data)[e];
  if (p.rounding == Rounding::stochastic)
    stored = roundTo(p.storage, value, getRandom(options.noise, p.id, e));
  else
    stored = roundTo(p.storage, value);
  if (p.rounding == Rounding::master)
    as<float>(p.companion)[e] = value;
  if (p.rounding == Rounding::compensated)
    as<uint16_t>(p.companion)[e] =
        roundTo(p.storage, value - float(load(p.storage, p.data, e)));
}

/// theta + change, saturating; a change that is no number is none.
static void addInteger(Storage storage, void *data, uint64_t e, float change) {
  int64_t bits = 8 * getBytes(storage);
  int64_t most = (int64_t(1) << (bits - 1)) - 1;
  float bounded = change != change    ? 0.0f
                  : change > 0x1p32f  ? 0x1p32f
                  : change < -0x1p32f ? -0x1p32f
                                      : change;
  int64_t value = int64_t(load(storage, data, e)) + int64_t(bounded);
  value = value > most ? most : value < -most - 1 ? -most - 1 : value;
  if (storage == Storage::i8)
    as<int8_t>(data)[e] = int8_t(value);
  else if (storage == Storage::i16)
    as<int16_t>(data)[e] = int16_t(value);
  else
    as<int32_t>(data)[e] = int32_t(value);
}

/// tau standard deviations of the sum: its variance is that of the noise times
/// the sum of the squared coefficients.
static float getThreshold(const UpdateOptions &options, const Parameter &p) {
  double squares = 0;
  for (float c : options.coefficients.values)
    squares = squares + double(c) * double(c);
  double variance = 1.0;
  bool lowRank = options.noise.rank > 0 && p.shape.size() == 2;
  if (options.noise.noise == Noise::int8) {
    // Of a table whose squares sum to 65122; sixteenths unless in integers.
    double table = 65122.0 / 256.0;
    double unit = options.order == Order::exact ? table : table / 256.0;
    variance = lowRank ? unit * unit : unit;
  }
  if (lowRank)
    variance = variance * double(options.noise.rank);
  return float(p.tau * std::sqrt(variance * squares));
}

static void updateInteger(const UpdateOptions &options, const Parameter &p,
                          const Scalars &s, uint64_t e, float sum) {
  float alpha = s.alpha / float(p.getQuantum(e));
  switch (p.rounding) {
  case Rounding::threshold: {
    float sign = options.maximize ? 1.0f : -1.0f;
    if (std::fabs(sum) >= getThreshold(options, p))
      addInteger(p.storage, p.data, e, sum > 0 ? sign : sum < 0 ? -sign : 0);
    return;
  }
  case Rounding::stochastic: {
    float random = float(getRandom(options.noise, p.id, e)) * 0x1p-16f;
    addInteger(p.storage, p.data, e, std::floor(std::fma(alpha, sum, random)));
    return;
  }
  case Rounding::error_feedback: {
    float wanted = std::fma(alpha, sum, as<float>(p.companion)[e]);
    float change = std::floor(wanted + 0.5f);
    addInteger(p.storage, p.data, e, change);
    as<float>(p.companion)[e] = wanted - change;
    return;
  }
  default:
    addInteger(p.storage, p.data, e, std::floor(alpha * sum + 0.5f));
  }
}

void mlir::es::reference::update(const UpdateOptions &options,
                                 const Parameter &p) {
  bool any = false;
  for (float c : options.coefficients.values)
    any |= c != 0;
  if (!any)
    return;
  Scalars s(options, p);
  for (uint64_t e = 0, n = p.getNumElements(); e < n; ++e) {
    float sum = accumulate(options, p, e);
    if (isInteger(p.storage))
      updateInteger(options, p, s, e, sum);
    else if (p.storage == Storage::f64)
      as<double>(p.data)[e] =
          applyRule<double>(options, p, s, as<double>(p.data)[e], sum, e);
    else if (p.storage == Storage::f32)
      as<float>(p.data)[e] =
          applyRule<float>(options, p, s, as<float>(p.data)[e], sum, e);
    else
      updateHalf(options, p, s, e, sum);
  }
}

//===----------------------------------------------------------------------===//
// Perturbation
//===----------------------------------------------------------------------===//

void mlir::es::reference::perturb(const NoiseOptions &options,
                                  const Parameter &p, uint32_t pair,
                                  bool negative, void *out) {
  float sigma = negative ? -float(p.sigma) : float(p.sigma);
  for (uint64_t e = 0, n = p.getNumElements(); e < n; ++e) {
    float eps = getNoise(options, p, pair, e);
    double theta = load(p.storage, p.data, e);
    if (p.storage == Storage::f64) {
      as<double>(out)[e] = std::fma(double(sigma), double(eps), theta);
    } else if (p.storage == Storage::f32) {
      as<float>(out)[e] = std::fma(sigma, eps, float(theta));
    } else if (!isInteger(p.storage)) {
      as<uint16_t>(out)[e] =
          roundTo(p.storage, std::fma(sigma, eps, float(theta)));
    } else {
      // Halves away from zero, so that the two of a pair mirror each other.
      float change = (sigma / float(p.getQuantum(e))) * eps;
      float size = std::floor(std::fabs(change) + 0.5f);
      for (unsigned i = 0; i < getBytes(p.storage); ++i)
        as<uint8_t>(out)[e * getBytes(p.storage) + i] =
            as<uint8_t>(p.data)[e * getBytes(p.storage) + i];
      addInteger(p.storage, out, e, change < 0 ? -size : size);
    }
  }
}
