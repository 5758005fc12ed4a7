//===- ControlFlow.cpp - Loops and branches -------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `while` that counts becomes scf.for: only of such a loop is the trip count
// known, and with it what a gradient has to keep. What a loop passes on
// unchanged is read from outside instead of carried, so that it is not kept
// once for each iteration.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "es/OpModel/CountedLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::hlo;

/// Moves the ops of `from`, but for the terminator, to the end of `to`.
static Values moveBody(Block &from, Block &to) {
  Operation *terminator = &from.back();
  Values results(terminator->getOperands());
  terminator->erase();
  to.getOperations().splice(to.end(), from.getOperations());
  return results;
}

/// The carried values that the body hands on as they came.
static llvm::SmallBitVector findUnchanged(Operation *op) {
  Block &body = op->getRegion(1).front();
  llvm::SmallBitVector unchanged(op->getNumOperands());
  for (auto [i, value] : llvm::enumerate(body.back().getOperands()))
    if (value == body.getArgument(i))
      unchanged.set(i);
  return unchanged;
}

static FailureOr<Values> createFor(OpBuilder &builder, CarryingLoop loop) {
  Operation *op = loop.op;
  Location loc = op->getLoc();
  Block &body = loop.body->front();
  unsigned counter = loop.counter.getArgNumber();
  llvm::SmallBitVector unchanged = findUnchanged(op);
  Values inits;
  SmallVector<unsigned> carried;
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
    if (i != counter && !unchanged.test(i)) {
      carried.push_back(i);
      inits.push_back(op->getOperand(i));
    }
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  int64_t end = loop.lower + *loop.trips * loop.step;
  auto made = scf::ForOp::create(builder, loc, index(loop.lower), index(end),
                                 index(loop.step), inits);
  if (inits.empty())
    made.getBody()->getTerminator()->erase();
  OpBuilder inside = OpBuilder::atBlockBegin(made.getBody());
  auto counterType = cast<RankedTensorType>(loop.counter.getType());
  Value number = arith::IndexCastOp::create(
      inside, loc, counterType.getElementType(), made.getInductionVar());
  loop.counter.replaceAllUsesWith(
      tensor::FromElementsOp::create(inside, loc, counterType, number)
          .getResult());
  Values results(op->getNumResults());
  for (auto [at, i] : llvm::enumerate(carried)) {
    body.getArgument(i).replaceAllUsesWith(made.getRegionIterArg(at));
    results[i] = made.getResult(at);
  }
  for (unsigned i : unchanged.set_bits()) {
    body.getArgument(i).replaceAllUsesWith(op->getOperand(i));
    results[i] = op->getOperand(i);
  }
  results[counter] = createConstant(builder, loc, counterType, end);
  Values all = moveBody(body, *made.getBody()), yields;
  for (unsigned i : carried)
    yields.push_back(all[i]);
  inside.setInsertionPointToEnd(made.getBody());
  scf::YieldOp::create(inside, loc, yields);
  return results;
}

static FailureOr<Values> createWhile(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  auto made = scf::WhileOp::create(builder, loc, op->getResultTypes(),
                                   op->getOperands());
  SmallVector<Location> locations(op->getNumOperands(), loc);
  Values results[2];
  for (unsigned i = 0; i < 2; ++i) {
    Block *block = builder.createBlock(&made->getRegion(i), {},
                                       op->getOperandTypes(), locations);
    Block &from = op->getRegion(i).front();
    for (auto [old, argument] :
         llvm::zip(from.getArguments(), block->getArguments()))
      old.replaceAllUsesWith(argument);
    results[i] = moveBody(from, *block);
    builder.setInsertionPointToEnd(block);
    if (i == 0)
      scf::ConditionOp::create(builder, loc,
                               getScalar(builder, loc, results[0].front()),
                               block->getArguments());
    else
      scf::YieldOp::create(builder, loc, results[1]);
  }
  builder.setInsertionPointAfter(made);
  return Values(made.getResults());
}

static FailureOr<Values> createIf(OpBuilder &builder, Operation *op,
                                  Value condition) {
  Location loc = op->getLoc();
  auto made = scf::IfOp::create(builder, loc, op->getResultTypes(), condition,
                                /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (unsigned i = 0; i < 2; ++i) {
    Block &block = made->getRegion(i).front();
    if (!block.empty())
      block.getTerminator()->erase();
    Values results = moveBody(op->getRegion(i).front(), block);
    OpBuilder inside = OpBuilder::atBlockEnd(&block);
    scf::YieldOp::create(inside, loc, results);
  }
  return Values(made.getResults());
}

/// Of two branches the first is number 0, the second any other.
static FailureOr<Values> createCase(OpBuilder &builder, Operation *op) {
  if (op->getNumRegions() != 2)
    return emitNoLowering(op) << "with " << op->getNumRegions() << " branches";
  Location loc = op->getLoc();
  Value number = getScalar(builder, loc, op->getOperand(0));
  Value zero = createConstant(builder, loc, number.getType(), 0);
  return createIf(builder, op,
                  arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        number, zero));
}

Lowered hlo::lowerControlFlow(OpBuilder &builder, Operation *op) {
  StringRef name = op->getName().stripDialect();
  auto isOneBlock = [](Region &region) {
    return region.hasOneBlock() && !region.front().empty();
  };
  if (name == "composite") {
    // What it stands for is a function.
    auto callee = op->getAttrOfType<FlatSymbolRefAttr>("decomposition");
    if (!callee)
      return FailureOr<Values>(emitNoLowering(op) << "without decomposition");
    auto call = func::CallOp::create(builder, op->getLoc(), callee,
                                     op->getResultTypes(), op->getOperands());
    return FailureOr<Values>(Values(call.getResults()));
  }
  if (name != "while" && name != "if" && name != "case")
    return std::nullopt;
  if (!llvm::all_of(op->getRegions(), isOneBlock))
    return FailureOr<Values>(emitNoLowering(op)
                             << "with a region of another form");
  if (name == "while") {
    std::optional<CarryingLoop> loop = getCarryingLoop(op);
    if (loop && loop->trips)
      return createFor(builder, *loop);
    return createWhile(builder, op);
  }
  if (name == "case")
    return createCase(builder, op);
  return createIf(builder, op,
                  getScalar(builder, op->getLoc(), op->getOperand(0)));
}
