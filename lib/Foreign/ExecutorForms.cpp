//===- ExecutorForms.cpp - Graphs and islands of TensorFlow ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `tf_executor` prints no result types: those of a graph are what it fetches,
// those of an island are what the op in it has, and a control token.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

using namespace mlir;
using namespace mlir::es;

static Type getControlType(OpReader &reader) {
  return OpaqueType::get(
      StringAttr::get(reader.getParser().getContext(), reader.getDialect()),
      "control");
}

/// The operands of the last op of the region, control tokens aside.
static void setResultsFromRegion(OpReader &reader) {
  Type control = getControlType(reader);
  Region &region = *reader.getState().regions.back();
  reader.sawArrow = true;
  if (region.empty() || region.front().empty())
    return;
  for (Type type : region.front().back().getOperandTypes())
    if (type != control)
      reader.results.push_back(type);
}

static ParseResult readGraph(OpReader &reader) {
  if (reader.readRegion({}))
    return failure();
  setResultsFromRegion(reader);
  return success();
}

/// `wraps "tf.X"(...) ...`: an island of one op.
static ParseResult readWrapped(OpReader &reader) {
  Block &block = reader.getState().addRegion()->emplaceBlock();
  Operation *op = reader.getParser().parseGenericOperation(&block, block.end());
  if (!op)
    return failure();
  OpBuilder builder(reader.getParser().getContext());
  builder.setInsertionPointToEnd(&block);
  OperationState yield(op->getLoc(), (reader.getDialect() + ".yield").str());
  yield.addOperands(op->getResults());
  builder.create(yield);
  return success();
}

/// `island[(%control, ...)] wraps op` or `island[(%control, ...)] {...}`
static ParseResult readIsland(OpReader &reader) {
  reader.lookupOperands = true;
  if (*reader.here() == '(' && reader.readGroup())
    return failure();
  if (reader.consume("wraps") ? readWrapped(reader) : reader.readRegion({}))
    return failure();
  setResultsFromRegion(reader);
  reader.results.push_back(getControlType(reader));
  return success();
}

void mlir::es::addExecutorForms(FormTable &table) {
  table["graph"] = {readGraph};
  table["island"] = {readIsland};
}
