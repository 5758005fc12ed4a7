//===- Shaping.cpp - Lowering of es.shape_fitness -------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalar f64, in the order of members. Ranks compare all pairs of members: no
// memory, and ties come out exact.
//
//===----------------------------------------------------------------------===//

#include "Shaping.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;
using arith::CmpFPredicate;

Value mlir::es::kernel::getPointer(ImplicitLocOpBuilder &b, Value memref) {
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, memref);
  Value word = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  word);
}

Value mlir::es::kernel::getCount(ImplicitLocOpBuilder &b, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Value count = i64Constant(b, 1);
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Value size =
        type.isDynamicDim(i)
            ? Value(arith::IndexCastOp::create(
                  b, b.getI64Type(), memref::DimOp::create(b, memref, i)))
            : i64Constant(b, type.getDimSize(i));
    count = arith::MulIOp::create(b, count, size);
  }
  return count;
}

ValueRange mlir::es::kernel::fold(
    ImplicitLocOpBuilder &b, Value from, Value to, ValueRange initial,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(b, from, to, i64Constant(b, 1), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(b, next);
  return op.getResults();
}

namespace {
struct ShapingEmitter {
  ImplicitLocOpBuilder &b;
  ShapeFitnessOp op;
  Lanes s;
  Value fitness, count, zero, worst, members, mean, deviation;

  ShapingEmitter(ImplicitLocOpBuilder &b, ShapeFitnessOp op)
      : b(b), op(op), s(b, 1), fitness(getPointer(b, op.getFitness())),
        count(getCount(b, op.getFitness())), zero(i64Constant(b, 0)) {}

  Value real(double value) { return s.real(value, s.f64()); }
  Value flag(bool value) { return s.whole(value, 1); }
  Value read(Value member) {
    return arith::ExtFOp::create(b, s.f64(), s.load(s.f32(), fitness, member));
  }
  bool orders() {
    return op.getShaping() == Shaping::centered_rank ||
           op.getShaping() == Shaping::sign;
  }
  Value isBad(Value value);
  Value getValue(Value member);
  Value counts(Value member);
  Value forMembers(Value initial, llvm::function_ref<Value(Value, Value)> body);
  void stopOnBad();
  void findWorst();
  Value allEqual();
  Value getRank(Value value);
  Value getWeight(Value member);
  Value getSignOf(Value x, Value y);
  Value getCoefficient(Value pair);
  void prepare();
};
} // namespace

/// NaN, and infinities where they are no order.
Value ShapingEmitter::isBad(Value value) {
  if (orders())
    return s.cmp(CmpFPredicate::UNO, value, value);
  Value infinity = real(std::numeric_limits<double>::infinity());
  return s.cmp(CmpFPredicate::UEQ, s.abs(value), infinity);
}

Value ShapingEmitter::getValue(Value member) {
  Value value = read(member);
  return worst ? s.select(isBad(value), worst, value) : value;
}

Value ShapingEmitter::counts(Value member) {
  if (op.getNan() != NanPolicy::drop)
    return flag(true);
  Value bad = isBad(read(member));
  if (op.getAntithetic())
    bad = s.bor(bad, isBad(read(s.bxor(member, i64Constant(b, 1)))));
  return s.bxor(bad, flag(true));
}

/// Folds over the members that count.
Value ShapingEmitter::forMembers(Value initial,
                                 llvm::function_ref<Value(Value, Value)> body) {
  return fold(b, zero, count, initial, [&](Value member, ValueRange sums) {
    Value next = body(member, sums[0]);
    return SmallVector<Value>{s.select(counts(member), next, sums[0])};
  })[0];
}

void ShapingEmitter::stopOnBad() {
  Value good = forMembers(flag(true), [&](Value member, Value good) {
    return s.band(good, s.bxor(isBad(read(member)), flag(true)));
  });
  cf::AssertOp::create(b, good, "es.shape_fitness: a fitness is not a number");
}

void ShapingEmitter::findWorst() {
  CmpFPredicate worse = op.getDirection() == Direction::maximize
                            ? CmpFPredicate::OLT
                            : CmpFPredicate::OGT;
  worst = fold(b, zero, count, {flag(false), real(0.0)},
               [&](Value member, ValueRange found) {
                 Value value = read(member);
                 Value good = s.bxor(isBad(value), flag(true));
                 Value first = s.bxor(found[0], flag(true));
                 Value better = s.bor(first, s.cmp(worse, value, found[1]));
                 Value take = s.band(good, better);
                 return SmallVector<Value>{s.bor(found[0], good),
                                           s.select(take, value, found[1])};
               })[1];
}

Value ShapingEmitter::allEqual() {
  return fold(b, zero, count, {flag(false), real(0.0), flag(true)},
              [&](Value member, ValueRange state) {
                Value value = getValue(member), in = counts(member);
                Value differs =
                    s.band(s.band(in, state[0]),
                           s.cmp(CmpFPredicate::UNE, value, state[1]));
                return SmallVector<Value>{
                    s.bor(state[0], in), s.select(in, value, state[1]),
                    s.band(state[2], s.bxor(differs, flag(true)))};
              })[2];
}

/// Members that are worse less members that are better.
Value ShapingEmitter::getRank(Value value) {
  Value rank = forMembers(zero, [&](Value member, Value rank) {
    Value other = getValue(member);
    Value less = s.zext(s.cmp(CmpFPredicate::OLT, other, value), 64);
    Value more = s.zext(s.cmp(CmpFPredicate::OGT, other, value), 64);
    return s.sub(s.add(rank, less), more);
  });
  return s.toFloat(rank, s.f64());
}

Value ShapingEmitter::getSignOf(Value x, Value y) {
  Value below = s.select(s.cmp(CmpFPredicate::OLT, x, y), real(-1), real(0));
  return s.select(s.cmp(CmpFPredicate::OGT, x, y), real(1), below);
}

Value ShapingEmitter::getWeight(Value member) {
  Value value = getValue(member), weight = value;
  switch (op.getShaping()) {
  case Shaping::raw:
    break;
  case Shaping::zscore:
    weight = s.select(s.cmp(CmpFPredicate::OGT, deviation, real(0)),
                      s.div(s.sub(value, mean), deviation), real(0));
    break;
  case Shaping::sign:
    weight = getSignOf(getRank(value), real(0));
    break;
  case Shaping::centered_rank: {
    weight = getRank(value);
    if (op.getInteger())
      break;
    Value others = s.sub(members, i64Constant(b, 1));
    weight = s.div(weight, s.toFloat(s.shl(others, 1), s.f64()));
    break;
  }
  }
  return s.select(counts(member), weight, real(0));
}

Value ShapingEmitter::getCoefficient(Value pair) {
  if (!op.getAntithetic())
    return getWeight(pair);
  Value first = s.shl(pair, 1), second = s.add(first, i64Constant(b, 1));
  if (op.getShaping() == Shaping::sign)
    return s.select(counts(first), getSignOf(getValue(first), getValue(second)),
                    real(0));
  return s.sub(getWeight(first), getWeight(second));
}

/// What is computed once.
void ShapingEmitter::prepare() {
  if (op.getNan() == NanPolicy::error)
    stopOnBad();
  if (op.getNan() == NanPolicy::worst)
    findWorst();
  members = forMembers(
      zero, [&](Value, Value sum) { return s.add(sum, i64Constant(b, 1)); });
  if (op.getShaping() != Shaping::zscore)
    return;
  Value n = s.toFloat(members, s.f64());
  mean = s.div(forMembers(real(0),
                          [&](Value member, Value sum) {
                            return s.add(sum, getValue(member));
                          }),
               n);
  Value variance = forMembers(real(0), [&](Value member, Value sum) {
    Value d = s.sub(getValue(member), mean);
    return s.add(sum, s.mul(d, d));
  });
  deviation = s.sqrt(s.div(variance, n));
}

std::pair<Value, Value> mlir::es::kernel::emitShaping(ImplicitLocOpBuilder &b,
                                                      ShapeFitnessOp op) {
  ShapingEmitter emitter(b, op);
  Lanes &s = emitter.s;
  emitter.prepare();
  Value equal = emitter.allEqual();
  Value out = getPointer(b, op.getDestination());
  loop(b, emitter.zero, getCount(b, op.getDestination()), 1, [&](Value pair) {
    Value c = arith::TruncFOp::create(b, s.f32(), emitter.getCoefficient(pair));
    s.store(s.select(equal, s.real(0.0), c), out, pair);
  });
  Value unit = emitter.real(1.0);
  if (op.getInteger()) {
    Value others = s.sub(emitter.members, i64Constant(b, 1));
    Value some = s.cmp(arith::CmpIPredicate::sgt, others, emitter.zero);
    Value part = s.div(unit, s.toFloat(s.shl(others, 1), s.f64()));
    unit = s.select(some, part, unit);
  }
  return {emitter.members, unit};
}
