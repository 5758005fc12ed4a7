//===- WriterOps.cpp - Ops that write operands ----------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriterOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace mlir::es;

Value writer::getTiedResult(Operation *op, ArrayRef<OpOperand *> destinations,
                            OpOperand &operand) {
  unsigned result = 0;
  for (OpOperand *destination : destinations) {
    bool isTensor = isa<TensorType>(destination->get().getType());
    if (destination == &operand)
      return isTensor ? op->getResult(result) : Value();
    result += isTensor;
  }
  return Value();
}

bufferization::AliasingValueList
writer::getAliasingValues(Operation *op, ArrayRef<OpOperand *> destinations,
                          OpOperand &operand) {
  if (Value result = getTiedResult(op, destinations, operand))
    return {{result, bufferization::BufferRelation::Equivalent}};
  return {};
}

LogicalResult
writer::bufferize(Operation *op, ArrayRef<OpOperand *> destinations,
                  RewriterBase &rewriter,
                  const bufferization::BufferizationOptions &options,
                  bufferization::BufferizationState &state) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<TensorType>(operand.getType())) {
      operands.push_back(operand);
      continue;
    }
    FailureOr<Value> buffer =
        bufferization::getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    operands.push_back(*buffer);
  }
  SmallVector<Type> scalars;
  for (Type type : op->getResultTypes())
    if (!isa<TensorType>(type))
      scalars.push_back(type);
  OperationState created(op->getLoc(), op->getName(), operands, scalars,
                         op->getAttrs());
  Operation *onBuffers = rewriter.create(created);
  SmallVector<Value> replacements;
  for (OpOperand *destination : destinations)
    if (isa<TensorType>(destination->get().getType()))
      replacements.push_back(operands[destination->getOperandNumber()]);
  llvm::append_range(replacements, onBuffers->getResults());
  bufferization::replaceOpWithBufferizedValues(rewriter, op, replacements);
  return success();
}

void writer::getEffects(
    Operation *op, ArrayRef<OpOperand *> destinations, bool readsDestinations,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool written = llvm::is_contained(destinations, &operand);
    if (!written || readsDestinations)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (written)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

void writer::appendTensors(TypeRange types, SmallVectorImpl<Type> &result) {
  for (Type type : types)
    if (isa<TensorType>(type))
      result.push_back(type);
}

bool writer::isStorageElement(Type type) {
  return isa<Float32Type, Float64Type, BFloat16Type, Float16Type>(type) ||
         type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
         type.isSignlessInteger(32);
}
