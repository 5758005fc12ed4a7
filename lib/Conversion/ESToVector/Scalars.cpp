//===- Scalars.cpp - Scalars of an update, and its kernel
//---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"
#include "Shaping.h"
#include "es/Reference/NoiseVersion1.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include <cmath>

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// s S: computed in f64, rounded once, 0 if no member counts.
Value UpdateScalars::getScale(double sigma, bool lowRank) {
  Value unit = op.getUnit(), n = s.toFloat(op.getMembers(), s.f64()), scale;
  if (op.getOrder() == SumOrder::exact && op.getNoise() == NoiseKind::int8) {
    double one = noise::kInt8Scale;
    unit = s.mul(unit, real(lowRank ? one * one : one));
  }
  if (lowRank)
    unit = s.div(unit, real(std::sqrt(double(op.getRank()))));
  switch (op.getScale()) {
  case ScaleKind::exact:
    scale = s.div(unit, s.mul(n, real(sigma)));
    break;
  case ScaleKind::mean:
    scale = s.div(unit, n);
    break;
  case ScaleKind::root:
    scale = s.div(s.mul(unit, real(sigma)), s.sqrt(n));
    break;
  }
  Value none =
      s.cmp(arith::CmpIPredicate::eq, op.getMembers(), i64Constant(b, 0));
  scale = s.select(none, s.real(0.0), toF32(scale));
  return op.getDirection() == Direction::maximize ? scale : s.neg(scale);
}

/// 1 / (1 - beta^step), by squaring.
Value UpdateScalars::getCorrection(double beta) {
  Value power =
      fold(b, i64Constant(b, 0), i64Constant(b, 63),
           {real(1.0), real(beta), op.getStep()}, [&](Value, ValueRange v) {
             Value one = i64Constant(b, 1);
             Value odd =
                 s.cmp(arith::CmpIPredicate::eq, s.band(v[2], one), one);
             return SmallVector<Value>{s.select(odd, s.mul(v[0], v[1]), v[0]),
                                       s.mul(v[1], v[1]), s.shr(v[2], 1)};
           })[0];
  return toF32(s.div(real(1.0), s.sub(real(1.0), power)));
}

/// tau standard deviations of the sum of an integer parameter.
Value UpdateScalars::getThreshold(bool lowRank) {
  Value squares = fold(
      b, i64Constant(b, 0), pairs, real(0.0), [&](Value pair, ValueRange sum) {
        Value c = arith::ExtFOp::create(b, s.f64(), coefficientAt(pair));
        return SmallVector<Value>{s.add(sum[0], s.mul(c, c))};
      })[0];
  double variance = 1.0;
  if (op.getNoise() == NoiseKind::int8) {
    double table = 65122.0 / 256.0;
    double unit = op.getOrder() == SumOrder::exact ? table : table / 256.0;
    variance = lowRank ? unit * unit : unit;
  }
  if (lowRank)
    variance = variance * double(op.getRank());
  Value deviation = s.sqrt(s.mul(real(variance), squares));
  return toF32(s.mul(real(op.getTau().convertToDouble()), deviation));
}

Value UpdateScalars::anyCoefficient() {
  return fold(b, i64Constant(b, 0), pairs, s.whole(0, 1),
              [&](Value pair, ValueRange any) {
                Value counts = s.cmp(arith::CmpFPredicate::UNE,
                                     coefficientAt(pair), s.real(0.0));
                return SmallVector<Value>{s.bor(any[0], counts)};
              })[0];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

FailureOr<Quantum> mlir::es::kernel::getQuantum(Operation *op, ParamAttr param,
                                                ShapedType type) {
  Quantum quantum;
  auto quantised = dyn_cast_if_present<quant::QuantizedType>(param.getStored());
  if (!quantised)
    return quantum;
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(quantised)) {
    quantum.scale = uniform.getScale();
    return quantum;
  }
  auto axes = dyn_cast<quant::UniformQuantizedPerAxisType>(quantised);
  if (!axes) {
    return op->emitOpError()
           << "cannot be lowered: parameter " << param.getName()
           << " has a scale for each block, " << quantised;
  }
  quantum.axis = axes.getQuantizedDimension();
  for (double scale : axes.getScales())
    quantum.scales.push_back(float(scale));
  quantum.stride = 1;
  for (int64_t size : type.getShape().drop_front(*quantum.axis + 1)) {
    if (ShapedType::isDynamic(size))
      return op->emitOpError()
             << "cannot be lowered: parameter " << param.getName()
             << " has a scale for each index of an axis and "
                "a dynamic size behind it";
    quantum.stride *= size;
  }
  return quantum;
}

Config mlir::es::kernel::makeConfig(UpdateOp op) {
  Config config;
  config.kind = Config::Update;
  config.noise = op.getNoise();
  config.order = op.getOrder();
  config.chunk = op.getChunk().value_or(1);
  config.accumulator = op.getAccumulator();
  config.optimizer = op.getOptimizer();
  config.decay = op.getDecay();
  config.rounding = op.getRounding();
  config.fixed = op.getFixed();
  config.maximize = op.getDirection() == Direction::maximize;
  config.beta1 = op.getBeta1().convertToDouble();
  config.beta2 = op.getBeta2().convertToDouble();
  config.epsilon = op.getEpsilon().convertToDouble();
  config.weightDecay = op.getWeightDecay().convertToDouble();
  return config;
}
