//===- Expansion.h - Gradients as executable IR -----------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What es.vjp, es.loss, es.composite and es.optimizer_step stand for, in
// linalg, tensor, arith and math. Each function fails with a diagnostic.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_TRAINING_EXPANSION_H
#define ES_LIB_TRAINING_EXPANSION_H

#include "es/Dialect/ES/IR/ES.h"

namespace mlir::es {

/// A tensor of zeros, in memory.
Value createZeros(OpBuilder &builder, Location loc, RankedTensorType type);

/// Gradients of structured ops and of elementwise ops on tensors.
FailureOr<Value> expandStructured(OpBuilder &builder, VjpOp op, unsigned index);

/// Gradients of tensor ops; nullopt if it is none.
std::optional<FailureOr<Value>> expandTensor(OpBuilder &builder, VjpOp op,
                                             unsigned index);

/// True if the value is the gradient of a slice that nothing else reads. Zeros
/// around it need not be added: `addToSlice` adds to that slice of `sum` alone,
/// which is what makes the gradient of a lookup take time in proportion to the
/// rows that are read instead of the table.
bool isSliceGradient(Value value);
Value addToSlice(OpBuilder &builder, Value sum, VjpOp vjp);

/// Losses and their gradients.
LogicalResult expandLoss(OpBuilder &builder, LossOp op);
FailureOr<Value> expandLossGradient(OpBuilder &builder, VjpOp op);

/// A composite is its body. Its gradient is that of the body, computed again
/// from what the composite keeps, with `es.vjp` ops of what it is made of.
LogicalResult expandComposite(OpBuilder &builder, CompositeOp op);
LogicalResult expandCompositeGradient(OpBuilder &builder, VjpOp op);

LogicalResult expandOptimizerStep(OpBuilder &builder, OptimizerStepOp op);

/// An elementwise computation: `body` gets the elements of `inputs` and then
/// those of `outputs`.
SmallVector<Value> createElementwise(
    OpBuilder &builder, Location loc, ValueRange inputs, ValueRange outputs,
    function_ref<SmallVector<Value>(OpBuilder &, ValueRange)> body);

} // namespace mlir::es

#endif // ES_LIB_TRAINING_EXPANSION_H
