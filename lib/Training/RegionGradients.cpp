//===- RegionGradients.cpp - Gradients of loops and branches --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a loop is a loop that runs backwards. It carries the
// cotangents of the values that the forward loop carries, and the sums of the
// gradients of what the forward body reads from outside. The gradient of a
// branch is a branch on the same condition.
//
//===----------------------------------------------------------------------===//

#include "LoopStacks.h"
#include "ReverseSweep.h"

#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Activity
//===----------------------------------------------------------------------===//

/// The float values from outside that a gradient flows to.
SmallVector<Value> ReverseSweep::getCaptured(Operation *op) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  SmallVector<Value> result;
  for (Value value : captured)
    if (isActive(value) && carriesGradient(value.getType()))
      result.push_back(value);
  return result;
}

bool ReverseSweep::isRegionActive(Operation *op) {
  return llvm::any_of(op->getResults(),
                      [&](Value result) { return isActive(result); });
}

/// Of ops whose regions hand on values in ways of their own: all that comes out
/// depends on all that goes in, so that the sweep back meets the op and says
/// that it has no gradient for it.
void ReverseSweep::findActiveInUnknown(Operation *op) {
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  if (llvm::none_of(read, [&](Value value) { return isActive(value); }))
    return;
  for (Value result : op->getResults())
    if (carriesGradient(result.getType()))
      active.insert(result);
}

/// What a loop carries is active if it is so in any iteration.
void ReverseSweep::findActiveInside(Operation *op) {
  auto activate = [&](Value from, Value to) {
    return isActive(from) && carriesGradient(to.getType()) &&
           active.insert(to).second;
  };
  std::optional<CarryingLoop> loop = getCarryingLoop(op);
  if (!loop && !isBranchOp(op))
    return findActiveInUnknown(op);
  bool changed = true;
  while (changed) {
    changed = false;
    if (loop)
      for (unsigned i = 0, e = loop->size(); i < e; ++i)
        activate(loop->getInit(i).get(), loop->getArgument(i));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        findActive(block);
    if (!loop)
      break;
    for (unsigned i = 0, e = loop->size(); i < e; ++i)
      changed |= activate(loop->getYield(i).get(), loop->getArgument(i));
  }
  for (OpResult result : op->getResults()) {
    unsigned index = result.getResultNumber();
    if (loop) {
      activate(loop->getArgument(index), result);
      activate(loop->getYield(index).get(), result);
      continue;
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.empty() && index < block.back().getNumOperands())
          activate(block.back().getOperand(index), result);
  }
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

Value ReverseSweep::zero(Location loc, Type type) {
  return SplatOp::create(builder, loc, type, builder.getF64FloatAttr(0.0));
}

/// Differentiates the innermost region at the insertion point; the gradients of
/// what it captures.
FailureOr<SmallVector<Value>>
ReverseSweep::visitRegion(Region &region, ArrayRef<Value> captured) {
  if (!region.hasOneBlock())
    return region.getParentOp()->emitError()
           << "cannot be differentiated: '" << region.getParentOp()->getName()
           << "' with branches between blocks";
  if (failed(run(region.front(), [](Operation *) {})))
    return failure();
  SmallVector<Value> gradients;
  for (Value value : captured)
    gradients.push_back(getCotangent(value));
  return gradients;
}

/// Whether a slice for each iteration can be kept of all that the body
/// computes.
static LogicalResult checkStackable(OpBuilder &builder,
                                    const CarryingLoop &loop) {
  for (Operation &op : loop.body->front())
    for (Value value : op.getResults())
      if (!getStackableType(builder, value.getType()))
        return op.emitError()
               << "cannot be differentiated: the rank of '" << op.getName()
               << "' in '" << loop.op->getName()
               << "' is not known, so that its values cannot be counted";
  return success();
}

LogicalResult ReverseSweep::visitLoop(CarryingLoop loop) {
  Location loc = loop.op->getLoc();
  repeatedHere.clear();
  if (failed(checkStackable(builder, loop)))
    return failure();
  if (!loop.trips) {
    InFlightDiagnostic error =
        loop.op->emitError()
        << "cannot be differentiated: the trip count of '" << loop.op->getName()
        << "' is not a constant; "
        << (loop.bound ? "bind what it depends on"
                       : "the loop ends by what it computes: write one that "
                         "counts up to a constant")
        << ", so that the values to keep for each iteration can be counted";
    if (loop.bound)
      error.attachNote(loop.bound.getLoc())
          << "the loop runs up to this value: a dynamic trip count";
    return error;
  }
  SmallVector<unsigned> carried;
  SmallVector<Value> captured = getCaptured(loop.op), inits;
  for (unsigned i = 0, e = loop.size(); i < e; ++i)
    if (isActive(loop.getArgument(i)))
      carried.push_back(i);
  for (unsigned i : carried) {
    Value cotangent = getCotangent(loop.op->getResult(i));
    inits.push_back(cotangent ? cotangent
                              : zero(loc, loop.getArgument(i).getType()));
  }
  for (Value value : captured)
    inits.push_back(zero(loc, value.getType()));
  Value first = arith::ConstantIndexOp::create(builder, loc, 0);
  Value last = arith::ConstantIndexOp::create(builder, loc, *loop.trips);
  Value step = arith::ConstantIndexOp::create(builder, loc, 1);
  auto reverse = scf::ForOp::create(builder, loc, first, last, step, inits);
  OpBuilder::InsertionGuard guard(builder);
  if (inits.empty())
    reverse.getBody()->getTerminator()->erase();
  builder.setInsertionPointToStart(reverse.getBody());
  Value most = arith::ConstantIndexOp::create(builder, loc, *loop.trips - 1);
  Scope &scope = scopes.emplace_back();
  scope.forward = &loop.body->front();
  scope.backward = reverse;
  scope.loop = loop;
  scope.iteration =
      arith::SubIOp::create(builder, loc, most, reverse.getInductionVar());
  for (auto [index, i] : llvm::enumerate(carried))
    addCotangent(loc, loop.getYield(i).get(), reverse.getRegionIterArg(index));
  FailureOr<SmallVector<Value>> gradients = visitRegion(*loop.body, captured);
  if (failed(gradients))
    return failure();
  SmallVector<Value> yields;
  for (unsigned i : carried) {
    Value cotangent = getCotangent(loop.getArgument(i));
    yields.push_back(cotangent ? cotangent
                               : zero(loc, loop.getArgument(i).getType()));
  }
  for (auto [index, gradient] : llvm::enumerate(*gradients)) {
    Value sum = reverse.getRegionIterArg(carried.size() + index);
    if (gradient)
      sum = AccumulateOp::create(builder, loc, sum, gradient);
    yields.push_back(sum);
  }
  scf::YieldOp::create(builder, loc, yields);
  repeatedHere.clear();
  Scope done = scopes.pop_back_val();
  builder.setInsertionPointAfter(reverse);
  for (auto [index, i] : llvm::enumerate(carried))
    if (isActive(loop.getInit(i).get()))
      addCotangent(loc, loop.getInit(i).get(), reverse.getResult(index));
  for (auto [index, value] : llvm::enumerate(captured))
    if ((*gradients)[index])
      addCotangent(loc, value, reverse.getResult(carried.size() + index));
  recreateLoop(loop, done);
  return success();
}

/// A branch on what `op` branches on, with regions to be filled.
static Operation *createBranch(OpBuilder &builder, Operation *op,
                               Value condition, TypeRange types) {
  Location loc = op->getLoc();
  if (!condition)
    return scf::ExecuteRegionOp::create(builder, loc, types);
  if (isa<RankedTensorType>(condition.getType()))
    condition =
        tensor::ExtractOp::create(builder, loc, condition, ValueRange());
  if (!condition.getType().isIntOrIndex() && op->getNumRegions() == 2)
    condition = castTo(builder, loc, builder.getI1Type(), condition);
  if (condition.getType().isInteger(1)) {
    auto branch = scf::IfOp::create(builder, loc, types, condition,
                                    /*addThenBlock=*/false,
                                    /*addElseBlock=*/false);
    return branch;
  }
  if (!condition.getType().isIndex())
    condition = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                           condition);
  // The last branch of other ops is taken for all further numbers too.
  SmallVector<int64_t> cases;
  if (auto chosen = dyn_cast<scf::IndexSwitchOp>(op))
    cases.assign(chosen.getCases().begin(), chosen.getCases().end());
  else
    llvm::append_range(cases, llvm::seq<int64_t>(0, op->getNumRegions() - 1));
  return scf::IndexSwitchOp::create(builder, loc, types, condition, cases,
                                    cases.size());
}

/// Where the gradient of a region of `op` goes. The first region of an
/// scf.index_switch is what happens in no other case.
static Region &getReverse(Operation *reverse, Operation *op, unsigned branch) {
  if (!isa<scf::IndexSwitchOp>(reverse) || isa<scf::IndexSwitchOp>(op))
    return reverse->getRegion(branch);
  return reverse->getRegion((branch + 1) % reverse->getNumRegions());
}

LogicalResult ReverseSweep::visitBranch(Operation *op) {
  Location loc = op->getLoc();
  repeatedHere.clear();
  // The number or truth value that the forward op branches on, if any.
  if (op->getNumOperands() > 1)
    return op->emitError() << "cannot be differentiated: '" << op->getName()
                           << "' hands values to its branches as operands";
  SmallVector<Value> captured = getCaptured(op);
  SmallVector<Type> types;
  for (Value value : captured)
    types.push_back(value.getType());
  Value condition = op->getNumOperands() ? keep(op->getOperand(0)) : Value();
  Operation *reverse = createBranch(builder, op, condition, types);
  SmallVector<Scope, 2> branches;
  SmallVector<bool> reached(captured.size(), false);
  for (auto [branch, region] : llvm::enumerate(op->getRegions())) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&getReverse(reverse, op, branch));
    SmallVector<Value> arrived;
    for (Value result : op->getResults())
      arrived.push_back(getCotangent(result));
    Scope &scope = scopes.emplace_back();
    scope.forward = &region.front();
    scope.backward = reverse;
    for (auto [index, cotangent] : llvm::enumerate(arrived))
      if (cotangent)
        addCotangent(loc, region.front().getTerminator()->getOperand(index),
                     cotangent);
    FailureOr<SmallVector<Value>> gradients = visitRegion(region, captured);
    if (failed(gradients))
      return failure();
    for (auto [index, gradient] : llvm::enumerate(*gradients)) {
      reached[index] |= gradient != nullptr;
      if (!gradient)
        gradient = zero(loc, captured[index].getType());
    }
    builder.setInsertionPointToEnd(block);
    scf::YieldOp::create(builder, loc, *gradients);
    branches.push_back(scopes.pop_back_val());
    repeatedHere.clear();
  }
  builder.setInsertionPointAfter(reverse);
  for (auto [index, value] : llvm::enumerate(captured))
    if (reached[index])
      addCotangent(loc, value, reverse->getResult(index));
  recreateBranch(op, branches);
  return success();
}
