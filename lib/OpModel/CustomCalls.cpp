//===- CustomCalls.cpp - Calls of what a compiler provides ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/CustomCalls.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::es;

StringRef mlir::es::getCallTarget(Operation *op) {
  if (op->getName().stripDialect() != "custom_call")
    return "";
  Attribute target = op->getAttr("call_target_name");
  if (auto symbol = dyn_cast_if_present<FlatSymbolRefAttr>(target))
    return symbol.getValue();
  auto name = dyn_cast_if_present<StringAttr>(target);
  return name ? name.getValue() : "";
}

Operation *mlir::es::createCustomCall(OpBuilder &builder, Location loc,
                                      StringRef target, ValueRange operands,
                                      TypeRange results) {
  OperationState state(loc, "stablehlo.custom_call", operands, results);
  state.addAttribute("call_target_name", builder.getStringAttr(target));
  return builder.create(state);
}

bool mlir::es::isShapeAssertion(Operation *op) {
  return getCallTarget(op) == "shape_assertion" && op->getNumOperands() > 0 &&
         op->getNumResults() == 0;
}

StringAttr mlir::es::getAssertionMessage(Operation *op) {
  return op->getName().stripDialect() == "custom_call"
             ? op->getAttrOfType<StringAttr>("error_message")
             : StringAttr();
}
