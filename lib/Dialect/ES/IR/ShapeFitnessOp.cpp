//===- ShapeFitnessOp.cpp - From fitness to coefficients ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriterOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace mlir::es;

static SmallVector<OpOperand *> getDestinations(ShapeFitnessOp op) {
  return {&op.getDestinationMutable()};
}

LogicalResult ShapeFitnessOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location>, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, *properties.as<Properties *>(),
                  regions);
  writer::appendTensors(adaptor.getDestination().getType(), types);
  types.push_back(IntegerType::get(context, 64));
  types.push_back(Float64Type::get(context));
  return success();
}

LogicalResult ShapeFitnessOp::verify() {
  int64_t members = cast<ShapedType>(getFitness().getType()).getDimSize(0);
  int64_t pairs = cast<ShapedType>(getDestination().getType()).getDimSize(0);
  if (getInteger() && getShaping() != Shaping::centered_rank)
    return emitOpError() << "(F3) expects 'integer' with 'centered_rank' only";
  if (ShapedType::isDynamic(members))
    return success();
  if (getAntithetic() && members % 2)
    return emitOpError() << "(F1) expects an even number of members with "
                            "'antithetic', got "
                         << members;
  int64_t expected = getAntithetic() ? members / 2 : members;
  if (!ShapedType::isDynamic(pairs) && pairs != expected)
    return emitOpError() << "(F2) expects " << expected
                         << " coefficients, one a pair, got " << pairs;
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void ShapeFitnessOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  writer::getEffects(*this, getDestinations(*this), false, effects);
}

bool ShapeFitnessOp::bufferizesToMemoryRead(
    OpOperand &operand, const bufferization::AnalysisState &) {
  return &operand == &getFitnessMutable();
}

bool ShapeFitnessOp::bufferizesToMemoryWrite(
    OpOperand &operand, const bufferization::AnalysisState &) {
  return llvm::is_contained(getDestinations(*this), &operand);
}

bufferization::AliasingValueList
ShapeFitnessOp::getAliasingValues(OpOperand &operand,
                                  const bufferization::AnalysisState &) {
  return writer::getAliasingValues(*this, getDestinations(*this), operand);
}

LogicalResult
ShapeFitnessOp::bufferize(RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) {
  return writer::bufferize(*this, getDestinations(*this), rewriter, options,
                           state);
}
