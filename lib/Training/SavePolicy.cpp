//===- SavePolicy.cpp - What the forward pass keeps -----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradients read some values of the forward pass. Those that cheap ops
// compute can be computed again from others: what to keep is a minimum cut
// between the model's arguments and the gradients, at the cost of bytes.
//
//===----------------------------------------------------------------------===//

#include "MinCut.h"
#include "ReverseSweep.h"

#include "es/Analysis/StorageSize.h"
#include "es/Dialect/ES/IR/ES.h"
#include "es/OpModel/OpModel.h"

using namespace mlir;
using namespace mlir::es;

/// No gradient computes more ops than this again for one value: what would need
/// more is kept, so that the work stays in proportion to the program.
static constexpr unsigned kMostRepeated = 48;

/// Elementwise ops, movement, and sums: what compiled frameworks run a second
/// time. Products, lookups, random numbers and anything unknown they keep.
static bool isCheap(Operation *op) {
  OpFacts facts = getOpFacts(op);
  if (!facts.known || (op->getNumResults() != 1 && !isa<CompositeOp>(op)))
    return false;
  if (facts.results[0].kind == ResultKind::View)
    return true;
  switch (facts.opClass) {
  case OpClass::Elementwise:
  case OpClass::ElementwiseCostly:
  case OpClass::DataMovement:
  case OpClass::Reduction:
    return !isTableLookup(op) && !isSliceUpdate(op) && !isa<LossOp>(op);
  case OpClass::Generator:
    return op->getNumOperands() == 0 &&
           facts.results[0].kind != ResultKind::Constant;
  default:
    return false;
  }
}

/// What a kernel leaves for its gradient is kept for it.
static bool isCheap(OpResult result) {
  return result.getResultNumber() == 0 && isCheap(result.getOwner());
}

static uint64_t getBytes(Type type) {
  SizeOptions options;
  options.leadingDynamic = 1;
  llvm::Expected<uint64_t> bytes = getStorageBytes(type, options);
  if (bytes)
    return *bytes;
  llvm::consumeError(bytes.takeError());
  return MinCut::kNever;
}

/// The values that the gradients of `block` will read.
llvm::SetVector<Value> ReverseSweep::getRead(Block &block) const {
  llvm::SetVector<Value> read;
  for (Operation &op : block.without_terminator()) {
    if (!llvm::any_of(op.getResults(),
                      [&](Value result) { return isActive(result); }))
      continue;
    if (op.getNumRegions() && getOpFacts(&op).opClass == OpClass::ControlFlow) {
      // What a loop or branch reads of outside, it reads again in its gradient.
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (operand.getParentBlock() == &block)
            read.insert(operand);
      });
      continue;
    }
    DerivativeFacts facts = getDerivativeFacts(&op);
    for (OpOperand &operand : op.getOpOperands()) {
      const OperandGradient &gradient =
          facts.operands[operand.getOperandNumber()];
      if (!isActive(operand.get()) || !gradient.flows)
        continue;
      for (unsigned i : gradient.operands)
        read.insert(op.getOperand(i));
      for (unsigned i : gradient.results)
        read.insert(op.getResult(i));
    }
  }
  return read;
}

void ReverseSweep::chooseSaved(Block &block) {
  if (options.eager || options.savePolicy == SavePolicy::All)
    return;
  MinCut cut;
  llvm::DenseMap<Value, unsigned> nodes;
  SmallVector<Value> values;
  auto add = [&](Value value, uint64_t cost) {
    unsigned node = cut.addNode(cost);
    nodes[value] = node;
    values.push_back(value);
    return node;
  };
  // Arguments are there anyway.
  for (BlockArgument argument : block.getArguments())
    cut.addSource(add(argument, 0));
  for (Operation &op : block.without_terminator()) {
    OpFacts facts = getOpFacts(&op);
    for (OpResult result : op.getResults()) {
      bool cheap = isCheap(result);
      if (!isMemoryType(result.getType()))
        continue;
      ResultKind kind = facts.results[result.getResultNumber()].kind;
      bool isFree = kind == ResultKind::Constant || kind == ResultKind::Splat ||
                    kind == ResultKind::Undefined;
      unsigned node = add(result, isFree ? 0 : getBytes(result.getType()));
      bool hasOperands = false;
      if (cheap)
        for (Value operand : op.getOperands())
          if (auto it = nodes.find(operand); it != nodes.end()) {
            cut.addEdge(it->second, node);
            hasOperands = true;
          }
      if (!cheap || !hasOperands)
        cut.addSource(node);
    }
  }
  for (Value value : getRead(block))
    if (auto it = nodes.find(value); it != nodes.end())
      cut.addSink(it->second);
  std::vector<bool> saved = cut.solve();
  // Values come in program order, so that those of operands are known.
  llvm::DenseMap<Value, unsigned> work;
  for (auto [node, value] : llvm::enumerate(values)) {
    Operation *op = value.getDefiningOp();
    if (!op || saved[node] || !isCheap(cast<OpResult>(value)))
      continue;
    unsigned ops = 1;
    for (Value operand : op->getOperands())
      ops += work.lookup(operand);
    if (ops > kMostRepeated)
      continue;
    work[value] = ops;
    repeated.insert(value);
  }
}
