//===- Scalars.h - Scalars of an update, and its kernel ---------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is computed once a step, before any element.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_CONVERSION_ESTOVECTOR_SCALARS_H
#define ES_LIB_CONVERSION_ESTOVECTOR_SCALARS_H

#include "Kernel.h"

namespace mlir::es::kernel {

/// The scalars of an update, for any of its parameters.
struct UpdateScalars {
  /// `coefficientAt` emits the f32 of a pair, of which there are `pairs`.
  UpdateScalars(ImplicitLocOpBuilder &b, UpdateOp op, Value pairs,
                llvm::function_ref<Value(Value)> coefficientAt)
      : b(b), op(op), s(b, 1), pairs(pairs), coefficientAt(coefficientAt) {}

  ImplicitLocOpBuilder &b;
  UpdateOp op;
  Lanes s;
  Value pairs;
  llvm::function_ref<Value(Value)> coefficientAt;

  Value real(double value) { return s.real(value, s.f64()); }
  Value toF32(Value value) {
    return arith::TruncFOp::create(b, s.f32(), value);
  }
  Value getScale(double sigma, bool lowRank);
  Value getCorrection(double beta);
  Value getThreshold(bool lowRank);
  Value anyCoefficient();
};

/// What 1 of an integer parameter stands for: one scale, or one for each index
/// of an axis with `stride` elements from index to index.
struct Quantum {
  double scale = 1.0;
  std::optional<int64_t> axis;
  int64_t stride = 1;
  SmallVector<float> scales;
};
FailureOr<Quantum> getQuantum(Operation *op, ParamAttr param, ShapedType type);

/// What all kernels of an update have in common.
Config makeConfig(UpdateOp op);

} // namespace mlir::es::kernel

#endif // ES_LIB_CONVERSION_ESTOVECTOR_SCALARS_H
