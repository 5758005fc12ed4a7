//===- WriterOps.h - Ops that write operands --------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What es.shape_fitness, es.perturb and es.update share: their tensor results
// are the destinations they write, in order; on memrefs they have none.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_DIALECT_ES_IR_WRITEROPS_H
#define ES_LIB_DIALECT_ES_IR_WRITEROPS_H

#include "es/Dialect/ES/IR/ES.h"

namespace mlir::es::writer {

/// The result that stands for destination `operand`, or null.
Value getTiedResult(Operation *op, ArrayRef<OpOperand *> destinations,
                    OpOperand &operand);

bufferization::AliasingValueList
getAliasingValues(Operation *op, ArrayRef<OpOperand *> destinations,
                  OpOperand &operand);

/// The same op on the buffers of its operands.
LogicalResult bufferize(Operation *op, ArrayRef<OpOperand *> destinations,
                        RewriterBase &rewriter,
                        const bufferization::BufferizationOptions &options,
                        bufferization::BufferizationState &state);

/// On memrefs: reads of every operand that is not only written, writes of the
/// destinations.
void getEffects(
    Operation *op, ArrayRef<OpOperand *> destinations, bool readsDestinations,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects);

/// Appends the types among `types` that are tensors.
void appendTensors(TypeRange types, SmallVectorImpl<Type> &result);

/// True if noise and update are defined for elements of this type.
bool isStorageElement(Type type);

} // namespace mlir::es::writer

#endif // ES_LIB_DIALECT_ES_IR_WRITEROPS_H
