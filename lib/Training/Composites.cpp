//===- Composites.cpp - Kernels for what several ops compute --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the last op of a block to the first, so that the longest pattern is
// found before what it is made of.
//
//===----------------------------------------------------------------------===//

#include "Composites.h"
#include "CompositeMatcher.h"

#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::es;

/// Blocks whose ops are steps of the program: not the bodies of structured ops.
static SmallVector<Block *> getProgramBlocks(FunctionOpInterface func) {
  SmallVector<Block *> blocks;
  SmallVector<Region *> worklist = {&func.getFunctionBody()};
  while (!worklist.empty()) {
    for (Block &block : *worklist.pop_back_val()) {
      blocks.push_back(&block);
      for (Operation &op : block)
        if (op.getNumRegions() &&
            getOpFacts(&op).opClass == OpClass::ControlFlow)
          for (Region &region : op.getRegions())
            worklist.push_back(&region);
    }
  }
  return blocks;
}

static bool isFloatTensor(Operation &op) {
  if (op.getNumResults() != 1 || op.getNumOperands() == 0)
    return false;
  ShapedType type = getCarriedShape(op.getResult(0).getType());
  return type && type.hasRank() && isa<FloatType>(type.getElementType());
}

/// The ops move into the body of one that stands where the last of them does.
static void replaceByComposite(CompositeMatcher &match, Operation *root) {
  OpBuilder builder(root);
  SmallVector<Type> types = {root->getResult(0).getType()};
  llvm::append_range(types, match.statistics);
  auto composite = CompositeOp::create(builder, root->getLoc(), types,
                                       match.kind, match.inputs);
  Block *body = builder.createBlock(&composite.getBody());
  IRMapping mapping;
  for (Value input : match.inputs)
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  for (Operation *op : match.ops)
    builder.clone(*op, mapping);
  root->getResult(0).replaceAllUsesWith(composite.getResult(0));
  // Numbers stay where they are: they take no memory.
  for (Operation *op : llvm::reverse(match.ops))
    if (op->use_empty() && op->getNumOperands() > 0)
      op->erase();
}

CompositeSummary mlir::es::formComposites(FunctionOpInterface func) {
  CompositeSummary summary;
  for (Block *block : getProgramBlocks(func)) {
    SmallVector<Operation *> ops;
    for (Operation &op : *block)
      ops.push_back(&op);
    llvm::DenseSet<Operation *> gone;
    for (Operation *op : llvm::reverse(ops)) {
      if (gone.contains(op))
        continue;
      if (StringRef kind = getCompositeKind(op); !kind.empty()) {
        ++summary.recognized[kind];
        continue;
      }
      if (!isFloatTensor(*op))
        continue;
      CompositeMatcher match(op);
      if (!match.matchAny()) {
        if (!match.reasonLeft.empty())
          ++summary.attentionsLeft[match.reasonLeft];
        continue;
      }
      // What others read as well stays as it is.
      for (Operation *inner : match.ops)
        gone.insert(inner);
      ++summary.recognized[stringifyCompositeKind(match.kind)];
      replaceByComposite(match, op);
    }
  }
  return summary;
}

void mlir::es::maskRelus(FunctionOpInterface func) {
  for (Block *block : getProgramBlocks(func)) {
    SmallVector<Operation *> ops;
    for (Operation &op : *block)
      if (isFloatTensor(op))
        ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops)) {
      CompositeMatcher match(op);
      if (match.matchRelu())
        replaceByComposite(match, op);
    }
  }
}
