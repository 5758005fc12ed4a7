//===- PerturbFactorsOp.cpp - The low-rank noise of one member ------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriterOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace mlir::es;

static SmallVector<OpOperand *> getDestinations(PerturbFactorsOp op) {
  return {&op.getLeftMutable(), &op.getRightMutable()};
}

LogicalResult PerturbFactorsOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, *properties.as<Properties *>(),
                  regions);
  writer::appendTensors(
      {adaptor.getLeft().getType(), adaptor.getRight().getType()}, types);
  return success();
}

LogicalResult PerturbFactorsOp::verify() {
  if (getParam().getTrainability() == Trainability::Frozen)
    return emitOpError() << "(L1) expects a trainable parameter, "
                         << getParam().getName() << " is frozen";
  auto left = cast<ShapedType>(getLeft().getType());
  auto right = cast<ShapedType>(getRight().getType());
  if (left.getRank() != 2 || right.getRank() != 2 ||
      left.getDimSize(0) != right.getDimSize(0) ||
      left.getElementType() != right.getElementType() ||
      isa<TensorType>(left) != isa<TensorType>(right) ||
      !isa<FloatType>(left.getElementType()) ||
      !writer::isStorageElement(left.getElementType()))
    return emitOpError() << "(L2) expects two matrices of f32, f64, bf16 or "
                            "f16 with as many rows, got "
                         << left << " and " << right;
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void PerturbFactorsOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  writer::getEffects(*this, getDestinations(*this), false, effects);
}

bool PerturbFactorsOp::bufferizesToMemoryRead(
    OpOperand &, const bufferization::AnalysisState &) {
  return false;
}

bool PerturbFactorsOp::bufferizesToMemoryWrite(
    OpOperand &operand, const bufferization::AnalysisState &) {
  return llvm::is_contained(getDestinations(*this), &operand);
}

bufferization::AliasingValueList
PerturbFactorsOp::getAliasingValues(OpOperand &operand,
                                    const bufferization::AnalysisState &) {
  return writer::getAliasingValues(*this, getDestinations(*this), operand);
}

LogicalResult
PerturbFactorsOp::bufferize(RewriterBase &rewriter,
                            const bufferization::BufferizationOptions &options,
                            bufferization::BufferizationState &state) {
  return writer::bufferize(*this, getDestinations(*this), rewriter, options,
                           state);
}
