//===- ScalarAdjoints.cpp - Derivatives of scalar programs ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reverse mode over a handful of ops. What a derivative reads is computed again
// from what is provided.
//
//===----------------------------------------------------------------------===//

#include "ScalarAdjoints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::es;

Value ScalarAdjoint::fail(Operation *op, StringRef why) {
  if (!failed)
    op->emitError() << "has no expansion of its gradient: '" << op->getName()
                    << "' " << why;
  failed = true;
  return nullptr;
}

Value ScalarAdjoint::constant(Type type, double number) {
  return arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                   builder.getFloatAttr(type, number));
}

void ScalarAdjoint::provideCotangent(unsigned index, Value value) {
  cotangents.push_back({body.getTerminator()->getOperand(index), value});
}

/// A scalar of the body, here. Bodies are a few ops long.
Value ScalarAdjoint::get(Value scalar) {
  if (auto it = known.find(scalar); it != known.end())
    return it->second;
  Operation *op = scalar.getDefiningOp();
  if (scalar.getParentBlock() != &body)
    return scalar;
  if (!op)
    return fail(body.getParentOp(), "reads a value that is not kept");
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value here = get(operand);
    if (!here)
      return nullptr;
    mapping.map(operand, here);
  }
  Operation *copy = builder.clone(*op, mapping);
  Value value = copy->getResult(cast<OpResult>(scalar).getResultNumber());
  known[scalar] = value;
  return value;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {
/// Arithmetic that reads like the maths.
struct Maths {
  OpBuilder &builder;
  Location loc;
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value div(Value a, Value b) {
    return arith::DivFOp::create(builder, loc, a, b);
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value neg(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value number(Type type, double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  }
  Value select(arith::CmpFPredicate predicate, Value a, Value b, Value yes,
               Value no) {
    Value test = arith::CmpFOp::create(builder, loc, predicate, a, b);
    return arith::SelectOp::create(builder, loc, test, yes, no);
  }
};
} // namespace

/// Functions of one number: the cotangent times the derivative, from the result
/// where that is cheaper.
Value ScalarAdjoint::differentiateUnary(Operation *op, Value ct) {
  Maths m{builder, op->getLoc()};
  Type type = ct.getType();
  auto x = [&] { return get(op->getOperand(0)); };
  auto y = [&] { return get(op->getResult(0)); };
  auto n = [&](double value) { return m.number(type, value); };
  auto rootOf = [&](Value value) -> Value {
    return math::SqrtOp::create(builder, op->getLoc(), value);
  };
  bool readsResult =
      isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::TanhOp, math::SqrtOp,
          math::RsqrtOp, math::CbrtOp, math::TanOp>(op);
  Value read = readsResult ? y() : x();
  if (!read)
    return nullptr;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<math::ExpOp>([&](auto) { return m.mul(ct, read); })
      .Case<math::Exp2Op>(
          [&](auto) { return m.mul(m.mul(ct, read), n(M_LN2)); })
      .Case<math::ExpM1Op>([&](auto) { return m.mul(ct, m.add(read, n(1))); })
      .Case<math::TanhOp>(
          [&](auto) { return m.mul(ct, m.sub(n(1), m.mul(read, read))); })
      .Case<math::SqrtOp>([&](auto) { return m.div(m.mul(ct, n(0.5)), read); })
      .Case<math::RsqrtOp>([&](auto) {
        return m.mul(m.mul(ct, n(-0.5)), m.mul(read, m.mul(read, read)));
      })
      .Case<math::CbrtOp>(
          [&](auto) { return m.div(ct, m.mul(n(3), m.mul(read, read))); })
      .Case<math::TanOp>(
          [&](auto) { return m.mul(ct, m.add(n(1), m.mul(read, read))); })
      .Case<math::LogOp>([&](auto) { return m.div(ct, read); })
      .Case<math::Log2Op>(
          [&](auto) { return m.div(ct, m.mul(read, n(M_LN2))); })
      .Case<math::Log10Op>(
          [&](auto) { return m.div(ct, m.mul(read, n(M_LN10))); })
      .Case<math::Log1pOp>([&](auto) { return m.div(ct, m.add(read, n(1))); })
      .Case<math::SinOp>([&](auto) -> Value {
        return m.mul(ct, math::CosOp::create(builder, op->getLoc(), read));
      })
      .Case<math::CosOp>([&](auto) -> Value {
        return m.neg(
            m.mul(ct, math::SinOp::create(builder, op->getLoc(), read)));
      })
      .Case<math::SinhOp>([&](auto) -> Value {
        return m.mul(ct, math::CoshOp::create(builder, op->getLoc(), read));
      })
      .Case<math::CoshOp>([&](auto) -> Value {
        return m.mul(ct, math::SinhOp::create(builder, op->getLoc(), read));
      })
      .Case<math::AsinOp>([&](auto) {
        return m.div(ct, rootOf(m.sub(n(1), m.mul(read, read))));
      })
      .Case<math::AcosOp>([&](auto) {
        return m.neg(m.div(ct, rootOf(m.sub(n(1), m.mul(read, read)))));
      })
      .Case<math::AtanOp>(
          [&](auto) { return m.div(ct, m.add(n(1), m.mul(read, read))); })
      .Case<math::AsinhOp>([&](auto) {
        return m.div(ct, rootOf(m.add(m.mul(read, read), n(1))));
      })
      .Case<math::AcoshOp>([&](auto) {
        return m.div(ct, rootOf(m.sub(m.mul(read, read), n(1))));
      })
      .Case<math::AtanhOp>(
          [&](auto) { return m.div(ct, m.sub(n(1), m.mul(read, read))); })
      .Case<math::AbsFOp>([&](auto) {
        return m.select(arith::CmpFPredicate::OLT, read, n(0), m.neg(ct), ct);
      })
      .Case<math::ErfOp, math::ErfcOp>([&](Operation *) -> Value {
        Value bell = math::ExpOp::create(builder, op->getLoc(),
                                         m.neg(m.mul(read, read)));
        double scale = isa<math::ErfOp>(op) ? M_2_SQRTPI : -M_2_SQRTPI;
        return m.mul(ct, m.mul(n(scale), bell));
      })
      .Default([&](Operation *) { return fail(op, "is not known"); });
}

/// The larger or smaller of two: whoever won. Over a reduction the elements
/// that equal the result did; beside a number the result tells.
Value ScalarAdjoint::differentiateExtreme(Operation *op, unsigned operand,
                                          Value ct) {
  Maths m{builder, op->getLoc()};
  Value zero = m.number(ct.getType(), 0);
  bool isMaximum = isa<arith::MaximumFOp, arith::MaxNumFOp>(op);
  Value own = op->getOperand(operand), other = op->getOperand(1 - operand);
  bool isYielded = known.contains(op->getResult(0));
  if (isReduction && isYielded) {
    Value element = get(own);
    return element ? m.select(arith::CmpFPredicate::OEQ, element,
                              get(op->getResult(0)), ct, zero)
                   : nullptr;
  }
  // The own value, or, where only the result was kept, that.
  Value mine =
      isYielded && !known.contains(own) ? get(op->getResult(0)) : get(own);
  Value bound = get(other);
  if (!mine || !bound)
    return nullptr;
  // Of two equal ones the first wins, and where only the result is known, none.
  bool winsTies = operand == 0 && known.contains(own);
  arith::CmpFPredicate predicate =
      isMaximum
          ? (winsTies ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OGT)
          : (winsTies ? arith::CmpFPredicate::OLE : arith::CmpFPredicate::OLT);
  return m.select(predicate, mine, bound, ct, zero);
}

Value ScalarAdjoint::differentiate(Operation *op, unsigned operand, Value ct) {
  Maths m{builder, op->getLoc()};
  auto value = [&](unsigned i) { return get(op->getOperand(i)); };
  if (isa<arith::AddFOp>(op))
    return ct;
  if (isa<arith::SubFOp>(op))
    return operand == 0 ? ct : m.neg(ct);
  if (isa<arith::NegFOp>(op))
    return m.neg(ct);
  if (isa<arith::ExtFOp>(op))
    return arith::TruncFOp::create(builder, op->getLoc(),
                                   op->getOperand(0).getType(), ct);
  if (isa<arith::TruncFOp>(op))
    return arith::ExtFOp::create(builder, op->getLoc(),
                                 op->getOperand(0).getType(), ct);
  if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
          arith::MinNumFOp>(op))
    return differentiateExtreme(op, operand, ct);
  if (op->getNumOperands() == 1)
    return differentiateUnary(op, ct);
  if (isa<arith::MulFOp>(op)) {
    Value other = value(1 - operand);
    return other ? m.mul(ct, other) : nullptr;
  }
  if (isa<arith::DivFOp>(op)) {
    // y = a / b: dy/da = 1/b, dy/db = -y/b = -y^2/a.
    Value result = operand == 1 ? get(op->getResult(0)) : Value();
    if (operand == 1 && known.contains(op->getResult(0)) &&
        op->getOperand(0).getDefiningOp<arith::ConstantOp>() && result)
      return m.neg(m.div(m.mul(ct, m.mul(result, result)), value(0)));
    Value divisor = value(1);
    if (!divisor)
      return nullptr;
    Value quotient = m.div(ct, divisor);
    if (operand == 0)
      return quotient;
    return result ? m.neg(m.mul(quotient, result)) : nullptr;
  }
  if (isa<math::FmaOp>(op)) {
    if (operand == 2)
      return ct;
    Value other = value(1 - operand);
    return other ? m.mul(ct, other) : nullptr;
  }
  if (isa<arith::SelectOp>(op)) {
    Value condition = value(0);
    if (!condition)
      return nullptr;
    Value zero = m.number(ct.getType(), 0);
    return arith::SelectOp::create(builder, op->getLoc(), condition,
                                   operand == 1 ? ct : zero,
                                   operand == 1 ? zero : ct);
  }
  if (isa<math::PowFOp>(op)) {
    Value base = value(0), exponent = value(1);
    if (!base || !exponent)
      return nullptr;
    if (operand == 1) {
      Value log = math::LogOp::create(builder, op->getLoc(), base);
      Value power = get(op->getResult(0));
      return power ? m.mul(ct, m.mul(power, log)) : nullptr;
    }
    Value less = m.sub(exponent, m.number(ct.getType(), 1));
    Value power = math::PowFOp::create(builder, op->getLoc(), base, less);
    return m.mul(ct, m.mul(exponent, power));
  }
  if (isa<math::Atan2Op>(op)) {
    Value y = value(0), x = value(1);
    if (!y || !x)
      return nullptr;
    Value square = m.add(m.mul(x, x), m.mul(y, y));
    Value scaled = m.div(ct, square);
    return operand == 0 ? m.mul(scaled, x) : m.neg(m.mul(scaled, y));
  }
  return fail(op, "is not known");
}

Value ScalarAdjoint::compute(BlockArgument argument) {
  llvm::DenseSet<Value> depends = {argument};
  for (Operation &op : body.without_terminator())
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return depends.contains(operand); }))
      depends.insert(op.result_begin(), op.result_end());
  llvm::DenseMap<Value, Value> adjoints;
  auto add = [&](Value scalar, Value adjoint) {
    Value &sum = adjoints[scalar];
    sum = sum ? arith::AddFOp::create(builder, adjoint.getLoc(), sum, adjoint)
                    .getResult()
              : adjoint;
  };
  for (auto [scalar, cotangent] : cotangents)
    if (depends.contains(scalar))
      add(scalar, cotangent);
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    Value cotangent =
        op.getNumResults() == 1 ? adjoints.lookup(op.getResult(0)) : Value();
    if (!cotangent)
      continue;
    for (OpOperand &operand : op.getOpOperands()) {
      if (!depends.contains(operand.get()) ||
          !isa<FloatType>(operand.get().getType()))
        continue;
      Value adjoint = differentiate(&op, operand.getOperandNumber(), cotangent);
      if (!adjoint || failed)
        return nullptr;
      add(operand.get(), adjoint);
    }
  }
  Value result = adjoints.lookup(argument);
  return result ? result : constant(argument.getType(), 0);
}
