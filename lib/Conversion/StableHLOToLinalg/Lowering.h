//===- Lowering.h - StableHLO as linalg, by groups of ops -------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each group makes new ops where `builder` stands and returns what takes the
// place of the results; failure after a diagnostic; nullopt for an op of
// another group.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_CONVERSION_STABLEHLOTOLINALG_LOWERING_H
#define ES_LIB_CONVERSION_STABLEHLOTOLINALG_LOWERING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace mlir::es::hlo {

using Values = SmallVector<Value>;
using Lowered = std::optional<FailureOr<Values>>;

/// True for ops of StableHLO, MHLO and CHLO.
bool isHlo(Operation *op);
/// True if the region says how two elements become one: it is read with the op.
bool hasReducer(Operation *op);

Lowered lowerElementwise(OpBuilder &builder, Operation *op);
Lowered lowerMovement(OpBuilder &builder, Operation *op);
Lowered lowerIndexing(OpBuilder &builder, Operation *op);
Lowered lowerReduction(OpBuilder &builder, Operation *op);
Lowered lowerContraction(OpBuilder &builder, Operation *op);
Lowered lowerControlFlow(OpBuilder &builder, Operation *op);

/// What `op` computes, on `operands`: tensors of one shape, or numbers. Null if
/// it is no op on elements.
Value createElementwise(OpBuilder &builder, Operation *op, ValueRange operands,
                        Type type);

/// "has no lowering", and why.
InFlightDiagnostic emitNoLowering(Operation *op);

/// A number, or a tensor of equal ones.
Value createConstant(OpBuilder &builder, Location loc, Type type, double value);
/// The only element of a tensor.
Value getScalar(OpBuilder &builder, Location loc, Value tensor);
/// A new tensor of equal elements.
Value fill(OpBuilder &builder, Location loc, Value scalar,
           RankedTensorType type);
/// Dimension i of `value` is dimension `dims[i]` of the result, or 1.
Value broadcast(OpBuilder &builder, Location loc, Value value,
                RankedTensorType type, ArrayRef<int64_t> dims);
/// The same elements in the same order.
Value reshape(OpBuilder &builder, Location loc, Value value,
              RankedTensorType type);
/// Puts `low` and `high` elements around `value`, and `interior` between each
/// two, along each dimension; a negative number takes away.
Value pad(OpBuilder &builder, Location loc, Value value, Value padding,
          RankedTensorType type, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
          ArrayRef<int64_t> interior);
/// A list attribute with one number for each of `count` dimensions.
SmallVector<int64_t> getList(Operation *op, StringRef name, unsigned count,
                             int64_t otherwise);

} // namespace mlir::es::hlo

#endif // ES_LIB_CONVERSION_STABLEHLOTOLINALG_LOWERING_H
