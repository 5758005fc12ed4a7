//===- Deallocations.cpp - Where owned buffers are freed ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows the uses of each buffer from the block that brings it into being: it
// dies behind the last op that touches it; if that op is a branch, it dies in
// each of its regions on its own; in a graph of blocks, where no successor
// needs it any more.
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/Deallocations.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::es;

namespace {

class Placer {
public:
  explicit Placer(const BufferAssignment &assignment)
      : assignment(assignment), order(assignment.getOrder()) {}
  std::vector<Deallocation> run();

private:
  using Place = Deallocation::Place;
  struct Scope {
    Region *region;
    Block *block;
    SmallVector<Operation *> touching;
  };

  void collectTouching();
  void placeBuffer(BufferId id);
  void placeInBlock(Block *block, ArrayRef<Operation *> touching);
  void placeInGraph(const Scope &scope);
  bool handsOver(Operation *op) const;
  bool handsOverOnEdge(Operation *op, unsigned successor) const;
  void add(Place place, Operation *op, Block *block, unsigned index = 0) {
    found.push_back({current, place, op, block, index});
  }

  const BufferAssignment &assignment;
  const ProgramOrder &order;
  std::vector<SmallVector<Operation *, 2>> touching;
  std::vector<Deallocation> found;
  SmallVector<Scope> scopes;
  BufferId current = kNoBuffer;
};

} // namespace

static Operation *getHomeOp(Operation *op, Region *region) {
  while (op->getParentRegion() != region)
    op = op->getParentOp();
  return op;
}

/// For each buffer, the ops that define or read one of its values.
void Placer::collectTouching() {
  touching.resize(assignment.getBuffers().size());
  auto touch = [&](BufferId id, Operation *op) {
    touching[id].push_back(op);
    for (BufferId target : assignment.getTargets(id))
      touching[target].push_back(op);
  };
  for (auto [value, id] : assignment.getValues()) {
    ArrayRef<OpOperand *> materialized = assignment.getMaterializedUses(value);
    if (!materialized.empty()) {
      for (OpOperand *use : materialized)
        touch(id, order.getPointOp(use->getOwner()));
      continue;
    }
    if (Operation *def = value.getDefiningOp())
      touch(id, def);
    for (OpOperand &use : value.getUses()) {
      Operation *user = order.getPointOp(use.getOwner());
      if (user != use.getOwner() || readsMemory(use))
        touch(id, user);
    }
  }
  for (auto [operand, id] : assignment.getCopies())
    touch(id, operand->getOwner());
}

bool Placer::handsOver(Operation *op) const {
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    return assignment.getHandedOver(operand) == current;
  });
}

bool Placer::handsOverOnEdge(Operation *op, unsigned successor) const {
  SuccessorOperands operands =
      cast<BranchOpInterface>(op).getSuccessorOperands(successor);
  for (unsigned i = operands.getProducedOperandCount(), e = operands.size();
       i < e; ++i)
    if (assignment.getHandedOver(
            op->getOpOperand(operands.getOperandIndex(i))) == current)
      return true;
  return false;
}

void Placer::placeInBlock(Block *block, ArrayRef<Operation *> ops) {
  Operation *last = nullptr;
  for (Operation *op : ops) {
    Operation *home = getHomeOp(op, block->getParent());
    if (!last || order.getBegin(last) < order.getBegin(home))
      last = home;
  }
  if (!last)
    return add(Place::BlockStart, nullptr, block);
  SmallVector<Operation *> nested;
  for (Operation *op : ops)
    if (op != last && last->isProperAncestor(op))
      nested.push_back(op);
  if (last->hasTrait<OpTrait::IsTerminator>()) {
    if (last->getNumSuccessors() == 0) {
      if (!handsOver(last))
        add(Place::Before, last, nullptr);
      return;
    }
    for (unsigned i = 0, e = last->getNumSuccessors(); i < e; ++i)
      if (!handsOverOnEdge(last, i))
        add(Place::Edge, last, nullptr, i);
    return;
  }
  if (nested.empty()) {
    if (!handsOver(last))
      add(Place::After, last, nullptr);
    return;
  }
  if (!isBranchOp(last))
    return add(Place::After, last, nullptr);
  for (auto [index, region] : llvm::enumerate(last->getRegions())) {
    if (region.empty()) {
      add(Place::EmptyRegion, last, nullptr, index);
      continue;
    }
    SmallVector<Operation *> inside;
    for (Operation *op : nested)
      if (region.isAncestor(op->getParentRegion()))
        inside.push_back(op);
    scopes.push_back({&region, &region.front(), std::move(inside)});
  }
}

/// Blocks that need the buffer are those that lead to a block that touches it.
void Placer::placeInGraph(const Scope &scope) {
  llvm::DenseMap<Block *, SmallVector<Operation *>> opsIn;
  llvm::DenseSet<Block *> liveIn;
  SmallVector<Block *> worklist;
  auto enter = [&](Block *block) {
    if (block != scope.block && liveIn.insert(block).second)
      worklist.push_back(block);
  };
  for (Operation *op : scope.touching) {
    Block *block = getHomeOp(op, scope.region)->getBlock();
    opsIn[block].push_back(op);
    enter(block);
  }
  while (!worklist.empty())
    for (Block *pred : worklist.pop_back_val()->getPredecessors())
      enter(pred);
  for (Block &block : *scope.region) {
    if (&block != scope.block && !liveIn.contains(&block))
      continue;
    Operation *terminator = &block.back();
    bool isLiveOut = llvm::any_of(block.getSuccessors(), [&](Block *successor) {
      return liveIn.contains(successor);
    });
    if (!isLiveOut) {
      placeInBlock(&block, opsIn.lookup(&block));
      continue;
    }
    for (auto [index, successor] : llvm::enumerate(block.getSuccessors()))
      if (!liveIn.contains(successor) && !handsOverOnEdge(terminator, index))
        add(Place::Edge, terminator, nullptr, index);
  }
}

void Placer::placeBuffer(BufferId id) {
  Buffer buffer = assignment.getBuffers()[id];
  if (!buffer.owned || buffer.isAlias || !isa<TensorType>(buffer.type))
    return;
  current = id;
  Block *block = buffer.root ? buffer.root.getParentBlock()
                             : buffer.copyFor->getOwner()->getBlock();
  scopes.push_back(
      {block->getParent(), block,
       SmallVector<Operation *>(touching[id].begin(), touching[id].end())});
  while (!scopes.empty()) {
    Scope scope = scopes.pop_back_val();
    if (scope.region->hasOneBlock())
      placeInBlock(scope.block, scope.touching);
    else
      placeInGraph(scope);
  }
}

std::vector<Deallocation> Placer::run() {
  collectTouching();
  for (BufferId id = 0, e = touching.size(); id < e; ++id)
    placeBuffer(id);
  return std::move(found);
}

std::vector<Deallocation>
mlir::es::computeDeallocations(const BufferAssignment &assignment) {
  return Placer(assignment).run();
}
