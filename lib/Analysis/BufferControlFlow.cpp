//===- BufferControlFlow.cpp - Ownership across control flow --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops, branches, blocks, calls and returns hand the memory of a tensor on to
// its next owner. That needs no copy where the buffer is owned, dies there, and
// is handed on only once; ownership is then known statically on every path.
// Memrefs are never owned: the program frees them itself.
//
//===----------------------------------------------------------------------===//

#include "BufferSweep.h"

#include "es/OpModel/CountedLoops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Handing over
//===----------------------------------------------------------------------===//

BufferSweep::Handover
BufferSweep::classify(OpOperand &operand,
                      llvm::SmallDenseSet<BufferId> &handedOver) const {
  BufferId buffer = getBuffer(operand.get());
  if (virtuals.contains(operand.get()) || buffer == kNoBuffer)
    return Handover::MustCopy;
  if (result.table[buffer].isConstant)
    return Handover::MustCopy;
  if (!result.table[buffer].owned || !isDying(buffer, operand.getOwner()))
    return Handover::Borrowed;
  return handedOver.insert(buffer).second ? Handover::Owned
                                          : Handover::MustCopy;
}

void BufferSweep::give(OpOperand &operand, BufferId buffer) {
  result.handedOver[&operand] = buffer;
  handedAway.insert(buffer);
}

void BufferSweep::handOver(OpOperand &operand,
                           llvm::SmallDenseSet<BufferId> &handedOver) {
  bool owned = classify(operand, handedOver) == Handover::Owned;
  give(operand, owned ? getBuffer(operand.get()) : copy(operand));
}

/// A memref (or a value nobody owns) that `target` may be from now on.
void BufferSweep::passBorrowed(OpOperand &operand, Value target) {
  BufferId alias = getBuffer(target);
  if (alias == kNoBuffer)
    alias = createAlias(target);
  if (BufferId source = getBuffer(operand.get()); source != kNoBuffer)
    addTarget(alias, source);
}

static bool isMemRef(Value value) {
  return isa<BaseMemRefType>(value.getType());
}
/// Tensors of other dialects too.
static bool isTensor(Value value) {
  return isMemoryType(value.getType()) && !isMemRef(value);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void BufferSweep::visitBlockStart(Block *block) {
  for (BlockArgument argument : block->getArguments()) {
    if (getBuffer(argument) != kNoBuffer)
      continue;
    if (isTensor(argument))
      create(argument, argument.getType(), /*owned=*/!block->isEntryBlock());
    else if (isMemRef(argument))
      createAlias(argument);
  }
}

void BufferSweep::visitBlockBranch(Operation *op) {
  auto branch = cast<BranchOpInterface>(op);
  for (unsigned i = 0, e = op->getNumSuccessors(); i < e; ++i) {
    llvm::SmallDenseSet<BufferId> handedOver;
    SuccessorOperands operands = branch.getSuccessorOperands(i);
    unsigned produced = operands.getProducedOperandCount();
    for (unsigned k = produced; k < operands.size(); ++k) {
      OpOperand &operand = op->getOpOperand(operands.getOperandIndex(k));
      if (isTensor(operand.get()))
        handOver(operand, handedOver);
      else if (isMemRef(operand.get()))
        passBorrowed(operand, op->getSuccessor(i)->getArgument(k));
    }
  }
}

//===----------------------------------------------------------------------===//
// Calls and returns
//===----------------------------------------------------------------------===//

void BufferSweep::visitCall(Operation *op, const OpFacts &facts) {
  materialize(op, facts);
  ReturnedArguments returned;
  if (options.returnedArguments)
    returned = options.returnedArguments(op);
  OperandRange arguments = cast<CallOpInterface>(op).getArgOperands();
  for (OpResult value : op->getResults()) {
    if (!isMemoryType(value.getType()))
      continue;
    unsigned index = value.getResultNumber();
    BufferId argument = index < returned.size() && returned[index]
                            ? getBuffer(arguments[*returned[index]])
                            : kNoBuffer;
    if (argument != kNoBuffer)
      join(value, argument);
    else
      create(value, value.getType(), /*owned=*/true);
  }
}

/// True if the function returns in one place.
static bool hasOneReturn(FunctionOpInterface function) {
  unsigned count = 0;
  for (Block &block : function.getFunctionBody())
    count += !block.empty() && block.back().getNumSuccessors() == 0 &&
             block.back().hasTrait<OpTrait::ReturnLike>();
  return count <= 1;
}

void BufferSweep::visitReturn(Operation *op) {
  llvm::SmallDenseSet<BufferId> handedOver;
  bool onlyReturn = hasOneReturn(result.function);
  Block &entry = result.function.getFunctionBody().front();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isTensor(operand.get()))
      continue;
    Handover handover = classify(operand, handedOver);
    BufferId buffer = getBuffer(operand.get());
    auto argument = dyn_cast_if_present<BlockArgument>(
        buffer == kNoBuffer ? Value() : result.table[buffer].root);
    bool isArgument = argument && argument.getOwner() == &entry;
    // A returned argument is that argument; with several returns the caller
    // could not know which one it was.
    if (handover == Handover::Borrowed && isArgument && onlyReturn)
      continue;
    give(operand, handover == Handover::Owned ? buffer : copy(operand));
  }
}

//===----------------------------------------------------------------------===//
// Ops with regions
//===----------------------------------------------------------------------===//

namespace {
/// How a loop passes values around.
struct LoopShape {
  MutableArrayRef<OpOperand> inits;
  /// For each init, the arguments it becomes: one per region that sees it.
  SmallVector<SmallVector<BlockArgument, 2>> arguments;
};
} // namespace

static LoopShape getLoopShape(Operation *op) {
  LoopShape shape;
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    shape.inits = loop.getInitsMutable();
    for (BlockArgument argument : loop.getRegionIterArgs())
      shape.arguments.push_back({argument});
    return shape;
  }
  // A number of trips is no value that the body sees.
  std::optional<CarryingLoop> loop = getCarryingLoop(op);
  if (loop && loop->firstArgument != loop->firstInit) {
    shape.inits = op->getOpOperands().drop_front(loop->firstInit);
    for (unsigned i = 0, e = loop->size(); i < e; ++i)
      shape.arguments.push_back({loop->getArgument(i)});
    return shape;
  }
  // Loops of other dialects: every region sees all carried values.
  shape.inits = op->getOpOperands();
  for (unsigned i = 0, e = shape.inits.size(); i < e; ++i) {
    auto &arguments = shape.arguments.emplace_back();
    for (Region &region : op->getRegions())
      if (!region.empty() && region.getNumArguments() == e)
        arguments.push_back(region.getArgument(i));
  }
  return shape;
}

/// Loops of other dialects carry what their bodies only read as well, and hand
/// it on unchanged: such a value is the same memory before, in and after the
/// loop.
static bool isInvariant(Operation *op, unsigned index) {
  if (isa<LoopLikeOpInterface>(op) || op->getNumRegions() != 2)
    return false;
  Region &body = op->getRegion(1);
  if (!body.hasOneBlock() || body.front().empty() ||
      index >= body.getNumArguments())
    return false;
  Operation *terminator = &body.front().back();
  return terminator->getNumOperands() == body.getNumArguments() &&
         op->getNumResults() == body.getNumArguments() &&
         terminator->getOperand(index) == body.getArgument(index);
}

void BufferSweep::joinInvariant(OpOperand &init,
                                ArrayRef<BlockArgument> arguments) {
  if (virtuals.contains(init.get()))
    materializeOperand(init);
  BufferId buffer = getBuffer(init.get());
  if (buffer == kNoBuffer)
    return;
  for (BlockArgument argument : arguments)
    join(argument, buffer);
  join(init.getOwner()->getResult(init.getOperandNumber()), buffer);
  Operation *op = init.getOwner();
  result.held.push_back({buffer, order.getBegin(op), order.getEnd(op)});
}

void BufferSweep::enterRegions(Operation *op) {
  if (isBranchOp(op))
    return;
  bool known = order.getFacts(order.getBegin(op)).known;
  LoopShape shape = getLoopShape(op);
  llvm::SmallDenseSet<BufferId> handedOver;
  for (auto [init, arguments] : llvm::zip(shape.inits, shape.arguments)) {
    if (arguments.empty() || !known) {
      materializeOperand(init);
      continue;
    }
    if (isMemRef(init.get())) {
      for (BlockArgument argument : arguments)
        passBorrowed(init, argument);
      continue;
    }
    if (!isTensor(init.get()))
      continue;
    if (isInvariant(op, init.getOperandNumber())) {
      joinInvariant(init, arguments);
      continue;
    }
    handOver(init, handedOver);
    BufferId carried = create(arguments.front(), init.get().getType(), true);
    for (BlockArgument argument : ArrayRef(arguments).drop_front())
      join(argument, carried);
    // A condition in a region of its own does not end what it does not read.
    if (arguments.size() > 1) {
      auto [first, last] = order.getSpan(*arguments.front().getParentRegion());
      result.held.push_back({carried, first, last});
    }
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    for (BlockArgument argument : loop.getAfterArguments())
      if (isTensor(argument))
        create(argument, argument.getType(), /*owned=*/true);
}

void BufferSweep::visitTerminator(Operation *op) {
  Operation *parent = op->getParentOp();
  if (isa<BranchOpInterface>(op))
    return visitBlockBranch(op);
  if (parent == result.function.getOperation())
    return visitReturn(op);
  if (order.getEnd(op) != order.getBegin(op))
    return; // its regions hold the ops that matter (scf.forall)
  if (isBranchOp(parent))
    return visitBranchTerminator(op);
  // The condition region of a loop in other dialects only computes a flag.
  if (parent->getNumRegions() == 2 && !isa<LoopLikeOpInterface>(parent) &&
      op->getParentRegion() == &parent->getRegion(0))
    return;
  llvm::SmallDenseSet<BufferId> handedOver;
  for (OpOperand &operand : op->getOpOperands())
    if (isTensor(operand.get()) &&
        !isInvariant(parent, operand.getOperandNumber()))
      handOver(operand, handedOver);
}

void BufferSweep::visitBranchTerminator(Operation *op) {
  llvm::SmallDenseSet<BufferId> handedOver;
  for (OpOperand &operand : op->getOpOperands())
    if (isTensor(operand.get()))
      handovers[&operand] = classify(operand, handedOver);
}

/// The operands that may become result `index` of a branch op.
static SmallVector<OpOperand *> getYielded(Operation *op, unsigned index) {
  SmallVector<OpOperand *> yielded;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (!block.empty() && block.back().getNumSuccessors() == 0 &&
          index < block.back().getNumOperands())
        yielded.push_back(&block.back().getOpOperand(index));
  return yielded;
}

void BufferSweep::joinBranchResult(OpResult value) {
  SmallVector<OpOperand *> yielded =
      getYielded(value.getOwner(), value.getResultNumber());
  bool allBorrowed = llvm::all_of(yielded, [&](OpOperand *operand) {
    return isMemRef(value) || handovers.lookup(operand) == Handover::Borrowed;
  });
  if (!allBorrowed) {
    for (OpOperand *operand : yielded)
      give(*operand, handovers.lookup(operand) == Handover::Owned
                         ? getBuffer(operand->get())
                         : copy(*operand));
    create(value, value.getType(), /*owned=*/true);
    return;
  }
  BufferId first =
      yielded.empty() ? kNoBuffer : getBuffer(yielded.front()->get());
  if (first != kNoBuffer && llvm::all_of(yielded, [&](OpOperand *operand) {
        return getBuffer(operand->get()) == first;
      }))
    return join(value, first);
  for (OpOperand *operand : yielded)
    passBorrowed(*operand, value);
}

void BufferSweep::leaveRegions(Operation *op) {
  for (OpResult value : op->getResults()) {
    if (!isMemoryType(value.getType()) || getBuffer(value) != kNoBuffer)
      continue;
    if (isBranchOp(op)) {
      joinBranchResult(value);
      continue;
    }
    if (isTensor(value)) {
      create(value, value.getType(), /*owned=*/true);
      continue;
    }
    createAlias(value);
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      unsigned index = value.getResultNumber();
      if (index < loop.getInitsMutable().size())
        passBorrowed(loop.getInitsMutable()[index], value);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (!block.empty() && index < block.back().getNumOperands())
            passBorrowed(block.back().getOpOperand(index), value);
    }
  }
}
