//===- ExpandOptimizer.cpp - Updates as executable IR ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One pass over each parameter, its gradient and its states, in place, computed
// in the widest type among them.
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::es;

namespace {
/// The update of one element.
class ElementUpdate {
public:
  ElementUpdate(OpBuilder &builder, OptimizerStepOp op, Type wide)
      : b(builder), op(op), loc(op.getLoc()), wide(wide) {}

  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(wide, value));
  }
  Value convert(Value value, Type to) {
    unsigned from = value.getType().getIntOrFloatBitWidth();
    if (value.getType() == to)
      return value;
    if (from < to.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, loc, to, value);
    return arith::TruncFOp::create(b, loc, to, value);
  }
  Value mul(Value a, Value c) { return arith::MulFOp::create(b, loc, a, c); }
  Value add(Value a, Value c) { return arith::AddFOp::create(b, loc, a, c); }
  Value sub(Value a, Value c) { return arith::SubFOp::create(b, loc, a, c); }
  Value div(Value a, Value c) { return arith::DivFOp::create(b, loc, a, c); }
  /// decay * old + (1 - decay) * value.
  Value average(double decay, Value old, Value value) {
    return add(mul(number(decay), old), mul(number(1 - decay), value));
  }
  Value sign(Value value) {
    Value zero = number(0);
    auto test = [&](arith::CmpFPredicate predicate) {
      return arith::CmpFOp::create(b, loc, predicate, value, zero).getResult();
    };
    Value negative = arith::SelectOp::create(
        b, loc, test(arith::CmpFPredicate::OLT), number(-1), zero);
    return arith::SelectOp::create(b, loc, test(arith::CmpFPredicate::OGT),
                                   number(1), negative);
  }

  /// The new parameter; new states replace those given.
  Value compute(Value gradient, Value parameter, MutableArrayRef<Value> states,
                ArrayRef<Value> corrections);

private:
  OpBuilder &b;
  OptimizerStepOp op;
  Location loc;
  Type wide;
};
} // namespace

Value ElementUpdate::compute(Value g, Value p, MutableArrayRef<Value> states,
                             ArrayRef<Value> corrections) {
  double lr = op.getLr().convertToDouble(),
         beta1 = op.getBeta1().convertToDouble(),
         beta2 = op.getBeta2().convertToDouble(),
         decay = op.getWeightDecay().convertToDouble();
  if (op.getDecay() == DecayKind::coupled)
    g = add(g, mul(number(decay), p));
  if (op.getDecay() == DecayKind::decoupled)
    p = sub(p, mul(number(lr * decay), p));
  switch (op.getKind()) {
  case OptimizerKind::sgd:
    return sub(p, mul(number(lr), g));
  case OptimizerKind::momentum:
    states[0] = add(mul(number(beta1), states[0]), g);
    return sub(p, mul(number(lr), states[0]));
  case OptimizerKind::lion: {
    Value direction = sign(average(beta1, states[0], g));
    states[0] = average(beta2, states[0], g);
    return sub(p, mul(number(lr), direction));
  }
  default: {
    states[0] = average(beta1, states[0], g);
    states[1] = average(beta2, states[1], mul(g, g));
    Value mean = div(states[0], corrections[0]);
    Value root = math::SqrtOp::create(b, loc, div(states[1], corrections[1]));
    Value bottom = add(root, number(op.getEpsilon().convertToDouble()));
    return sub(p, mul(number(lr), div(mean, bottom)));
  }
  }
}

/// 1 - beta^t.
static Value createCorrection(OpBuilder &builder, Location loc, double beta,
                              Value step, Type type) {
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  };
  Value count = arith::SIToFPOp::create(builder, loc, type, step);
  Value power = math::PowFOp::create(builder, loc, number(beta), count);
  return arith::SubFOp::create(builder, loc, number(1), power);
}

LogicalResult mlir::es::expandOptimizerStep(OpBuilder &builder,
                                            OptimizerStepOp op) {
  Location loc = op.getLoc();
  if (op.getKind() == OptimizerKind::adafactor ||
      op.getKind() == OptimizerKind::adamw8bit)
    return op.emitError() << "has no expansion: '"
                          << stringifyOptimizerKind(op.getKind()) << "'";
  unsigned count = op.getParameters().size();
  unsigned perParameter = op.getStates().size() / count;
  for (unsigned i = 0; i < count; ++i) {
    auto type = dyn_cast<RankedTensorType>(op.getParameters()[i].getType());
    if (!type)
      return op.emitError("has no expansion: a parameter that is no tensor");
    SmallVector<Value> outputs = {op.getParameters()[i]};
    for (unsigned j = 0; j < perParameter; ++j)
      outputs.push_back(op.getStates()[i * perParameter + j]);
    Type wide = builder.getF32Type();
    for (Value value : outputs) {
      Type element = getElementTypeOrSelf(value);
      if (element.getIntOrFloatBitWidth() > wide.getIntOrFloatBitWidth())
        wide = element;
    }
    SmallVector<Value> corrections;
    if (readsStep(op.getKind()))
      for (double beta :
           {op.getBeta1().convertToDouble(), op.getBeta2().convertToDouble()})
        corrections.push_back(
            createCorrection(builder, loc, beta, op.getStep(), wide));
    bool hasMaster = op.getMasterWeights();
    SmallVector<Value> updated = createElementwise(
        builder, loc, op.getGradients()[i], outputs,
        [&](OpBuilder &b, ValueRange arguments) {
          ElementUpdate update(b, op, wide);
          SmallVector<Value> values;
          for (Value argument : arguments)
            values.push_back(update.convert(argument, wide));
          Value parameter = hasMaster ? values.back() : values[1];
          MutableArrayRef<Value> states =
              MutableArrayRef<Value>(values).drop_front(2);
          Value next =
              update.compute(values[0], parameter, states, corrections);
          if (hasMaster)
            states.back() = next;
          SmallVector<Value> results = {
              update.convert(next, arguments[1].getType())};
          for (auto [state, argument] :
               llvm::zip(states, arguments.drop_front(2)))
            results.push_back(update.convert(state, argument.getType()));
          return results;
        });
    op.getUpdated()[i].replaceAllUsesWith(updated[0]);
    for (unsigned j = 0; j < perParameter; ++j)
      op.getUpdated()[count + i * perParameter + j].replaceAllUsesWith(
          updated[1 + j]);
  }
  op.erase();
  return success();
}
