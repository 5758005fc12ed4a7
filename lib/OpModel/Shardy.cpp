//===- Shardy.cpp - The sdy dialect ---------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A constraint says how a value is split and moves nothing by itself; what a
// collective gives is a buffer.
//
//===----------------------------------------------------------------------===//

#include "NamedOps.h"

#include "es/OpModel/CustomCalls.h"
#include "es/OpModel/Sharding.h"

using namespace mlir;
using namespace mlir::es;

/// XLA's constraints are calls: `custom_call @Sharding`, and those around what
/// is written for one device, where nothing changes on that device.
static bool isShardingCall(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1 ||
      op->getOperand(0).getType() != op->getResult(0).getType())
    return false;
  StringRef name = getCallTarget(op);
  return name == "Sharding" || name == "SPMDFullToShardShape" ||
         name == "SPMDShardToFullShape";
}

std::optional<OpFacts> mlir::es::getShardyFacts(Operation *op) {
  if (isShardingCall(op))
    return getFamilyFacts(op, Family::View);
  if (!isShardyOp(op))
    return std::nullopt;
  static const FamilyTable table = makeFamilyTable({
      {Family::View, "sharding_constraint propagation_barrier reshard "
                     "data_flow_edge func_data_flow_edge"},
      {Family::Materializing,
       "all_gather all_reduce all_slice all_to_all collective_permute "
       "reduce_scatter sharded_to_unreduced replicated_to_unreduced"},
      {Family::Query, "mesh sharding_group"},
      {Family::Constant, "constant"},
      {Family::Terminator, "return"},
  });
  auto it = table.find(op->getName().stripDialect());
  if (it == table.end())
    return std::nullopt;
  return getFamilyFacts(op, it->second);
}
