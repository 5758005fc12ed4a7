//===- ProgramOrder.cpp - Program points of a function --------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/ProgramOrder.h"
#include "es/OpModel/OpModel.h"

using namespace mlir;
using namespace mlir::es;

/// A loop, a branch, a terminator that holds ops, or an op nobody describes.
static bool runsRegions(Operation *op, const OpFacts &facts) {
  if (op->getNumRegions() == 0)
    return false;
  return op->hasTrait<OpTrait::IsTerminator>() ||
         facts.opClass == OpClass::ControlFlow || !facts.known;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static unsigned getHash(const OpFacts &facts) {
  llvm::hash_code hash = llvm::hash_combine(
      facts.opClass, facts.known, facts.workspaceBytes, facts.results.size(),
      llvm::hash_combine_range(facts.operands));
  for (ResultFact result : facts.results)
    hash = llvm::hash_combine(hash, result.kind, result.source);
  return size_t(hash) >> 34; // the largest numbers are no keys
}

unsigned ProgramOrder::intern(OpFacts facts) {
  if (!factsOf.empty() && distinctFacts[factsOf.back()] == facts)
    return factsOf.back();
  SmallVector<unsigned, 1> &candidates = factsByHash[getHash(facts)];
  for (unsigned index : candidates)
    if (distinctFacts[index] == facts)
      return index;
  candidates.push_back(distinctFacts.size());
  distinctFacts.push_back(std::move(facts));
  return distinctFacts.size() - 1;
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

void ProgramOrder::addBlock(Block *block) {
  if (block->getNumArguments() == 0)
    return;
  arguments[block] = {unsigned(values.size()), block->getNumArguments()};
  llvm::append_range(values, block->getArguments());
}

void ProgramOrder::addPoint(Operation *op, bool isEnd) {
  points.push_back({op, isEnd});
  factsOf.push_back(intern(getOpFacts(op)));
  firstResults.push_back(values.size());
  if (!isEnd)
    llvm::append_range(values, op->getResults());
}

namespace {
/// Where an explicit walk over nested blocks stands.
struct Cursor {
  Operation *parent;
  unsigned region;
  Region::iterator block;
  Block::iterator op;
};
} // namespace

void ProgramOrder::walk(FunctionOpInterface func) {
  SmallVector<Cursor> stack;
  auto enterBlock = [&](Cursor &cursor) {
    if (cursor.block == cursor.parent->getRegion(cursor.region).end())
      return;
    cursor.op = cursor.block->begin();
    addBlock(&*cursor.block);
  };
  auto enter = [&](Operation *parent) {
    stack.push_back({parent, 0, parent->getRegion(0).begin(), {}});
    enterBlock(stack.back());
  };
  enter(func);
  while (!stack.empty()) {
    Cursor &cursor = stack.back();
    if (cursor.block == cursor.parent->getRegion(cursor.region).end()) {
      if (++cursor.region < cursor.parent->getNumRegions()) {
        cursor.block = cursor.parent->getRegion(cursor.region).begin();
        enterBlock(cursor);
        continue;
      }
      Operation *parent = cursor.parent;
      stack.pop_back();
      if (!stack.empty()) {
        ends[parent] = points.size();
        addPoint(parent, /*isEnd=*/true);
      }
      continue;
    }
    if (cursor.op == cursor.block->end()) {
      ++cursor.block;
      enterBlock(cursor);
      continue;
    }
    Operation *op = &*cursor.op++;
    addPoint(op, /*isEnd=*/false);
    if (runsRegions(op, getFacts(points.size() - 1)))
      enter(op);
  }
}

/// Operands may be defined later: blocks are in any order.
void ProgramOrder::numberOperands() {
  firstOperands.reserve(points.size() + 1);
  for (unsigned point = 0, e = points.size(); point < e; ++point) {
    firstOperands.push_back(operands.size());
    if (!isEnd(point))
      for (Value operand : getOp(point)->getOperands())
        operands.push_back(getNumber(operand));
  }
  firstOperands.push_back(operands.size());
}

ProgramOrder::ProgramOrder(FunctionOpInterface func) {
  walk(func);
  begins.reserve(points.size());
  for (unsigned point = 0, e = points.size(); point < e; ++point)
    if (!isEnd(point))
      begins[getOp(point)] = point;
  numberOperands();
  factsByHash.clear();
}

ValueNumber ProgramOrder::getNumber(Value value) const {
  if (auto result = dyn_cast<OpResult>(value)) {
    auto it = begins.find(result.getOwner());
    return it == begins.end()
               ? kNoNumber
               : firstResults[it->second] + result.getResultNumber();
  }
  auto argument = cast<BlockArgument>(value);
  auto it = arguments.find(argument.getOwner());
  return it == arguments.end() || argument.getArgNumber() >= it->second.count
             ? kNoNumber
             : it->second.first + argument.getArgNumber();
}

unsigned ProgramOrder::getEnd(Operation *op) const {
  if (op->getNumRegions() == 0)
    return getBegin(op);
  auto it = ends.find(op);
  return it == ends.end() ? getBegin(op) : it->second;
}

Operation *ProgramOrder::getPointOp(Operation *op) const {
  while (op && !begins.contains(op))
    op = op->getParentOp();
  return op;
}

unsigned ProgramOrder::getBlockBegin(Block *block) const {
  if (!block->empty())
    return getBegin(&block->front());
  Operation *parent = block->getParentOp();
  return contains(parent) ? getBegin(parent) : 0;
}

unsigned ProgramOrder::getBlockEnd(Block *block) const {
  if (!block->empty())
    return getEnd(&block->back());
  return getBlockBegin(block);
}

std::pair<unsigned, unsigned> ProgramOrder::getSpan(Region &region) const {
  return {getBlockBegin(&region.front()), getBlockEnd(&region.back())};
}
