//===- Globals.cpp - Constants and globals --------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where contents stand in a module: in the attribute of a constant, in a global
// that ops load from, or outside under a name.
//
//===----------------------------------------------------------------------===//

#include "es/Foreign/Types.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::es;

ShapedType mlir::es::getCarriedShape(Type type) {
  std::optional<Type> builtin = getForeignShapedType(type);
  return builtin ? dyn_cast<ShapedType>(*builtin) : ShapedType();
}

/// `#stream.parameter.named<"model"::"fc1.weight">`: the last name in it.
static std::string getExternalName(Attribute value) {
  if (!value || isa<ElementsAttr>(value))
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << value;
  StringRef name = text;
  if (!name.contains(".parameter.named<"))
    return "";
  name = name.take_front(name.rfind('"'));
  return name.drop_front(name.rfind('"') + 1).str();
}

std::optional<GlobalFacts> mlir::es::getGlobalFacts(Operation *op) {
  GlobalFacts facts;
  if (auto global = dyn_cast<ml_program::GlobalOp>(op)) {
    facts.type = global.getType();
    facts.value = global.getValueAttr();
    facts.isMutable = global.getIsMutable();
    return facts;
  }
  if (auto global = dyn_cast<memref::GlobalOp>(op)) {
    facts.type = global.getType();
    // One that is not marked constant may still hold weights.
    facts.isMutable = global.isUninitialized();
    if (!global.isUninitialized())
      facts.value = global.getInitialValueAttr();
    return facts;
  }
  auto type = op->getAttrOfType<TypeAttr>("type");
  if (op->getName().getStringRef() != "util.global" || !type)
    return std::nullopt;
  facts.type = type.getValue();
  facts.value = op->getAttr("initial_value");
  facts.isMutable = op->hasAttr("is_mutable");
  facts.external = getExternalName(facts.value);
  return facts;
}

SymbolRefAttr mlir::es::getLoadedGlobal(Operation *op) {
  if (auto load = dyn_cast<memref::GetGlobalOp>(op))
    return load.getNameAttr();
  StringRef name = op->getName().getStringRef();
  if (name == "util.global.load.indirect" && op->getNumOperands() == 1) {
    op = op->getOperand(0).getDefiningOp();
    if (!op || op->getName().getStringRef() != "util.global.address")
      return nullptr;
  } else if (!isa<ml_program::GlobalLoadOp, ml_program::GlobalLoadConstOp>(
                 op) &&
             name != "util.global.load") {
    return nullptr;
  }
  return op->getAttrOfType<SymbolRefAttr>("global");
}

SymbolRefAttr mlir::es::getStoredGlobal(Operation *op) {
  if (isa<ml_program::GlobalStoreOp>(op) ||
      op->getName().getStringRef() == "util.global.store")
    return op->getAttrOfType<SymbolRefAttr>("global");
  return nullptr;
}

Attribute mlir::es::getConstantContents(Operation *op) {
  for (StringRef name : {"value", "values"})
    if (Attribute value = op->getAttr(name))
      return value;
  return nullptr;
}
