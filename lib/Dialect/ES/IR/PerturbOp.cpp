//===- PerturbOp.cpp - The parameter of one member ------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriterOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace mlir::es;

static SmallVector<OpOperand *> getDestinations(PerturbOp op) {
  return {&op.getDestinationMutable()};
}

LogicalResult
PerturbOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                            ValueRange operands, DictionaryAttr attributes,
                            OpaqueProperties properties, RegionRange regions,
                            SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, *properties.as<Properties *>(),
                  regions);
  writer::appendTensors(adaptor.getDestination().getType(), types);
  return success();
}

LogicalResult PerturbOp::verify() {
  if (getParam().getTrainability() == Trainability::Frozen)
    return emitOpError() << "(N1) expects a trainable parameter, "
                         << getParam().getName() << " is frozen";
  Type element = getElementTypeOrSelf(getParameter().getType());
  if (!writer::isStorageElement(element))
    return emitOpError() << "(N2) expects elements of type f32, f64, bf16, "
                            "f16, i8, i16 or i32, got "
                         << element;
  // Buffers may differ in layout.
  auto parameter = cast<ShapedType>(getParameter().getType());
  auto destination = cast<ShapedType>(getDestination().getType());
  if (isa<TensorType>(parameter) != isa<TensorType>(destination) ||
      parameter.getElementType() != destination.getElementType() ||
      failed(verifyCompatibleShape(parameter, destination)))
    return emitOpError() << "(N3) expects a destination of type " << parameter
                         << ", got " << destination;
  if ((getAt() || getRows()) && (getRank() || (getAt() && getRows())))
    return emitOpError() << "(N4) expects one of 'at' and 'rows', and no rank";
  if (Value rows = getRows()) {
    auto type = cast<ShapedType>(rows.getType());
    if (!type.getElementType().isSignlessInteger() &&
        !type.getElementType().isIndex())
      return emitOpError() << "(N5) expects rows by whole numbers, got "
                           << type;
    if (type.getRank() > parameter.getRank() ||
        failed(verifyCompatibleShape(
            type.getShape(), parameter.getShape().take_front(type.getRank()))))
      return emitOpError() << "(N5) expects rows whose shape begins that of "
                           << parameter << ", got " << type;
  }
  // A part says nothing of the whole.
  if (getAt() || getRows())
    return success();
  return getParam().verifyFor(parameter, [&] { return emitOpError(); });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void PerturbOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  writer::getEffects(*this, getDestinations(*this), false, effects);
}

/// In place, the parameter is the destination, which then is read.
static bool isInPlace(PerturbOp op) {
  return op.getParameter() == op.getDestination();
}

bool PerturbOp::bufferizesToMemoryRead(OpOperand &operand,
                                       const bufferization::AnalysisState &) {
  if (isInPlace(*this) && &operand == &getParameterMutable())
    return false;
  return &operand != &getDestinationMutable() || isInPlace(*this);
}

bool PerturbOp::bufferizesToMemoryWrite(OpOperand &operand,
                                        const bufferization::AnalysisState &) {
  return llvm::is_contained(getDestinations(*this), &operand);
}

bufferization::AliasingValueList
PerturbOp::getAliasingValues(OpOperand &operand,
                             const bufferization::AnalysisState &) {
  return writer::getAliasingValues(*this, getDestinations(*this), operand);
}

LogicalResult
PerturbOp::bufferize(RewriterBase &rewriter,
                     const bufferization::BufferizationOptions &options,
                     bufferization::BufferizationState &state) {
  return writer::bufferize(*this, getDestinations(*this), rewriter, options,
                           state);
}
