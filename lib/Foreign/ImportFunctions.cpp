//===- ImportFunctions.cpp - Functions of other dialects ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Analyses look for functions by their interface, which an op of a dialect that
// is not linked in cannot have.
//
//===----------------------------------------------------------------------===//

#include "ImportFunctions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::es;

/// The function type that a foreign function says it has, or that its body has.
static FunctionType getFunctionType(Operation *op) {
  if (auto type = op->getAttrOfType<TypeAttr>("function_type"))
    return dyn_cast<FunctionType>(type.getValue());
  Region &body = op->getRegion(0);
  if (!body.hasOneBlock() || !body.front().mightHaveTerminator())
    return nullptr;
  return FunctionType::get(op->getContext(), body.getArgumentTypes(),
                           body.front().back().getOperandTypes());
}

/// The name of a symbol; VHLO wraps it: `#vhlo.string_v1<"main">`.
static StringRef getSymbolName(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>("sym_name"))
    return name.getValue();
  auto opaque = op->getAttrOfType<OpaqueAttr>("sym_name");
  if (!opaque || !opaque.getAttrData().contains('"'))
    return "";
  return opaque.getAttrData().split('"').second.split('"').first;
}

static bool isForeignFunction(Operation *op) {
  if (op->isRegistered())
    return false;
  StringRef name = op->getName().stripDialect();
  return op->getNumRegions() == 1 && op->getNumOperands() == 0 &&
         op->getNumResults() == 0 &&
         (name == "func" || name == "func_v1" || name == "async.func") &&
         !getSymbolName(op).empty();
}

static void importFunction(Operation *op) {
  FunctionType type = getFunctionType(op);
  if (!type)
    return;
  OpBuilder builder(op);
  auto function =
      func::FuncOp::create(builder, op->getLoc(), getSymbolName(op), type);
  for (NamedAttribute attribute : op->getAttrs())
    if (StringRef name = attribute.getName();
        name != "sym_name" && name != "function_type" &&
        !isa<OpaqueAttr>(attribute.getValue()))
      function->setAttr(name, attribute.getValue());
  function.getBody().takeBody(op->getRegion(0));
  op->erase();
}

/// The last op of a function is a return if it hands the results over.
static void importReturn(func::FuncOp function, Block &block) {
  if (block.empty())
    return;
  Operation *op = &block.back();
  StringRef name = op->getName().stripDialect();
  if (op->isRegistered() || op->getNumSuccessors() || op->getNumResults() ||
      (name != "return" && name != "Return" && name != "return_v1") ||
      op->getOperandTypes() != function.getResultTypes())
    return;
  OpBuilder builder(op);
  func::ReturnOp::create(builder, op->getLoc(), op->getOperands());
  op->erase();
}

/// `util.call`, and others that name their callee as it does.
static void importCall(ModuleOp module, Operation *op) {
  auto callee = op->getAttrOfType<FlatSymbolRefAttr>("callee");
  StringRef name = op->getName().stripDialect();
  // An unknown op may end a block, a call may not.
  if (op == &op->getBlock()->back() || !callee ||
      (name != "call" && name != "call_v1"))
    return;
  auto function = module.lookupSymbol<func::FuncOp>(callee);
  if (!function || op->getResultTypes() != function.getResultTypes() ||
      op->getOperandTypes() != function.getArgumentTypes())
    return;
  OpBuilder builder(op);
  auto call =
      func::CallOp::create(builder, op->getLoc(), function, op->getOperands());
  op->replaceAllUsesWith(call);
  op->erase();
}

bool mlir::es::importFunctions(ModuleOp module) {
  module.getContext()->getOrLoadDialect<func::FuncDialect>();
  SmallVector<Operation *> functions;
  bool hasUnregistered = false;
  module.walk([&](Operation *op) {
    hasUnregistered |= !op->isRegistered();
    if (isForeignFunction(op))
      functions.push_back(op);
  });
  if (!hasUnregistered)
    return false;
  llvm::for_each(functions, importFunction);
  module.walk([](func::FuncOp function) {
    for (Block &block : function.getBody())
      importReturn(function, block);
  });
  SmallVector<Operation *> calls;
  module.walk([&](Operation *op) {
    if (!op->isRegistered())
      calls.push_back(op);
  });
  for (Operation *op : calls)
    importCall(module, op);
  return !functions.empty();
}
