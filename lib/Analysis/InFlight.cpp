//===- InFlight.cpp - Iterations that run at the same time ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop with `es.in_flight` = K runs K iterations side by side: what depends
// on the iteration is there K times, the rest once, what the loop carries too.
//
//===----------------------------------------------------------------------===//

#include "ProfileTotals.h"

#include "es/Dialect/ES/IR/ES.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::es;

static uint64_t getOwnInFlight(Operation *op) {
  auto count = op->getAttrOfType<IntegerAttr>(kInFlightAttrName);
  return count && count.getInt() > 1 ? count.getInt() : 1;
}

uint64_t mlir::es::getInFlight(Operation *op) {
  uint64_t count = 1;
  while ((op = op->getParentOp()))
    count *= getOwnInFlight(op);
  return count;
}

/// The values in `loop` that depend on which iteration it is.
static llvm::DenseSet<Value> findDependent(Operation *loop) {
  llvm::DenseSet<Value> dependent;
  for (Region &region : loop->getRegions())
    if (!region.empty() && region.getNumArguments())
      dependent.insert(region.getArgument(0));
  auto reads = [&](Operation *op) {
    return op
        ->walk([&](Operation *nested) {
          bool found = llvm::any_of(nested->getOperands(), [&](Value operand) {
            return dependent.contains(operand);
          });
          return found ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  };
  for (Region &region : loop->getRegions())
    for (Block &block : region)
      for (Operation &op : block)
        if (reads(&op))
          op.walk([&](Operation *nested) {
            dependent.insert(nested->result_begin(), nested->result_end());
            for (Region &inner : nested->getRegions())
              for (Block &body : inner)
                dependent.insert(body.args_begin(), body.args_end());
          });
  return dependent;
}

static LogicalResult countInFlight(MemoryProfile &profile, Operation *loop) {
  const BufferAssignment &assignment = profile.assignment;
  uint64_t count = getOwnInFlight(loop);
  llvm::DenseSet<Value> dependent = findDependent(loop);
  llvm::DenseSet<BufferId> carried, repeated;
  for (auto [value, id] : assignment.getValues()) {
    auto argument = dyn_cast<BlockArgument>(value);
    bool isCarried = argument ? argument.getOwner()->getParentOp() == loop
                              : !loop->isProperAncestor(value.getDefiningOp());
    if (argument && !loop->isAncestor(argument.getOwner()->getParentOp()))
      isCarried = true;
    if (isCarried)
      carried.insert(id);
    else if (dependent.contains(value))
      repeated.insert(id);
  }
  for (const auto &[operand, id] : assignment.getCopies())
    if (loop->isProperAncestor(operand->getOwner()) &&
        dependent.contains(operand->get()) && !carried.contains(id))
      repeated.insert(id);
  for (BufferId id : repeated) {
    if (carried.contains(id))
      continue;
    ProfiledBuffer &buffer = profile.buffers[id];
    buffer.count *= count;
    if (llvm::MulOverflow(int64_t(buffer.bytes), int64_t(count),
                          reinterpret_cast<int64_t &>(buffer.bytes)))
      return loop->emitError("the iterations that run at once exceed 64-bit "
                             "sizes in total");
  }
  return success();
}

LogicalResult mlir::es::countInFlight(MemoryProfile &profile) {
  SmallVector<Operation *, 1> loops;
  const ProgramOrder &order = profile.assignment.getOrder();
  for (unsigned point = 0, e = order.size(); point < e; ++point)
    if (!order.isEnd(point) && getOwnInFlight(order.getOp(point)) > 1)
      loops.push_back(order.getOp(point));
  for (Operation *loop : loops)
    if (failed(::countInFlight(profile, loop)))
      return failure();
  return success();
}
