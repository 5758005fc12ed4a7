//===- ShardingOps.cpp - Parts of tensors on devices ----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::es;

RankedTensorType mlir::es::getShardType(RankedTensorType whole,
                                        int64_t devices) {
  int64_t elements = llvm::divideCeil(whole.getNumElements(), devices);
  return RankedTensorType::get({elements}, whole.getElementType());
}

static LogicalResult verifyShard(Operation *op, RankedTensorType whole,
                                 RankedTensorType shard, int64_t devices) {
  if (!whole.hasStaticShape() || getShardType(whole, devices) == shard)
    return success();
  return op->emitOpError() << "(S1) expects a shard of type "
                           << getShardType(whole, devices) << ", got " << shard;
}

LogicalResult ShardOp::verify() {
  return verifyShard(*this, getSource().getType(), getResult().getType(),
                     getDevices());
}

LogicalResult AllGatherOp::verify() {
  return verifyShard(*this, getResult().getType(), getSource().getType(),
                     getDevices());
}

LogicalResult ReduceScatterOp::verify() {
  return verifyShard(*this, getSource().getType(), getResult().getType(),
                     getDevices());
}
