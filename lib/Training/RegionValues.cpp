//===- RegionValues.cpp - What loops and branches hand out ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The forward op hands out what its gradient reads, so it is made again with
// more results once all of that is known; until then an empty tensor behind it
// stands for each.
//
//===----------------------------------------------------------------------===//

#include "LoopStacks.h"
#include "ReverseSweep.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::es;

/// A value of the forward region of `scope`, inside its gradient.
Value ReverseSweep::saveInScope(Value value, unsigned index) {
  {
    Scope &scope = scopes[index];
    if (auto it = scope.savedIndex.find(value); it != scope.savedIndex.end())
      return scope.saved[it->second].inside;
  }
  Operation *forwardOp = scopes[index].forward->getParentOp();
  std::optional<CarryingLoop> loop = scopes[index].loop;
  Type type =
      loop ? getStackableType(builder, value.getType()) : value.getType();
  Type outsideType = loop ? Type(getStackType(*loop, type)) : type;
  // Behind the forward op, where the new result will be.
  OpBuilder outside(forwardOp->getContext());
  outside.setInsertionPointAfter(forwardOp);
  Value placeholder =
      outside
          .create(OperationState(value.getLoc(), "es.placeholder", {},
                                 {outsideType}))
          ->getResult(0);
  // Readers further in than this region's gradient find it at its beginning.
  OpBuilder::InsertionGuard guard(builder);
  Value kept;
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPoint(scopes[index].backward);
    kept = index > 1 ? keepIn(placeholder, index - 1) : placeholder;
  }
  Value inside = kept;
  if (loop) {
    builder.setInsertionPointAfterValue(scopes[index].iteration);
    inside =
        getSlice(builder, value.getLoc(), kept, scopes[index].iteration, type);
    inside = castTo(builder, value.getLoc(), value.getType(), inside);
  }
  Scope &scope = scopes[index];
  scope.savedIndex[value] = scope.saved.size();
  scope.saved.push_back({value, placeholder, inside});
  return inside;
}

/// The same op with the operands and results that `inits` add.
static Operation *recreate(Operation *op, ValueRange inits, TypeRange types) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addOperands(inits);
  state.addTypes(op->getResultTypes());
  state.addTypes(types);
  state.addAttributes(op->getAttrs());
  for (unsigned i = 0, e = op->getNumRegions(); i < e; ++i)
    state.addRegion();
  Operation *copy = builder.create(state);
  for (auto [to, from] : llvm::zip(copy->getRegions(), op->getRegions()))
    to.takeBody(from);
  for (unsigned i = 0, e = op->getNumResults(); i < e; ++i)
    op->getResult(i).replaceAllUsesWith(copy->getResult(i));
  return copy;
}

/// What stood for a result until its op was made again; regions further out may
/// have to keep it in their turn.
void ReverseSweep::replacePlaceholder(Value placeholder, Value by) {
  for (Scope &scope : scopes) {
    auto it = scope.savedIndex.find(placeholder);
    if (it == scope.savedIndex.end())
      continue;
    unsigned index = it->second;
    scope.savedIndex.erase(it);
    scope.savedIndex[by] = index;
    scope.saved[index].value = by;
  }
  placeholder.replaceAllUsesWith(by);
  placeholder.getDefiningOp()->erase();
}

void ReverseSweep::recreateLoop(CarryingLoop loop, Scope &scope) {
  if (scope.saved.empty())
    return;
  SmallVector<Value> inits;
  SmallVector<Type> types;
  OpBuilder outside(loop.op);
  for (Saved &saved : scope.saved) {
    auto type = cast<RankedTensorType>(saved.placeholder.getType());
    types.push_back(type);
    inits.push_back(tensor::EmptyOp::create(
        outside, saved.value.getLoc(), type.getShape(), type.getElementType()));
  }
  unsigned first = loop.op->getNumResults();
  Block &body = loop.body->front();
  OpBuilder inside = OpBuilder::atBlockBegin(&body);
  Value iteration = countIterations(inside, loop);
  SmallVector<Value> yields;
  for (Saved &saved : scope.saved) {
    Value stack =
        body.addArgument(saved.placeholder.getType(), saved.value.getLoc());
    // As soon as it is there, so that the value itself may die.
    if (saved.value.getDefiningOp())
      inside.setInsertionPointAfterValue(saved.value);
    else
      inside.setInsertionPointAfterValue(iteration);
    Location loc = saved.value.getLoc();
    Value slice =
        castTo(inside, loc, getStackableType(inside, saved.value.getType()),
               saved.value);
    yields.push_back(setSlice(inside, loc, slice, stack, iteration));
  }
  body.getTerminator()->insertOperands(body.getTerminator()->getNumOperands(),
                                       yields);
  // The condition of a `while`, which hands on what it gets.
  for (Region &region : loop.op->getRegions()) {
    if (&region == loop.body)
      continue;
    for (Saved &saved : scope.saved) {
      BlockArgument stack = region.front().addArgument(
          saved.placeholder.getType(), saved.value.getLoc());
      if (auto end = dyn_cast<scf::ConditionOp>(region.front().back()))
        end.getArgsMutable().append(stack);
    }
  }
  Operation *copy = recreate(loop.op, inits, types);
  for (auto [index, saved] : llvm::enumerate(scope.saved))
    replacePlaceholder(saved.placeholder, copy->getResult(first + index));
  replaced[loop.op] = copy;
}

/// A branch that does not compute the value hands out an undefined one.
void ReverseSweep::recreateBranch(Operation *op, ArrayRef<Scope> branches) {
  SmallVector<Type> types;
  SmallVector<Value> placeholders;
  for (const Scope &scope : branches)
    for (const Saved &saved : scope.saved) {
      types.push_back(saved.value.getType());
      placeholders.push_back(saved.placeholder);
    }
  if (types.empty())
    return;
  unsigned first = op->getNumResults();
  for (auto [index, region] : llvm::enumerate(op->getRegions())) {
    Operation *terminator = region.front().getTerminator();
    OpBuilder builder(terminator);
    SmallVector<Value> yields;
    for (auto [owner, scope] : llvm::enumerate(branches))
      for (const Saved &saved : scope.saved) {
        if (owner == index)
          yields.push_back(saved.value);
        else if (auto type = dyn_cast<RankedTensorType>(saved.value.getType()))
          yields.push_back(tensor::EmptyOp::create(
              builder, op->getLoc(), type.getShape(), type.getElementType()));
        else
          yields.push_back(zero(op->getLoc(), saved.value.getType()));
      }
    terminator->insertOperands(terminator->getNumOperands(), yields);
  }
  Operation *copy = recreate(op, {}, types);
  for (auto [index, placeholder] : llvm::enumerate(placeholders))
    replacePlaceholder(placeholder, copy->getResult(first + index));
  replaced[op] = copy;
}
