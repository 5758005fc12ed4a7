//===- ESDialect.cpp - The es dialect -------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"

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
// Attributes on ops of other dialects
//===----------------------------------------------------------------------===//

/// [{param = #es.param, type = T, symbol = @global}]; `symbol` for globals.
static LogicalResult verifyInventory(Operation *op, Attribute value) {
  auto entries = dyn_cast<ArrayAttr>(value);
  if (!entries || !isa<ModuleOp>(op))
    return op->emitOpError() << "expects '" << kParametersAttrName
                             << "' to be an array on a module";
  for (Attribute entry : entries) {
    auto dictionary = dyn_cast<DictionaryAttr>(entry);
    auto param =
        dictionary ? dictionary.getAs<ParamAttr>("param") : ParamAttr();
    auto type = dictionary ? dictionary.getAs<TypeAttr>("type") : TypeAttr();
    bool hasSymbol = dictionary && dictionary.contains("symbol");
    if (!param || !type || dictionary.size() != (hasSymbol ? 3u : 2u) ||
        (hasSymbol && !dictionary.getAs<SymbolRefAttr>("symbol")))
      return op->emitOpError()
             << "expects every entry of '" << kParametersAttrName
             << "' to have 'param', 'type' and no more than a 'symbol', got "
             << entry;
    if (failed(param.verifyFor(type.getValue(), [&] {
          return op->emitOpError() << "parameter " << param.getName() << ": ";
        })))
      return failure();
  }
  return success();
}

LogicalResult ESDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attr) {
  if (attr.getName() == kParametersAttrName)
    return verifyInventory(op, attr.getValue());
  if (attr.getName() == "es.param")
    return op->emitOpError()
           << "(P7) expects 'es.param' on an argument of a function; a global "
              "is annotated in '"
           << kParametersAttrName << "' of its module";
  return success();
}

LogicalResult ESDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                     unsigned result,
                                                     NamedAttribute attr) {
  if (attr.getName() == "es.param")
    return op->emitOpError()
           << "(P7) expects 'es.param' on an argument, got it on result "
           << result;
  return success();
}

LogicalResult ESDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                  unsigned arg,
                                                  NamedAttribute attr) {
  if (attr.getName() != "es.param")
    return success();
  auto param = dyn_cast<ParamAttr>(attr.getValue());
  if (!param)
    return op->emitOpError()
           << "expects 'es.param' of argument " << arg
           << " to be an #es.param attribute, got " << attr.getValue();
  // Only functions have attributes on arguments.
  auto func = cast<FunctionOpInterface>(op);
  return param.verifyFor(func.getArgumentTypes()[arg], [&] {
    return op->emitOpError() << "argument " << arg << ": ";
  });
}
