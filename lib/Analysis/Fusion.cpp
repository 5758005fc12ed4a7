//===- Fusion.cpp - Values that are never in memory -----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A producer is absorbed if every consumer can compute it on the fly and the
// bytes that live longer for it are no more than its own. With several
// consumers it is computed several times, so that it must be cheap itself.
// Products of matrices read and write their transposes as they are.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"

#include "es/Analysis/StorageSize.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::es;

/// Bytes of a value; nullopt if its type has no size. Unbound leading
/// dimensions count as 1, as in the report.
static std::optional<uint64_t> getBytes(Type type) {
  SizeOptions options;
  options.leadingDynamic = 1;
  llvm::Expected<uint64_t> bytes = getStorageBytes(type, options);
  if (bytes)
    return *bytes;
  llvm::consumeError(bytes.takeError());
  return std::nullopt;
}

static bool isElementwise(OpClass opClass) {
  return opClass == OpClass::Elementwise ||
         opClass == OpClass::ElementwiseCostly;
}

static bool readsAny(OperandUse use) {
  return use == OperandUse::Read || use == OperandUse::ReadElementwise;
}

//===----------------------------------------------------------------------===//
// Single ops
//===----------------------------------------------------------------------===//

/// The one result in memory, if the op makes exactly one and moves, computes or
/// generates it element by element.
static OpResult getFusibleResult(Operation *op, const OpFacts &facts) {
  if (!isElementwise(facts.opClass) && facts.opClass != OpClass::DataMovement &&
      facts.opClass != OpClass::Generator)
    return nullptr;
  OpResult found;
  for (OpResult result : op->getResults()) {
    ResultFact fact = facts.results[result.getResultNumber()];
    if (fact.kind == ResultKind::None)
      continue;
    bool isFresh = fact.kind == ResultKind::New ||
                   (fact.kind == ResultKind::Destination &&
                    facts.operands[fact.source] == OperandUse::Write);
    if (found || !isFresh)
      return nullptr;
    found = result;
  }
  return found;
}

/// True if each element of the operand is read for more than one element of the
/// result.
static bool repeatsElements(OpOperand &use) {
  Operation *op = use.getOwner();
  auto from = dyn_cast<ShapedType>(use.get().getType());
  auto to = op->getNumResults()
                ? dyn_cast<ShapedType>(op->getResult(0).getType())
                : ShapedType();
  return from && to && from.hasStaticShape() && to.hasStaticShape() &&
         from.getNumElements() < to.getNumElements();
}

static bool isMatrixTranspose(Operation *op) {
  auto type = op->getNumResults()
                  ? dyn_cast<ShapedType>(op->getResult(0).getType())
                  : ShapedType();
  return type && type.hasRank() && type.getRank() == 2 && isTranspose(op);
}

/// True if the op that `use` belongs to can compute the operand as it reads it.
static bool absorbs(Operation *producer, OpOperand &use, const OpFacts &facts) {
  Operation *op = use.getOwner();
  unsigned index = use.getOperandNumber();
  if (!readsAny(facts.operands[index]))
    return false;
  switch (facts.opClass) {
  case OpClass::Contraction:
    return isMatrixTranspose(producer) && use.get().getDefiningOp() == producer;
  case OpClass::Elementwise:
  case OpClass::ElementwiseCostly:
  case OpClass::Reduction:
    return true;
  case OpClass::DataMovement:
    return !isTableLookup(op);
  case OpClass::Materializing:
    // What is written into a slice is computed on the way there.
    return isSliceUpdate(op) && index == 1;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

Value FusionPlan::getBase(Value value) const {
  auto it = bases.find(value);
  return it == bases.end() ? value : it->second;
}

/// A value that is seen through a view of another shape is not written in
/// place, although its elements may correspond.
SmallVector<FusedLeaf, 2> FusionPlan::getLeaves(Value value) const {
  Value base = getBase(value);
  bool sameShape = base.getType() == value.getType();
  auto it = expressions.find(base);
  if (it == expressions.end())
    return {{base, sameShape}};
  SmallVector<FusedLeaf, 2> leaves = it->second;
  for (FusedLeaf &leaf : leaves)
    leaf.elementwise &= sameShape;
  return leaves;
}

SmallVector<FusedLeaf, 2>
FusionPlan::computeLeaves(Operation *op, const OpFacts &facts) const {
  SmallVector<FusedLeaf, 2> leaves;
  llvm::SmallDenseMap<Value, unsigned> seen;
  for (OpOperand &operand : op->getOpOperands()) {
    OperandUse use = facts.operands[operand.getOperandNumber()];
    if (!readsAny(use))
      continue;
    for (FusedLeaf leaf : getLeaves(operand.get())) {
      leaf.elementwise &= use == OperandUse::ReadElementwise;
      auto [it, inserted] = seen.try_emplace(leaf.value, leaves.size());
      if (inserted)
        leaves.push_back(leaf);
      else
        leaves[it->second].elementwise &= leaf.elementwise;
    }
  }
  return leaves;
}

/// Consumers come later in the program, so that they are candidates already.
void FusionPlan::findCandidate(Operation *op) {
  const OpFacts &facts = order.getFacts(order.getBegin(op));
  OpResult result = getFusibleResult(op, facts);
  if (!result || isFolded(op))
    return;
  bool costly = facts.opClass == OpClass::ElementwiseCostly;
  Candidate candidate;
  unsigned consumers = 0;
  bool sameRoot = true;
  SmallVector<Value, 2> values = {result};
  while (!values.empty()) {
    for (OpOperand &use : values.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (user->getBlock() != op->getBlock() || !order.contains(user))
        return;
      const OpFacts &userFacts = order.getFacts(order.getBegin(user));
      unsigned index = use.getOperandNumber();
      bool isView = false;
      for (OpResult seen : user->getResults()) {
        ResultFact fact = userFacts.results[seen.getResultNumber()];
        if (fact.kind == ResultKind::View && fact.source == index) {
          values.push_back(seen);
          isView = true;
        }
      }
      if (isView)
        continue;
      if (!absorbs(op, use, userFacts) || (costly && repeatsElements(use)))
        return;
      candidate.lastUse = std::max(candidate.lastUse, order.getBegin(user));
      auto it = candidates.find(user);
      Operation *root = it == candidates.end() ? user : it->second.root;
      sameRoot &= root && (consumers == 0 || root == candidate.root);
      candidate.root = root;
      ++consumers;
    }
  }
  if (!sameRoot)
    candidate.root = nullptr;
  if (consumers && (!costly || sameRoot))
    candidates[op] = candidate;
}

std::optional<uint64_t> FusionPlan::getExtendedBytes(ArrayRef<FusedLeaf> leaves,
                                                     unsigned lastUse) const {
  uint64_t total = 0;
  for (const FusedLeaf &leaf : leaves) {
    auto it = lastPoints.find(leaf.value);
    if (it == lastPoints.end() || it->second >= lastUse)
      continue;
    std::optional<uint64_t> bytes = getBytes(leaf.value.getType());
    if (!bytes)
      return std::nullopt;
    total += *bytes;
  }
  return total;
}

void FusionPlan::decide(Operation *op) {
  auto it = candidates.find(op);
  if (it == candidates.end())
    return;
  unsigned lastUse = it->second.lastUse;
  const OpFacts &facts = order.getFacts(order.getBegin(op));
  OpResult result = getFusibleResult(op, facts);
  SmallVector<FusedLeaf, 2> leaves = computeLeaves(op, facts);
  std::optional<uint64_t> removed = getBytes(result.getType());
  std::optional<uint64_t> extended = getExtendedBytes(leaves, lastUse);
  if (leaves.size() > kMaxLeaves || !removed || !extended ||
      *extended > *removed)
    return;
  for (const FusedLeaf &leaf : leaves)
    if (auto last = lastPoints.find(leaf.value); last != lastPoints.end())
      last->second = std::max(last->second, lastUse);
  absorbed.insert(op);
  expressions[result] = std::move(leaves);
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

void FusionPlan::addStorage(Value value, Value base,
                            const LastReads &lastReads) {
  unsigned &last = lastPoints[base];
  last = std::max(last, lastReads.lookup(value).last);
}

static bool foldsIntoProduct(Operation *op) {
  if (op->getNumOperands() == 0 || !isMatrixTranspose(op))
    return false;
  Operation *product = op->getOperand(0).getDefiningOp();
  return product && op->getOperand(0).hasOneUse() &&
         product->getBlock() == op->getBlock() &&
         getOpFacts(product).opClass == OpClass::Contraction;
}

void FusionPlan::findBases(const LastReads &lastReads,
                           llvm::function_ref<bool(BlockArgument)> isOwned) {
  llvm::DenseSet<Block *> blocks;
  for (unsigned point = 0, e = order.size(); point < e; ++point) {
    Operation *op = order.getOp(point);
    if (order.isEnd(point))
      continue;
    // Memory that is there all the time has no last point.
    bool isEntry = isa<FunctionOpInterface>(op->getParentOp()) &&
                   op->getBlock()->isEntryBlock();
    if (blocks.insert(op->getBlock()).second)
      for (BlockArgument argument : op->getBlock()->getArguments())
        if (!isEntry || isOwned(argument))
          addStorage(argument, argument, lastReads);
    const OpFacts &facts = order.getFacts(order.getBegin(op));
    if (foldsIntoProduct(op))
      folded.insert(op);
    for (OpResult result : op->getResults()) {
      ResultFact fact = facts.results[result.getResultNumber()];
      if (fact.kind == ResultKind::View) {
        Value base = getBase(op->getOperand(fact.source));
        bases[result] = base;
        if (lastPoints.contains(base))
          addStorage(result, base, lastReads);
      } else if (fact.kind == ResultKind::New ||
                 fact.kind == ResultKind::Destination) {
        addStorage(result, result, lastReads);
      }
    }
  }
}

FusionPlan::FusionPlan(const ProgramOrder &order, const LastReads &lastReads,
                       llvm::function_ref<bool(BlockArgument)> isOwned)
    : order(order) {
  findBases(lastReads, isOwned);
  for (unsigned point = order.size(); point > 0; --point)
    if (!order.isEnd(point - 1))
      findCandidate(order.getOp(point - 1));
  for (unsigned point = 0, e = order.size(); point < e; ++point)
    if (!order.isEnd(point))
      decide(order.getOp(point));
}
