//===- Lanes.cpp - Arithmetic on scalars or vectors -----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::es::kernel;

Value Lanes::constant(TypedAttr scalar) const {
  if (width == 1)
    return arith::ConstantOp::create(b, scalar);
  auto type = cast<ShapedType>(of(scalar.getType()));
  return arith::ConstantOp::create(
      b, cast<TypedAttr>(Attribute(DenseElementsAttr::get(type, scalar))));
}

Value Lanes::amount(Value like, unsigned by) const {
  return whole(by,
               getElementTypeOrSelf(like.getType()).getIntOrFloatBitWidth());
}

Value Lanes::ramp(int64_t first, int64_t step, unsigned bits) const {
  if (width == 1)
    return whole(first, bits);
  SmallVector<APInt> values;
  for (unsigned lane = 0; lane < width; ++lane)
    values.push_back(APInt(bits, first + lane * step));
  auto type = cast<ShapedType>(of(i(bits)));
  return arith::ConstantOp::create(
      b, cast<TypedAttr>(Attribute(DenseElementsAttr::get(type, values))));
}

Value Lanes::horner(ArrayRef<float> c, Value x) const {
  Value value = real(c.back());
  for (float next : llvm::reverse(c.drop_back()))
    value = fma(value, x, real(next));
  return value;
}

Value Lanes::load(Type element, Value base, Value index) const {
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  return LLVM::LoadOp::create(b, of(element),
                              elementPtr(b, element, base, index), bytes);
}

void Lanes::store(Value value, Value base, Value index) const {
  Type element = getElementTypeOrSelf(value.getType());
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  LLVM::StoreOp::create(b, value, elementPtr(b, element, base, index), bytes);
}

Value mlir::es::kernel::elementPtr(ImplicitLocOpBuilder &b, Type element,
                                   Value base, Value index) {
  return LLVM::GEPOp::create(b, base.getType(), element, base,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value mlir::es::kernel::loadWord(ImplicitLocOpBuilder &b, Type type, Value base,
                                 int64_t word) {
  Value at = elementPtr(b, b.getI64Type(), base, i64Constant(b, word));
  return LLVM::LoadOp::create(b, type, at);
}

void mlir::es::kernel::storeWord(ImplicitLocOpBuilder &b, Value value,
                                 Value base, int64_t word) {
  Value at = elementPtr(b, b.getI64Type(), base, i64Constant(b, word));
  LLVM::StoreOp::create(b, value, at);
}

Value mlir::es::kernel::i64Constant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Operation *mlir::es::kernel::getModule(ImplicitLocOpBuilder &b) {
  Operation *module = b.getInsertionBlock()->getParentOp();
  while (!module->hasTrait<OpTrait::SymbolTable>())
    module = module->getParentOp();
  return module;
}

scf::ForOp mlir::es::kernel::loop(ImplicitLocOpBuilder &b, Value from, Value to,
                                  int64_t by,
                                  llvm::function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(b, from, to, i64Constant(b, by));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
  return op;
}
