//===- Lanes.h - Arithmetic on scalars or vectors ---------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels are written once, for any number of lanes: one lane is a scalar,
// more are a vector. No operation has a fast-math flag.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_CONVERSION_ESTOVECTOR_LANES_H
#define ES_LIB_CONVERSION_ESTOVECTOR_LANES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::es::kernel {

class Lanes {
public:
  Lanes(ImplicitLocOpBuilder &b, unsigned width) : b(b), width(width) {}

  ImplicitLocOpBuilder &b;
  const unsigned width;

  /// `width` elements of a type.
  Type of(Type element) const {
    return width == 1 ? element
                      : Type(VectorType::get({int64_t(width)}, element));
  }
  Type f32() const { return b.getF32Type(); }
  Type f64() const { return b.getF64Type(); }
  Type i(unsigned bits) const { return b.getIntegerType(bits); }

  /// A scalar in every lane.
  Value splat(Value scalar) const {
    return width == 1 ? scalar
                      : Value(vector::BroadcastOp::create(
                            b, of(scalar.getType()), scalar));
  }
  Value real(double value, Type element) const {
    return constant(b.getFloatAttr(element, value));
  }
  Value real(double value) const { return real(value, f32()); }
  Value whole(int64_t value, unsigned bits = 32) const {
    return constant(b.getIntegerAttr(i(bits), APInt(bits, value, false, true)));
  }
  /// first, first + step, first + 2 step, ...
  Value ramp(int64_t first, int64_t step, unsigned bits) const;

  Value add(Value x, Value y) const {
    return binary<arith::AddFOp, arith::AddIOp>(x, y);
  }
  Value sub(Value x, Value y) const {
    return binary<arith::SubFOp, arith::SubIOp>(x, y);
  }
  Value mul(Value x, Value y) const {
    return binary<arith::MulFOp, arith::MulIOp>(x, y);
  }
  Value div(Value x, Value y) const { return arith::DivFOp::create(b, x, y); }
  Value neg(Value x) const { return arith::NegFOp::create(b, x); }
  Value fma(Value x, Value y, Value z) const {
    return math::FmaOp::create(b, x, y, z);
  }
  Value sqrt(Value x) const { return math::SqrtOp::create(b, x); }
  Value floor(Value x) const { return math::FloorOp::create(b, x); }
  Value abs(Value x) const { return math::AbsFOp::create(b, x); }
  Value band(Value x, Value y) const { return arith::AndIOp::create(b, x, y); }
  Value bor(Value x, Value y) const { return arith::OrIOp::create(b, x, y); }
  Value bxor(Value x, Value y) const { return arith::XOrIOp::create(b, x, y); }
  Value shl(Value x, unsigned by) const {
    return arith::ShLIOp::create(b, x, amount(x, by));
  }
  Value shr(Value x, unsigned by) const {
    return arith::ShRUIOp::create(b, x, amount(x, by));
  }
  Value sar(Value x, unsigned by) const {
    return arith::ShRSIOp::create(b, x, amount(x, by));
  }
  Value select(Value c, Value x, Value y) const {
    return arith::SelectOp::create(b, c, x, y);
  }
  Value cmp(arith::CmpFPredicate p, Value x, Value y) const {
    return arith::CmpFOp::create(b, p, x, y);
  }
  Value cmp(arith::CmpIPredicate p, Value x, Value y) const {
    return arith::CmpIOp::create(b, p, x, y);
  }
  Value toFloat(Value x, Type element) const {
    return arith::SIToFPOp::create(b, of(element), x);
  }
  Value toFloat(Value x) const { return toFloat(x, f32()); }
  Value toInt(Value x, unsigned bits) const {
    return arith::FPToSIOp::create(b, of(i(bits)), x);
  }
  Value zext(Value x, unsigned bits) const {
    return arith::ExtUIOp::create(b, of(i(bits)), x);
  }
  Value sext(Value x, unsigned bits) const {
    return arith::ExtSIOp::create(b, of(i(bits)), x);
  }
  Value trunc(Value x, unsigned bits) const {
    return arith::TruncIOp::create(b, of(i(bits)), x);
  }
  Value bitcast(Value x, Type element) const {
    return arith::BitcastOp::create(b, of(element), x);
  }

  /// c[0] + c[1] x + ..., an fma a step.
  Value horner(ArrayRef<float> c, Value x) const;

  /// The lanes at element `index` of memory at `base`.
  Value load(Type element, Value base, Value index) const;
  void store(Value value, Value base, Value index) const;

private:
  Value constant(TypedAttr scalar) const;
  Value amount(Value like, unsigned by) const;
  template <typename FloatOp, typename IntOp>
  Value binary(Value x, Value y) const {
    if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
      return FloatOp::create(b, x, y);
    return IntOp::create(b, x, y);
  }
};

/// Memory: the address of element `index`, and a scalar loaded from it.
Value elementPtr(ImplicitLocOpBuilder &b, Type element, Value base,
                 Value index);
Value loadWord(ImplicitLocOpBuilder &b, Type type, Value base, int64_t word);
void storeWord(ImplicitLocOpBuilder &b, Value value, Value base, int64_t word);
Value i64Constant(ImplicitLocOpBuilder &b, int64_t value);

/// The innermost operation around with a table of symbols.
Operation *getModule(ImplicitLocOpBuilder &b);

/// for (i = from; i < to; i += by) body(i), in i64.
scf::ForOp loop(ImplicitLocOpBuilder &b, Value from, Value to, int64_t by,
                llvm::function_ref<void(Value)> body);

} // namespace mlir::es::kernel

#endif // ES_LIB_CONVERSION_ESTOVECTOR_LANES_H
