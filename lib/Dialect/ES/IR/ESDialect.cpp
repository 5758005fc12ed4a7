//===- ESDialect.cpp - The es dialect -------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::es;

#include "es/Dialect/ES/IR/ESDialect.cpp.inc"
#include "es/Dialect/ES/IR/ESEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "es/Dialect/ES/IR/ESAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "es/Dialect/ES/IR/ESOps.cpp.inc"

void ESDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "es/Dialect/ES/IR/ESAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "es/Dialect/ES/IR/ESOps.cpp.inc"
      >();
}

LogicalResult ESDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attr) {
  return success();
}

LogicalResult ESDialect::verifyRegionArgAttribute(Operation *op,
                                                  unsigned region, unsigned arg,
                                                  NamedAttribute attr) {
  if (attr.getName() == "es.param" && !isa<ParamAttr>(attr.getValue()))
    return op->emitOpError() << "expects 'es.param' of argument " << arg
                             << " to be an #es.param attribute";
  return success();
}
