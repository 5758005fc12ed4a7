//===- Shaping.h - Lowering of es.shape_fitness -----------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_CONVERSION_ESTOVECTOR_SHAPING_H
#define ES_LIB_CONVERSION_ESTOVECTOR_SHAPING_H

#include "Lanes.h"
#include "es/Dialect/ES/IR/ES.h"

namespace mlir::es::kernel {

/// The data of a memref, and its number of elements as i64.
Value getPointer(ImplicitLocOpBuilder &b, Value memref);
Value getCount(ImplicitLocOpBuilder &b, Value memref);

/// Emits loops over the members in front of `op`; returns the number of members
/// and the unit.
std::pair<Value, Value> emitShaping(ImplicitLocOpBuilder &b, ShapeFitnessOp op);

/// A loop that carries values.
ValueRange fold(ImplicitLocOpBuilder &b, Value from, Value to,
                ValueRange initial,
                llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body);

} // namespace mlir::es::kernel

#endif // ES_LIB_CONVERSION_ESTOVECTOR_SHAPING_H
