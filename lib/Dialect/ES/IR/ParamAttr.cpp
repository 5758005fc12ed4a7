//===- ParamAttr.cpp - What is known of one parameter ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::es;

uint32_t mlir::es::hashParameterName(StringRef name) {
  uint32_t hash = 2166136261u;
  for (unsigned char c : name)
    hash = (hash ^ c) * 16777619u;
  return hash;
}

uint32_t ParamAttr::getEffectiveId() const {
  return getId() ? uint32_t(getId().getValue().getZExtValue())
                 : hashParameterName(getName());
}

LogicalResult ParamAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                Trainability, StringAttr name, IntegerAttr id,
                                Type stored, FloatAttr sigma, FloatAttr lr) {
  if (!name || name.empty())
    return emitError() << "(P1) expects a name that is not empty";
  if (id && !id.getType().isInteger(32))
    return emitError() << "(P2) expects 'id' to be an i32, got "
                       << id.getType();
  if (stored && !stored.isIntOrFloat() && !isa<quant::QuantizedType>(stored))
    return emitError() << "(P3) expects 'stored' to be an integer, float or "
                          "quantised type, got "
                       << stored;
  for (auto [key, value] : {std::pair("sigma", sigma), std::pair("lr", lr)})
    if (value && (value.getValue().isNegative() || value.getValue().isZero() ||
                  !value.getValue().isFinite()))
      return emitError() << "(P4) expects '" << key << "' to be positive, got "
                         << value;
  return success();
}

/// A quantised type stands for its expressed type, axis by axis.
static LogicalResult verifyQuantised(quant::QuantizedType stored,
                                     ShapedType value,
                                     function_ref<InFlightDiagnostic()> error) {
  Type element = value.getElementType();
  if (isa<FloatType>(element) && stored.getExpressedType() &&
      stored.getExpressedType() != element)
    return error() << "(P6) expects a quantised type that expresses " << element
                   << ", got " << stored;
  if (!value.hasRank())
    return success();
  auto checkAxis = [&](int64_t axis, int64_t size, bool isBlock) {
    if (axis < 0 || axis >= value.getRank())
      return LogicalResult(error() << "(P6) expects a quantised axis below "
                                   << value.getRank() << ", got " << axis);
    int64_t extent = value.getDimSize(axis);
    bool fits = isBlock ? size > 0 && extent % size == 0 : extent == size;
    if (!ShapedType::isDynamic(extent) && !fits)
      return LogicalResult(error() << "(P6) expects "
                                   << (isBlock ? "blocks that divide " : "")
                                   << extent << (isBlock ? "" : " scales")
                                   << " on axis " << axis << ", got " << size);
    return LogicalResult::success();
  };
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(stored))
    return checkAxis(perAxis.getQuantizedDimension(),
                     perAxis.getScales().size(), /*isBlock=*/false);
  if (auto blocks = dyn_cast<quant::UniformQuantizedSubChannelType>(stored))
    for (auto [axis, size] :
         llvm::zip(blocks.getQuantizedDimensions(), blocks.getBlockSizes()))
      if (failed(checkAxis(axis, size, /*isBlock=*/true)))
        return failure();
  return success();
}

static LogicalResult verifyStored(Type stored, ShapedType value,
                                  function_ref<InFlightDiagnostic()> error) {
  if (auto quantised = dyn_cast<quant::QuantizedType>(stored))
    if (failed(verifyQuantised(quantised, value, error)))
      return failure();
  Type element = value.getElementType();
  if (isa<ComplexType>(element) && !isa<FloatType>(stored))
    return error()
           << "(P6) expects complex numbers to be stored as floats, got "
           << stored;
  if (isa<FloatType, ComplexType>(element))
    return success();
  if (isa<FloatType>(stored))
    return error() << "(P6) expects " << element
                   << " to be stored as integers, got " << stored;
  if (element.isInteger() && stored.isInteger() &&
      stored.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
    return error() << "(P6) expects " << element
                   << " to be stored in no more bits, got " << stored;
  return success();
}

LogicalResult
ParamAttr::verifyFor(Type type,
                     function_ref<InFlightDiagnostic()> emitError) const {
  // What a type of another dialect can hold is not ours to say.
  bool isBuiltin =
      isa<BuiltinDialect>(type.getDialect()) && !isa<OpaqueType>(type);
  if (!isBuiltin)
    return success();
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || isa<VectorType>(type))
    return emitError() << "(P5) expects a tensor or memref to annotate, got "
                       << type;
  Type element = shaped.getElementType();
  if (!element.isIntOrIndexOrFloat() &&
      !isa<ComplexType, quant::QuantizedType>(element))
    return emitError() << "(P5) expects elements that are numbers, got "
                       << element;
  return getStored() ? verifyStored(getStored(), shaped, emitError) : success();
}
