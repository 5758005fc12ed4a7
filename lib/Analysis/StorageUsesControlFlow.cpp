//===- StorageUsesControlFlow.cpp - Storages in loops and callees ---------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop-carried value that every iteration hands on unchanged is the storage
// it started as. An argument of a callee is all the storages that are passed
// for it, if no call passes a computed value.
//
//===----------------------------------------------------------------------===//

#include "StorageUses.h"
#include "es/OpModel/OpModel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// scf.while: the values before and after the condition may differ in number.
static void forEachInvariant(scf::WhileOp loop,
                             function_ref<void(Value, Value)> alias) {
  Block::BlockArgListType before = loop.getBeforeArguments();
  Block::BlockArgListType after = loop.getAfterArguments();
  auto condition =
      dyn_cast<scf::ConditionOp>(loop.getBeforeBody()->getTerminator());
  auto yield = dyn_cast<scf::YieldOp>(loop.getAfterBody()->getTerminator());
  if (!condition || !yield)
    return;
  for (auto [index, yielded] : llvm::enumerate(yield.getOperands())) {
    auto argument = dyn_cast<BlockArgument>(yielded);
    if (!argument || argument.getOwner() != loop.getAfterBody())
      continue;
    unsigned position = argument.getArgNumber();
    if (condition.getArgs()[position] != before[index])
      continue;
    Value init = loop.getInits()[index];
    alias(before[index], init);
    alias(after[position], init);
    alias(loop.getResult(position), init);
  }
}

/// Loops of other dialects that carry all their operands through every region:
/// stablehlo.while, tosa.while_loop.
static void forEachInvariant(Operation *loop,
                             function_ref<void(Value, Value)> alias) {
  if (loop->getNumResults() != loop->getNumOperands())
    return;
  unsigned count = loop->getNumOperands();
  for (Region &region : loop->getRegions())
    if (!region.hasOneBlock() || region.getNumArguments() != count ||
        region.front().empty())
      return;
  Block &body = loop->getRegion(1).front();
  if (body.back().getNumOperands() != count)
    return;
  for (unsigned i = 0; i < count; ++i) {
    if (body.back().getOperand(i) != body.getArgument(i))
      continue;
    for (Region &region : loop->getRegions())
      alias(region.getArgument(i), loop->getOperand(i));
    alias(loop->getResult(i), loop->getOperand(i));
  }
}

void StorageUses::visitLoop(Operation *op) {
  auto alias = [&](Value value, Value source) { addAlias(value, source); };
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return forEachInvariant(loop, alias);
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop) {
    if (op->getNumRegions() == 2 &&
        getOpFacts(op).opClass == OpClass::ControlFlow && !isBranchOp(op))
      forEachInvariant(op, alias);
    return;
  }
  std::optional<ResultRange> results = loop.getLoopResults();
  auto arguments = loop.getRegionIterArgs();
  auto inits = loop.getInits();
  ValueRange yielded = loop.getYieldedValues();
  if (!results || yielded.size() != arguments.size() ||
      results->size() != arguments.size() || inits.size() != arguments.size())
    return;
  for (unsigned i = 0, e = arguments.size(); i < e; ++i)
    if (yielded[i] == arguments[i]) {
      addAlias(arguments[i], inits[i]);
      addAlias((*results)[i], inits[i]);
    }
}

//===----------------------------------------------------------------------===//
// Callees
//===----------------------------------------------------------------------===//

static FunctionOpInterface getCallee(CallOpInterface call,
                                     SymbolTableCollection &symbols) {
  auto callee = dyn_cast_if_present<FunctionOpInterface>(
      call.resolveCallableInTable(&symbols));
  return callee && !callee.isExternal() ? callee : nullptr;
}

/// Reverse post-order over the calls, with an explicit stack.
void StorageUses::sortCallersFirst() {
  unsigned numValues = 0;
  struct Frame {
    FunctionOpInterface func;
    SmallVector<FunctionOpInterface> callees;
  };
  llvm::SmallPtrSet<Operation *, 16> seen;
  std::vector<Frame> stack;
  auto enter = [&](FunctionOpInterface next) {
    if (!seen.insert(next).second)
      return;
    Frame frame{next, {}};
    next.getFunctionBody().walk([&](Operation *op) {
      numValues +=
          op->getNumResults() == 1 && isMemoryType(op->getResult(0).getType());
      if (auto call = dyn_cast<CallOpInterface>(op))
        if (FunctionOpInterface callee = getCallee(call, symbols))
          frame.callees.push_back(callee);
    });
    stack.push_back(std::move(frame));
  };
  enter(func);
  while (!stack.empty()) {
    if (!stack.back().callees.empty()) {
      enter(stack.back().callees.pop_back_val());
      continue;
    }
    order.push_back(stack.back().func);
    stack.pop_back();
  }
  nodeOf.reserve(numValues);
  nodes.reserve(numValues);
  std::reverse(order.begin(), order.end());
  for (auto [index, next] : llvm::enumerate(order))
    positions[next] = index;
}

void StorageUses::visitCall(CallOpInterface call) {
  FunctionOpInterface callee = getCallee(call, symbols);
  if (!callee)
    return;
  FunctionOpInterface caller = call->getParentOfType<FunctionOpInterface>();
  SmallVector<Passed> &arguments = passed[callee];
  arguments.resize(callee.getNumArguments());
  // A recursive call: what it passes is not known yet.
  bool isBackward = positions.lookup(callee) <= positions.lookup(caller);
  for (auto [index, operand] : llvm::enumerate(call.getArgOperands())) {
    if (index >= arguments.size())
      break;
    auto it = nodeOf.find(operand);
    if (it == nodeOf.end() || isBackward)
      arguments[index].isComputed = true;
    else
      arguments[index].nodes.push_back(it->second);
  }
}

void StorageUses::visitFunction(FunctionOpInterface callee) {
  auto it = passed.find(callee);
  for (BlockArgument argument : callee.getArguments()) {
    if (!isMemoryType(argument.getType()))
      continue;
    if (callee == func) {
      addRoot(argument);
      continue;
    }
    if (it == passed.end() || argument.getArgNumber() >= it->second.size())
      continue;
    Passed &arguments = it->second[argument.getArgNumber()];
    if (arguments.isComputed || arguments.nodes.empty())
      continue;
    Node node;
    for (unsigned source : arguments.nodes) {
      if (nodes[source].root == kNoRoot)
        continue;
      if (node.root == kNoRoot)
        node.root = nodes[source].root;
      node.isExact &= nodes[source].isExact;
      addSource(node, source);
    }
    nodeOf[argument] = nodes.size();
    nodes.push_back(node);
  }
  callee.getFunctionBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { visit(op); });
}

//===----------------------------------------------------------------------===//
// Everything
//===----------------------------------------------------------------------===//

void StorageUses::propagate() {
  for (unsigned i = nodes.size(); i-- > 0;)
    for (unsigned source :
         ArrayRef(sources).slice(nodes[i].firstSource, nodes[i].numSources))
      nodes[source].evidence |= nodes[i].evidence;
  for (auto [index, root] : llvm::enumerate(roots))
    root.evidence = nodes[rootNodes[index]].evidence;
}

void StorageUses::run() {
  sortCallersFirst();
  for (FunctionOpInterface next : order)
    visitFunction(next);
  propagate();
}
