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
// The forward op hands out what its gradient reads, so it is made again with
// more results once all of that is known; until then an empty tensor behind it
// stands for each.
//
//===----------------------------------------------------------------------===//

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
// What the forward op hands out
//===----------------------------------------------------------------------===//

/// What a stack of values of `type` is made of: types of other dialects are
/// cast to those that slices are defined on. Null for a tensor of unknown rank.
static Type getStackableType(OpBuilder &builder, Type type) {
  if (isa<RankedTensorType, FloatType, ComplexType>(type) ||
      type.isIntOrIndex())
    return type;
  if (!isMemoryType(type))
    return builder.getI64Type();
  ShapedType shaped = getCarriedShape(type);
  if (!shaped || !shaped.hasRank())
    return nullptr;
  return RankedTensorType::get(shaped.getShape(), shaped.getElementType());
}

static Value castTo(OpBuilder &builder, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

/// One slice for each iteration.
static RankedTensorType getStackType(const CarryingLoop &loop, Type type) {
  SmallVector<int64_t> shape = {*loop.trips};
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor)
    llvm::append_range(shape, tensor.getShape());
  return RankedTensorType::get(shape, tensor ? tensor.getElementType() : type);
}

static Value getSlice(OpBuilder &builder, Location loc, Value stack,
                      Value iteration, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return tensor::ExtractOp::create(builder, loc, stack, iteration);
  SmallVector<OpFoldResult> offsets(tensor.getRank() + 1,
                                    builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(tensor.getRank() + 1,
                                    builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1)};
  offsets[0] = iteration;
  for (int64_t size : tensor.getShape())
    sizes.push_back(builder.getIndexAttr(size));
  return tensor::ExtractSliceOp::create(builder, loc, tensor, stack, offsets,
                                        sizes, strides);
}

static Value setSlice(OpBuilder &builder, Location loc, Value value,
                      Value stack, Value iteration) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return tensor::InsertOp::create(builder, loc, value, stack, iteration);
  SmallVector<OpFoldResult> offsets(tensor.getRank() + 1,
                                    builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(tensor.getRank() + 1,
                                    builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1)};
  offsets[0] = iteration;
  for (int64_t size : tensor.getShape())
    sizes.push_back(builder.getIndexAttr(size));
  return tensor::InsertSliceOp::create(builder, loc, value, stack, offsets,
                                       sizes, strides);
}

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

/// Which iteration the forward body is at, from 0.
static Value countIterations(OpBuilder &builder, const CarryingLoop &loop) {
  Location loc = loop.op->getLoc();
  Value count = loop.counter;
  if (isa<RankedTensorType>(count.getType()))
    count = tensor::ExtractOp::create(builder, loc, count, ValueRange());
  if (!count.getType().isIntOrIndex())
    count = castTo(builder, loc, builder.getI64Type(), count);
  if (!count.getType().isIndex())
    count =
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), count);
  if (loop.lower != 0)
    count = arith::SubIOp::create(
        builder, loc, count,
        arith::ConstantIndexOp::create(builder, loc, loop.lower));
  if (loop.step != 1)
    count = arith::DivUIOp::create(
        builder, loc, count,
        arith::ConstantIndexOp::create(builder, loc, loop.step));
  return count;
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
  replaced.push_back(loop.op);
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
  replaced.push_back(op);
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
