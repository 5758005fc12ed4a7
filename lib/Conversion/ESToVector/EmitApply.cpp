//===- EmitApply.cpp - Rule and store of an element -----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"

#include <cmath>

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;
using namespace mlir::es::noise;

namespace {
/// Rule and store of the elements that `access` finds.
struct ApplyEmitter {
  const Lanes &l;
  const Config &config;
  Access &access;

  /// A scalar of the row or the step in every lane, as `type`.
  Value spread(Value value, Type type) const {
    if (type != l.f32())
      value = arith::ExtFOp::create(l.b, type, value);
    return l.splat(value);
  }
  Value row(RowWord word, Type type) const {
    return spread(access.rowScalar(word), type);
  }
  Value step(StepWord word, Type type) const {
    return spread(access.stepScalar(word), type);
  }
  Value sum() const;
  Value loadMoment(RowWord word, Type type) const;
  void storeMoment(Value value, RowWord word, Purpose purpose) const;
  Value applyRule(Value theta, Value sum) const;
  void storeInteger(Value change, Value theta, RowWord out) const;
  Value loadHalf(RowWord word) const;
  void storeHalf(Value bits, RowWord word) const;
  void updateHalf() const;
  void updateInteger() const;
  void update() const;
  void perturb() const;
};
} // namespace

Value ApplyEmitter::sum() const {
  Value value = access.sum();
  return isa<FloatType>(getElementTypeOrSelf(value.getType()))
             ? value
             : l.toFloat(value);
}

//===----------------------------------------------------------------------===//
// Floats of 16 bits, in integer arithmetic
//===----------------------------------------------------------------------===//

/// Adds `increment` below the cut; NaN stays NaN, made quiet.
static Value cutBf16(const Lanes &l, Value bits, Value increment) {
  Value magnitude = l.band(bits, l.whole(0x7fffffff));
  Value isNan =
      l.cmp(arith::CmpIPredicate::ugt, magnitude, l.whole(0x7f800000));
  Value quiet = l.bor(l.shr(bits, 16), l.whole(0x40));
  Value cut = l.shr(l.add(bits, increment), 16);
  return l.select(isNan, quiet, cut);
}

/// Magnitudes from 2^-14 on lose 13 bits after `increment` is added; below it
/// the whole `units` of 2^-24 count.
static Value cutF16(const Lanes &l, Value bits, Value increment, Value units) {
  Value magnitude = l.band(bits, l.whole(0x7fffffff));
  Value cut = l.sub(l.shr(l.add(magnitude, increment), 13), l.whole(112 << 10));
  cut = arith::MinUIOp::create(l.b, cut, l.whole(0x7c00));
  Value isNormal =
      l.cmp(arith::CmpIPredicate::uge, magnitude, l.whole(0x38800000));
  Value isNan =
      l.cmp(arith::CmpIPredicate::ugt, magnitude, l.whole(0x7f800000));
  Value nan = l.bor(l.band(l.shr(bits, 13), l.whole(0x3ff)), l.whole(0x7e00));
  Value result = l.select(isNan, nan, l.select(isNormal, cut, units));
  return l.bor(result, l.band(l.shr(bits, 16), l.whole(0x8000)));
}

/// Units of 2^-24 of a magnitude below 2^-14; what is above does not matter.
static std::pair<Value, Value> splitUnits(const Lanes &l, Value bits) {
  Value magnitude = l.bitcast(l.band(bits, l.whole(0x7fffffff)), l.f32());
  Value least = arith::MinNumFOp::create(l.b, magnitude, l.real(0x1p-14));
  Value units = l.mul(least, l.real(0x1p24));
  return {units, l.floor(units)};
}

static Value roundToNearest(const Lanes &l, Type element, Value value) {
  Value bits = l.bitcast(value, l.i(32));
  if (isa<BFloat16Type>(element)) {
    Value odd = l.band(l.shr(bits, 16), l.whole(1));
    return cutBf16(l, bits, l.add(odd, l.whole(0x7fff)));
  }
  Value odd = l.band(l.shr(bits, 13), l.whole(1));
  auto [units, whole] = splitUnits(l, bits);
  Value even = math::RoundEvenOp::create(l.b, units);
  return cutF16(l, bits, l.add(odd, l.whole(0xfff)), l.toInt(even, 32));
}

static Value roundAtRandom(const Lanes &l, Type element, Value value,
                           Value random) {
  Value bits = l.bitcast(value, l.i(32));
  if (isa<BFloat16Type>(element))
    return cutBf16(l, bits, random);
  auto [units, whole] = splitUnits(l, bits);
  Value chance = l.mul(l.toFloat(random), l.real(0x1p-16));
  Value up = l.cmp(arith::CmpFPredicate::OGE,
                   l.add(l.sub(units, whole), chance), l.real(1.0));
  Value count = l.add(l.toInt(whole, 32), l.zext(up, 32));
  return cutF16(l, bits, l.shr(random, 3), count);
}

static Value widenHalf(const Lanes &l, Type element, Value half) {
  if (isa<Float16Type>(element))
    return arith::ExtFOp::create(l.b, l.of(l.f32()),
                                 l.bitcast(half, l.b.getF16Type()));
  return l.bitcast(l.shl(l.zext(half, 32), 16), l.f32());
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

/// The rule goes on with the moment before it is rounded.
Value ApplyEmitter::loadMoment(RowWord word, Type type) const {
  if (config.hasHalfMoments())
    return widenHalf(l, config.moment, access.load(word, l.i(16)));
  return access.load(word, type);
}

void ApplyEmitter::storeMoment(Value value, RowWord word,
                               Purpose purpose) const {
  if (!config.hasHalfMoments())
    return access.store(word, value);
  Value bits = roundAtRandom(l, config.moment, value, access.random(purpose));
  access.store(word, l.trunc(bits, 16));
}

Value ApplyEmitter::applyRule(Value theta, Value sum) const {
  Type type = getElementTypeOrSelf(theta.getType());
  auto row = [&](RowWord word) { return this->row(word, type); };
  auto constant = [&](double value) { return l.real(float(value), type); };
  if (type != l.f32())
    sum = arith::ExtFOp::create(l.b, l.of(type), sum);
  if (config.decay == DecayKind::decoupled)
    theta = l.fma(l.neg(row(kLrDecay)), theta, theta);
  bool coupled = config.decay == DecayKind::coupled;
  if (config.optimizer == OptimizerKind::sgd && !coupled)
    return l.fma(row(kAlpha), sum, theta);
  Value g = l.mul(row(kScale), sum);
  if (coupled)
    g = l.fma(constant(-config.weightDecay), theta, g);
  if (config.optimizer == OptimizerKind::sgd)
    return l.fma(row(kLr), g, theta);
  Value m = loadMoment(kMoment1, type);
  if (config.optimizer == OptimizerKind::momentum) {
    m = l.fma(constant(config.beta1), m, g);
    storeMoment(m, kMoment1, kRoundMoment1);
    return l.fma(row(kLr), m, theta);
  }
  Value v = loadMoment(kMoment2, type);
  Value rest2 = constant(1.0 - config.beta2);
  m = l.fma(constant(config.beta1), m, l.mul(constant(1.0 - config.beta1), g));
  v = l.fma(constant(config.beta2), v, l.mul(l.mul(rest2, g), g));
  storeMoment(m, kMoment1, kRoundMoment1);
  storeMoment(v, kMoment2, kRoundMoment2);
  Value direction = l.mul(row(kLr), l.mul(m, step(kCorrection1, type)));
  Value root = l.sqrt(l.mul(v, step(kCorrection2, type)));
  return l.add(theta, l.div(direction, l.add(root, constant(config.epsilon))));
}

Value ApplyEmitter::loadHalf(RowWord word) const {
  return widenHalf(l, config.element, access.load(word, l.i(16)));
}

void ApplyEmitter::storeHalf(Value bits, RowWord word) const {
  access.store(word, l.trunc(bits, 16));
}

void ApplyEmitter::updateHalf() const {
  Value theta;
  if (config.rounding == Rounding::master)
    theta = access.load(kCompanion, l.f32());
  else
    theta = loadHalf(kData);
  if (config.rounding == Rounding::compensated)
    theta = l.add(theta, loadHalf(kCompanion));
  Value value = applyRule(theta, sum());
  Value bits = config.rounding == Rounding::stochastic
                   ? roundAtRandom(l, config.element, value,
                                   access.random(kRoundParameter))
                   : roundToNearest(l, config.element, value);
  storeHalf(bits, kData);
  if (config.rounding == Rounding::master)
    access.store(kCompanion, value);
  if (config.rounding == Rounding::compensated) {
    Value lost = l.sub(value, widenHalf(l, config.element, l.trunc(bits, 16)));
    storeHalf(roundToNearest(l, config.element, lost), kCompanion);
  }
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// theta + change, saturating; a change that is no number is none. Up to 16
/// bits a bound far outside the type fits 32 bits, and saturates all the same.
void ApplyEmitter::storeInteger(Value change, Value theta, RowWord out) const {
  unsigned bits = config.element.getIntOrFloatBitWidth();
  unsigned wide = bits == 32 ? 64 : 32;
  double bound = bits == 32 ? 0x1p32 : 0x1p20;
  Value isNan = l.cmp(arith::CmpFPredicate::UNO, change, change);
  change = l.select(isNan, l.real(0.0), change);
  change = arith::MinNumFOp::create(l.b, change, l.real(bound));
  change = arith::MaxNumFOp::create(l.b, change, l.real(-bound));
  int64_t most = (int64_t(1) << (bits - 1)) - 1;
  Value value = l.add(l.sext(theta, wide), l.toInt(change, wide));
  value = arith::MinSIOp::create(l.b, value, l.whole(most, wide));
  value = arith::MaxSIOp::create(l.b, value, l.whole(-most - 1, wide));
  access.store(out, l.trunc(value, bits));
}

void ApplyEmitter::updateInteger() const {
  Value theta = access.load(kData, config.element);
  Value total = sum(), zero = l.real(0.0), half = l.real(0.5);
  Value step = row(kStep, l.f32());
  switch (config.fixed) {
  case FixedRounding::nearest:
    return storeInteger(l.floor(l.add(l.mul(step, total), half)), theta, kData);
  case FixedRounding::stochastic: {
    Value random = l.toFloat(access.random(kRoundParameter));
    Value chance = l.mul(random, l.real(0x1p-16));
    return storeInteger(l.floor(l.fma(step, total, chance)), theta, kData);
  }
  case FixedRounding::threshold: {
    Value one = l.real(config.maximize ? 1.0 : -1.0);
    Value sign = l.select(l.cmp(arith::CmpFPredicate::OLT, total, zero),
                          l.neg(one), zero);
    sign = l.select(l.cmp(arith::CmpFPredicate::OGT, total, zero), one, sign);
    Value reaches = l.cmp(arith::CmpFPredicate::OGE, l.abs(total), step);
    return storeInteger(l.select(reaches, sign, zero), theta, kData);
  }
  case FixedRounding::error_feedback: {
    Value left = access.load(kCompanion, l.f32());
    Value wanted = l.fma(step, total, left);
    Value change = l.floor(l.add(wanted, half));
    storeInteger(change, theta, kData);
    access.store(kCompanion, l.sub(wanted, change));
    return;
  }
  }
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

void ApplyEmitter::update() const {
  if (config.isInteger())
    return updateInteger();
  if (config.isHalf())
    return updateHalf();
  Value theta = access.load(kData, config.element);
  access.store(kData, applyRule(theta, sum()));
}

void ApplyEmitter::perturb() const {
  Value eps = sum();
  if (config.rank)
    eps = l.mul(eps, l.real(float(1.0 / std::sqrt(double(config.rank)))));
  if (config.isInteger()) {
    Value theta = access.load(kData, config.element);
    Value change = l.mul(row(kScale, l.f32()), eps);
    Value size = l.floor(l.add(l.abs(change), l.real(0.5)));
    Value negative = l.cmp(arith::CmpFPredicate::OLT, change, l.real(0.0));
    return storeInteger(l.select(negative, l.neg(size), size), theta, kOut);
  }
  if (config.isHalf()) {
    Value sigma = row(kScale, l.f32());
    Value value = l.fma(sigma, eps, loadHalf(kData));
    return storeHalf(roundToNearest(l, config.element, value), kOut);
  }
  Value theta = access.load(kData, config.element);
  Value sigma = row(kScale, config.element);
  if (config.element != l.f32())
    eps = arith::ExtFOp::create(l.b, l.of(config.element), eps);
  access.store(kOut, l.fma(sigma, eps, theta));
}

void mlir::es::kernel::emitApply(const Lanes &l, const Config &config,
                                 Access &access) {
  ApplyEmitter emitter{l, config, access};
  if (config.kind == Config::Perturb)
    emitter.perturb();
  else
    emitter.update();
}
