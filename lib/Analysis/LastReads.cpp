//===- LastReads.cpp - Until when a value is read -------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/LastReads.h"
#include "es/OpModel/OpModel.h"

using namespace mlir;
using namespace mlir::es;

bool mlir::es::readsMemory(OpOperand &operand) {
  return readsContents(
      getOpFacts(operand.getOwner()).operands[operand.getOperandNumber()]);
}

/// The values from outside that the ops inside `op` use, where those ops are
/// not program points of their own.
static void forEachCapture(Operation *op, function_ref<void(Value)> callback) {
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (isMemoryType(operand.getType()) &&
            !op->isAncestor(operand.getParentBlock()->getParentOp()))
          callback(operand);
    });
}

LastReads::LastReads(const ProgramOrder &order)
    : order(order), infos(order.getValues().size()) {
  for (unsigned point = 0, e = order.size(); point < e; ++point) {
    if (order.isEnd(point))
      continue;
    Operation *op = order.getOp(point);
    for (auto [use, operand, number] :
         llvm::zip(order.getFacts(point).operands, op->getOperands(),
                   order.getOperands(point)))
      if (readsContents(use))
        addRead(operand, number, point);
    if (op->getNumRegions() && order.getEnd(op) == point)
      forEachCapture(op, [&](Value value) {
        addRead(value, order.getNumber(value), point);
      });
  }
}

void LastReads::addRead(Value value, ValueNumber number, unsigned point) {
  if (number == kNoNumber)
    return;
  Info &info = infos[number];
  info.isRead = true;
  Operation *op = order.getOp(point);
  if (op->getBlock() == value.getParentBlock()) {
    info.last = std::max(info.last, point);
    return;
  }
  Position position = locate(value, op);
  info.last = std::max(info.last, position.point);
  if (position.throughBranch ||
      position.homeOp->getBlock() != value.getParentBlock())
    info.pathDependent = true;
}

LastReads::Position LastReads::locate(Value value, Operation *user) const {
  Operation *op = order.getPointOp(user);
  Position position = {order.getBegin(op), false, op};
  Region *home = value.getParentRegion();
  while (position.homeOp->getParentRegion() != home) {
    Operation *parent = position.homeOp->getParentOp();
    if (isBranchOp(parent))
      position.throughBranch = true;
    else
      position.point = order.getEnd(parent);
    position.homeOp = parent;
  }
  return position;
}

const llvm::DenseSet<Block *> &LastReads::getLiveInBlocks(Value value) const {
  auto entry = liveIns.try_emplace(value);
  llvm::DenseSet<Block *> &blocks = entry.first->second;
  if (!entry.second)
    return blocks;
  Block *home = value.getParentBlock();
  SmallVector<Block *> worklist;
  auto add = [&](Block *block) {
    if (block != home && blocks.insert(block).second)
      worklist.push_back(block);
  };
  for (OpOperand &use : value.getUses())
    if (Operation *owner = order.getPointOp(use.getOwner());
        owner != use.getOwner() || readsMemory(use))
      add(locate(value, owner).homeOp->getBlock());
  while (!worklist.empty())
    for (Block *pred : worklist.pop_back_val()->getPredecessors())
      add(pred);
  return blocks;
}

/// True if `a` and `b` lie in different regions of the branch op `branch`.
static bool areExclusive(Operation *branch, Operation *a, Operation *b) {
  Region *regionOfA = nullptr, *regionOfB = nullptr;
  for (Region &region : branch->getRegions()) {
    if (region.isAncestor(a->getParentRegion()))
      regionOfA = &region;
    if (region.isAncestor(b->getParentRegion()))
      regionOfB = &region;
  }
  return regionOfA && regionOfB && regionOfA != regionOfB;
}

bool LastReads::isReadAfter(Value value, Operation *op) const {
  Region *home = value.getParentRegion();
  Operation *homeOp = locate(value, op).homeOp;
  if (!home->hasOneBlock())
    for (Block *successor : homeOp->getBlock()->getSuccessors())
      if (getLiveInBlocks(value).contains(successor))
        return true;
  for (OpOperand &use : value.getUses()) {
    Operation *user = order.getPointOp(use.getOwner());
    if (user == use.getOwner() && !readsMemory(use))
      continue;
    unsigned point = order.getBegin(user);
    bool exclusive = false;
    Operation *child = user;
    for (; child->getParentRegion() != home; child = child->getParentOp()) {
      Operation *parent = child->getParentOp();
      if (isBranchOp(parent)) {
        exclusive |= areExclusive(parent, op, user);
        continue;
      }
      // A loop around both reads the value again in its next iteration.
      if (parent->isProperAncestor(op))
        return true;
      point = order.getEnd(parent);
    }
    if (user == op || exclusive || child->getBlock() != homeOp->getBlock())
      continue;
    if (point > order.getBegin(op))
      return true;
  }
  return false;
}
