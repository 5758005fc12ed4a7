//===- Torch.cpp - What is asked of the torch dialect by name -------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/Torch.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::es;

bool mlir::es::isTorchOp(Operation *op) {
  return op->getName().getDialectNamespace() == "torch";
}

bool mlir::es::isListConstruct(Operation *op) {
  return op->getName().stripDialect() == "prim.ListConstruct";
}

bool mlir::es::isListUnpack(Operation *op) {
  return op->getName().getStringRef() == "torch.prim.ListUnpack" &&
         op->getNumOperands() == 1;
}

//===----------------------------------------------------------------------===//
// Symbolic sizes
//===----------------------------------------------------------------------===//

static std::optional<SymbolicSize> getSymbolicSize(Operation *op) {
  auto name = op ? op->getAttrOfType<StringAttr>("symbol_name") : StringAttr();
  if (!name)
    return std::nullopt;
  SymbolicSize size{name.getValue(), std::nullopt, std::nullopt};
  if (auto min = op->getAttrOfType<IntegerAttr>("min_val"))
    size.min = min.getInt();
  if (auto max = op->getAttrOfType<IntegerAttr>("max_val"))
    size.max = max.getInt();
  return size;
}

std::optional<SymbolicShape> mlir::es::getSymbolicShape(Operation *op) {
  auto map = op->getAttrOfType<AffineMapAttr>("shape_expressions");
  if (op->getName().getStringRef() != "torch.bind_symbolic_shape" ||
      op->getNumOperands() == 0 || !map ||
      map.getValue().getNumSymbols() > op->getNumOperands() - 1)
    return std::nullopt;
  SymbolicShape shape{op->getOperand(0), map.getValue(), {}};
  for (Value symbol : llvm::drop_begin(op->getOperands()))
    shape.symbols.push_back(getSymbolicSize(symbol.getDefiningOp()));
  return shape;
}
