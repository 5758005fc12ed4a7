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
static bool runsRegions(Operation *op) {
  if (op->getNumRegions() == 0)
    return false;
  if (op->hasTrait<OpTrait::IsTerminator>())
    return true;
  OpFacts facts = getOpFacts(op);
  return facts.opClass == OpClass::ControlFlow || !facts.known;
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

ProgramOrder::ProgramOrder(FunctionOpInterface func) {
  SmallVector<Cursor> stack;
  auto enter = [&](Operation *parent) {
    Region &region = parent->getRegion(0);
    Region::iterator block = region.begin();
    Block::iterator op =
        block == region.end() ? Block::iterator() : block->begin();
    stack.push_back({parent, 0, block, op});
  };
  enter(func);
  while (!stack.empty()) {
    Cursor &cursor = stack.back();
    Region &region = cursor.parent->getRegion(cursor.region);
    if (cursor.block == region.end()) {
      if (++cursor.region < cursor.parent->getNumRegions()) {
        cursor.block = cursor.parent->getRegion(cursor.region).begin();
        if (cursor.block != cursor.parent->getRegion(cursor.region).end())
          cursor.op = cursor.block->begin();
        continue;
      }
      Operation *parent = cursor.parent;
      stack.pop_back();
      if (!stack.empty()) {
        ends[parent] = points.size();
        points.push_back({parent, true});
      }
      continue;
    }
    if (cursor.op == cursor.block->end()) {
      if (++cursor.block != region.end())
        cursor.op = cursor.block->begin();
      continue;
    }
    Operation *op = &*cursor.op++;
    begins[op] = points.size();
    points.push_back({op, false});
    if (runsRegions(op))
      enter(op);
  }
}

unsigned ProgramOrder::getEnd(Operation *op) const {
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
