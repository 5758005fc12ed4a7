//===- ShardingOps.cpp - Where a program states shardings -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops and attributes of Shardy, and those of XLA that mean the same.
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/CustomCalls.h"
#include "es/OpModel/RoleFacts.h"
#include "es/OpModel/Sharding.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool mlir::es::isShardyOp(Operation *op) {
  return op->getName().getDialectNamespace() == "sdy";
}

/// The arguments of the one block are the operands.
static bool hasBodyOnOperands(Operation *op) {
  return op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock() &&
         op->getRegion(0).getNumArguments() == op->getNumOperands();
}

bool mlir::es::isManualComputation(Operation *op) {
  return op->getName().getStringRef() == "sdy.manual_computation" &&
         hasBodyOnOperands(op);
}

bool mlir::es::isNamedComputation(Operation *op) {
  return op->getName().getStringRef() == "sdy.named_computation" &&
         hasBodyOnOperands(op) &&
         op->getRegion(0).front().getTerminator()->getNumOperands() ==
             op->getNumResults();
}

bool mlir::es::isShardingConstraint(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "sdy.sharding_constraint" || name == "sdy.reshard" ||
         getCallTarget(op) == "Sharding";
}

Value mlir::es::createShardingConstraint(OpBuilder &builder, Location loc,
                                         Value value, Attribute sharding) {
  OperationState state(loc, "sdy.sharding_constraint", value, value.getType());
  state.addAttribute("sharding", sharding);
  return builder.create(state)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attribute mlir::es::getShardingAttr(DictionaryAttr attributes) {
  if (!attributes)
    return nullptr;
  if (Attribute attribute = attributes.get("sdy.sharding"))
    return attribute;
  return attributes.get("mhlo.sharding");
}

Attribute mlir::es::getInShardings(Operation *op) {
  return op->getAttr("in_shardings");
}

Attribute mlir::es::getOutShardings(Operation *op) {
  return op->getAttr("out_shardings");
}

Attribute mlir::es::getResultShardings(Operation *op) {
  if (isShardyOp(op))
    for (StringRef name : {"out_shardings", "out_sharding", "sharding"})
      if (Attribute own = op->getAttr(name))
        return own;
  return getShardingAttr(op->getAttrDictionary());
}

std::optional<Sharding> mlir::es::getStatedSharding(OpResult result,
                                                    ShardingReader &reader) {
  Operation *op = result.getOwner();
  unsigned rank = getRank(result);
  if (isManualComputation(op))
    return reader.read(getOutShardings(op), result.getResultNumber(), rank);
  if (isShardingConstraint(op))
    if (Attribute attribute = op->getAttr("sharding"))
      return reader.read(attribute, 0, rank);
  // What comes out of a collective of Shardy.
  if (Attribute attribute = op->getAttr("out_sharding"))
    return reader.read(attribute, 0, rank);
  if (Attribute attribute = getShardingAttr(op->getAttrDictionary()))
    return reader.read(attribute, result.getResultNumber(), rank);
  return std::nullopt;
}
