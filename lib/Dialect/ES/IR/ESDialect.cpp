//===- ESDialect.cpp - The es dialect -------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::es;

#include "es/Dialect/ES/IR/ESDialect.cpp.inc"
#include "es/Dialect/ES/IR/ESEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "es/Dialect/ES/IR/ESAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "es/Dialect/ES/IR/ESOps.cpp.inc"

namespace {
/// Nothing in the dialect depends on where it stands.
struct ESInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void ESDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "es/Dialect/ES/IR/ESAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "es/Dialect/ES/IR/ESOps.cpp.inc"
      >();
  addInterfaces<ESInlinerInterface>();
}

//===----------------------------------------------------------------------===//
// #es.param
//===----------------------------------------------------------------------===//

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

LogicalResult
ParamAttr::verifyFor(Type type,
                     function_ref<InFlightDiagnostic()> emitError) const {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || isa<VectorType>(type))
    return emitError() << "(P5) expects a tensor or memref to annotate, got "
                       << type;
  Type element = shaped.getElementType();
  bool isNumber = element.isIntOrIndexOrFloat() ||
                  isa<ComplexType, quant::QuantizedType>(element);
  if (!isNumber)
    return emitError() << "(P5) expects elements that are numbers, got "
                       << element;
  if (isa<ComplexType>(element) && getStored() && !isa<FloatType>(getStored()))
    return emitError() << "(P5) complex numbers cannot be stored as "
                       << getStored();
  return success();
}

//===----------------------------------------------------------------------===//
// es.param
//===----------------------------------------------------------------------===//

LogicalResult ParamOp::verify() {
  return getParam().verifyFor(getValue().getType(),
                              [&] { return emitOpError(); });
}

bool ParamOp::bufferizesToMemoryRead(OpOperand &,
                                     const bufferization::AnalysisState &) {
  return false;
}

bool ParamOp::bufferizesToMemoryWrite(OpOperand &,
                                      const bufferization::AnalysisState &) {
  return false;
}

bufferization::AliasingValueList
ParamOp::getAliasingValues(OpOperand &, const bufferization::AnalysisState &) {
  return {{getResult(), bufferization::BufferRelation::Equivalent}};
}

LogicalResult
ParamOp::bufferize(RewriterBase &rewriter,
                   const bufferization::BufferizationOptions &options,
                   bufferization::BufferizationState &state) {
  FailureOr<Value> buffer =
      bufferization::getBuffer(rewriter, getValue(), options, state);
  if (failed(buffer))
    return failure();
  bufferization::replaceOpWithBufferizedValues(rewriter, getOperation(),
                                               *buffer);
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes on ops of other dialects
//===----------------------------------------------------------------------===//

static LogicalResult verifyInventory(Operation *op, Attribute value) {
  auto entries = dyn_cast<ArrayAttr>(value);
  if (!entries || !isa<ModuleOp>(op))
    return op->emitOpError() << "expects '" << kParametersAttrName
                             << "' to be an array on a module";
  for (Attribute entry : entries) {
    auto dictionary = dyn_cast<DictionaryAttr>(entry);
    if (!dictionary || !dictionary.getAs<ParamAttr>("param") ||
        !dictionary.getAs<TypeAttr>("type"))
      return op->emitOpError()
             << "expects every entry of '" << kParametersAttrName
             << "' to have 'param' and 'type', got " << entry;
  }
  return success();
}

LogicalResult ESDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attr) {
  if (attr.getName() == kParametersAttrName)
    return verifyInventory(op, attr.getValue());
  return success();
}

LogicalResult ESDialect::verifyRegionArgAttribute(Operation *op,
                                                  unsigned region, unsigned arg,
                                                  NamedAttribute attr) {
  if (attr.getName() != "es.param")
    return success();
  auto param = dyn_cast<ParamAttr>(attr.getValue());
  if (!param)
    return op->emitOpError() << "expects 'es.param' of argument " << arg
                             << " to be an #es.param attribute";
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func)
    return op->emitOpError() << "expects 'es.param' on a function's argument";
  return param.verifyFor(func.getArgumentTypes()[arg], [&] {
    return op->emitOpError() << "argument " << arg << ": ";
  });
}
