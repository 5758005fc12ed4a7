//===- Verdict.cpp - One in-place decision of two analyses ----------------===//
//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verdict.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::es;

Verdict mlir::es::getVerdict(EdgeKind kind) {
  switch (kind) {
  case EdgeKind::View:
    return Verdict::View;
  case EdgeKind::Update:
    return Verdict::Follows;
  case EdgeKind::Overwrite:
  case EdgeKind::TakeOver:
    return Verdict::Overwrite;
  case EdgeKind::Loop:
    return Verdict::Loop;
  case EdgeKind::Branch:
    return Verdict::Branch;
  }
  llvm_unreachable("covered switch");
}

/// The values that `value` may be as it is: what a view is of, what a loop or a
/// branch hands on. Empty if its op computes it.
static SmallVector<Value> getSources(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument == loop.getInductionVar())
      return {};
    return {loop.getTiedLoopInit(argument)->get(),
            loop.getTiedLoopYieldedValue(argument)->get()};
  }
  auto result = cast<OpResult>(value);
  Operation *def = result.getOwner();
  unsigned index = result.getResultNumber();
  SmallVector<Value> sources;
  if (isa<scf::IfOp, scf::ForOp>(def)) {
    for (Region &region : def->getRegions())
      sources.push_back(region.front().getTerminator()->getOperand(index));
    if (auto loop = dyn_cast<scf::ForOp>(def))
      sources.push_back(loop.getInitArgs()[index]);
    return sources;
  }
  ResultFact fact = getOpFacts(def).results[index];
  if (fact.kind == ResultKind::View)
    sources.push_back(def->getOperand(fact.source));
  return sources;
}

/// `value` and all the values that it may be as it is.
static SetVector<Value> getAllSources(Value value) {
  SetVector<Value> values;
  values.insert(value);
  for (unsigned i = 0; i < values.size(); ++i)
    for (Value source : getSources(values[i]))
      values.insert(source);
  return values;
}

/// True if `value` is an empty tensor, whatever it is handed on through.
static bool isUndefined(Value value) {
  return llvm::all_of(getAllSources(value), [](Value source) {
    auto result = dyn_cast<OpResult>(source);
    return !getSources(source).empty() ||
           (result && getOpFacts(result.getOwner())
                              .results[result.getResultNumber()]
                              .kind == ResultKind::Undefined);
  });
}

/// True if `value` is a splat constant or a view of one.
static bool isSplat(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    ResultFact fact =
        getOpFacts(result.getOwner()).results[result.getResultNumber()];
    if (fact.kind != ResultKind::View)
      return fact.kind == ResultKind::Splat;
    value = result.getOwner()->getOperand(fact.source);
  }
  return false;
}

bool Comparison::isCutView(Value value) const {
  while (Operation *def = value.getDefiningOp()) {
    ResultFact fact =
        getOpFacts(def).results[cast<OpResult>(value).getResultNumber()];
    if (fact.kind != ResultKind::View)
      return false;
    if (!theirs.isInPlace(def->getOpOperand(fact.source)))
      return true;
    value = def->getOperand(fact.source);
  }
  return false;
}

Verdict Comparison::judge(OpOperand &init, OpResult result, bool readsOld) {
  bool inPlace = theirs.isInPlace(init);
  BufferId buffer = ours.getBuffer(init.get());
  if (isUndefined(init.get()))
    return Verdict::Undefined;
  if (isSplat(init.get())) {
    // A splat is copied where it is updated, and no memory to write over. What
    // is a view of it may be copied earlier.
    if (!inPlace)
      return Verdict::BothCopy;
    return isCutView(init.get()) ? Verdict::View : Verdict::Unclassified;
  }
  bool isShared = buffer == ours.getBuffer(result);
  if (isShared == inPlace)
    return isShared ? Verdict::BothInPlace : Verdict::BothCopy;
  if (isShared)
    return explainTheirCopy(init, result);
  return readsOld ? explainOurCopy(init) : Verdict::Overwrite;
}

//===----------------------------------------------------------------------===//
// We copy, they do not
//===----------------------------------------------------------------------===//

bool Comparison::isReadAfter(Value value, Operation *op) const {
  return value.getParentRegion()->isAncestor(op->getParentRegion()) &&
         ours.getLastReads().isReadAfter(value, op);
}

/// Everything that keeps us from writing over `init`.
void Comparison::collectObstacles(OpOperand &init,
                                  SmallVectorImpl<Value> &obstacles) {
  Operation *op = init.getOwner();
  SmallVector<BufferId> memory = {ours.getBuffer(init.get())};
  llvm::append_range(memory, ours.getTargets(memory[0]));
  for (BufferId id : memory) {
    const Buffer &buffer = ours.getBuffers()[id];
    if (!buffer.owned && !buffer.isAlias)
      obstacles.push_back(buffer.root);
  }
  const ProgramOrder &order = ours.getOrder();
  for (auto [value, id] : ours.getValues()) {
    if (!llvm::is_contained(memory, id) &&
        llvm::none_of(ours.getTargets(id), [&](BufferId target) {
          return llvm::is_contained(memory, target);
        }))
      continue;
    bool isEarlier =
        value.getDefiningOp()
            ? order.getEnd(value.getDefiningOp()) < order.getBegin(op)
            : value.getParentRegion()->isAncestor(op->getParentRegion());
    bool isSibling =
        value != init.get() && llvm::is_contained(op->getOperands(), value);
    if (isEarlier && (isSibling || isReadAfter(value, op)))
      obstacles.push_back(value);
  }
}

/// The slice that `value` is, after any number of writes to it.
static tensor::ExtractSliceOp getSlice(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def))
      return slice;
    auto writer = dyn_cast<DestinationStyleOpInterface>(def);
    if (!writer)
      return nullptr;
    value = writer.getTiedOpOperand(cast<OpResult>(value))->get();
  }
  return nullptr;
}

/// One-Shot analysis knows that a slice that goes back to where it was taken
/// from needs no copy, and that what is inserted into a tensor replaces what
/// was written to that slice before.
static bool isSubsetUpdate(OpOperand &init, Operation *user) {
  auto insert = dyn_cast<tensor::InsertSliceOp>(user);
  if (!insert)
    return false;
  auto isSameSlice = [&](Value value) {
    tensor::ExtractSliceOp slice = getSlice(value);
    return slice && slice.getMixedOffsets() == insert.getMixedOffsets() &&
           slice.getMixedSizes() == insert.getMixedSizes() &&
           slice.getMixedStrides() == insert.getMixedStrides();
  };
  return isSameSlice(insert.getSource()) || isSameSlice(init.get());
}

/// The values that stand for the same contents after `use`: a view, what a loop
/// begins with, what a branch or a loop yields. Empty if `use` reads elements.
static SmallVector<Value> getPassedOn(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(user)) {
    SmallVector<Value> values = {loop.getTiedLoopRegionIterArg(&use)};
    std::optional<APInt> trips = loop.getStaticTripCount();
    if (!trips || trips->isZero())
      values.push_back(loop.getTiedLoopResult(&use));
    return values;
  }
  if (isa<scf::YieldOp>(user)) {
    unsigned index = use.getOperandNumber();
    SmallVector<Value> values = {user->getParentOp()->getResult(index)};
    if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()))
      values.push_back(loop.getRegionIterArg(index));
    return values;
  }
  OpFacts facts = getOpFacts(user);
  for (OpResult result : user->getResults())
    if (ResultFact fact = facts.results[result.getResultNumber()];
        fact.kind == ResultKind::View && fact.source == use.getOperandNumber())
      return {result};
  return {};
}

/// True if `a` and `b` are on two sides of one branch, which runs once for each
/// time that `value` comes into being.
static bool areExclusive(Operation *a, Operation *b, Value value) {
  if (!insideMutuallyExclusiveRegions(a, b))
    return false;
  for (Operation *op = a->getParentOp();
       op && !op->isAncestor(value.getParentBlock()->getParentOp());
       op = op->getParentOp())
    if (isa<scf::ForOp>(op) && op->isProperAncestor(b))
      return false;
  return true;
}

/// True if the two are one memory, or may be because a branch or a loop lends
/// it, and disjoint otherwise.
bool Comparison::mayBeSame(Value a, Value b) const {
  return llvm::any_of(getAllSources(a), [&](Value source) {
    return llvm::any_of(getAllSources(b), [&](Value other) {
      return theirs.areEquivalentBufferizedValues(source, other);
    });
  });
}

/// Why what `value` holds after `init` is written does not matter to One-Shot
/// analysis: it is only passed on, to views and loops and branches, and no
/// element is read in the end (we keep it nevertheless), or it is part of an
/// update of a slice.
Verdict Comparison::explainUnread(Value value, OpOperand &init) const {
  Operation *op = init.getOwner();
  const ProgramOrder &order = ours.getOrder();
  SmallVector<Value> values = {value};
  llvm::DenseSet<Value> seen = {value};
  Verdict verdict = Verdict::Unread;
  // What goes back to where it is already does not change.
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op);
      insert && isSubsetUpdate(init, op) &&
      theirs.areEquivalentBufferizedValues(value, insert.getSource()))
    return Verdict::Subset;
  for (unsigned i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *user = use.getOwner();
      Operation *point = order.getPointOp(user);
      bool isBefore = values[i] == value && user != op &&
                      order.getEnd(point) <= order.getBegin(op);
      if (isBefore || &use == &init || (point == user && !readsMemory(use)) ||
          areExclusive(op, user, value))
        continue;
      if (isSubsetUpdate(init, user)) {
        verdict = Verdict::Subset;
        continue;
      }
      // Element by element, what the destination holds may be read as well,
      // under its own name or another.
      bool isElementwise =
          user == op && getOpFacts(op).operands[use.getOperandNumber()] ==
                            OperandUse::ReadElementwise;
      if (isElementwise && use.get() == init.get())
        continue;
      if (isElementwise && mayBeSame(use.get(), init.get())) {
        verdict = Verdict::Equivalent;
        continue;
      }
      SmallVector<Value> passed = getPassedOn(use);
      if (passed.empty())
        return Verdict::Unclassified;
      for (Value next : passed)
        if (seen.insert(next).second)
          values.push_back(next);
    }
  return verdict;
}

/// Each obstacle must be out of the way for One-Shot analysis: because it cuts
/// an edge in between, or because what is read there does not matter to it.
Verdict Comparison::explainOurCopy(OpOperand &init) {
  SmallVector<Value> obstacles;
  collectObstacles(init, obstacles);
  // What a branch lends may be one of several memories; we never write there.
  bool isLent = ours.getBuffers()[ours.getBuffer(init.get())].isAlias;
  Verdict verdict = isLent ? Verdict::Branch : Verdict::Unclassified;
  for (Value obstacle : obstacles) {
    if (theirs.areAliasingBufferizedValues(init.get(), obstacle)) {
      verdict = explainUnread(obstacle, init);
    } else {
      std::optional<EdgeKind> cut = graph.findCut(
          init.get(), obstacle, SharingGraph::Side::Ours, init.getOwner());
      verdict = cut ? getVerdict(*cut) : Verdict::Unclassified;
    }
    if (verdict == Verdict::Unclassified)
      return verdict;
  }
  return verdict;
}
