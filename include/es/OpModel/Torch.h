//===- Torch.h - Operators that PyTorch runs as several ---------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where PyTorch, op by op, has no gradient for an operator but for those that
// it is made of, the eager memory model counts those.
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_TORCH_H
#define ES_OPMODEL_TORCH_H

#include "mlir/IR/Builders.h"

namespace mlir::es {

/// True if `op` is of PyTorch's dialect.
bool isTorchOp(Operation *op);

/// If PyTorch, op by op, runs several operators for `op` where a gradient is
/// wanted, puts those in its place.
bool splitTorchOp(Operation *op, function_ref<bool(Value)> isTrained);

/// The loss of class labels, by the two operators that PyTorch has for it.
Value createClassLoss(OpBuilder &builder, Location loc, Value logits,
                      ValueRange labels, Type lossType,
                      ArrayRef<NamedAttribute> attrs);

} // namespace mlir::es

#endif // ES_OPMODEL_TORCH_H
