//===- Shapes.h - What shapes follow from other shapes ----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes of the results of foreign ops, as far as the shapes of the operands,
// attributes and known integers tell. Upstream dialects infer their own.
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_SHAPES_H
#define ES_OPMODEL_SHAPES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::es {

using Integers = SmallVector<int64_t, 4>;

/// Values that are known to hold these integers: sizes, and what is computed
/// from sizes.
using KnownIntegers = llvm::DenseMap<Value, Integers>;

/// The integers that the one result of `op` holds, if they are known.
std::optional<Integers> evaluateIntegers(Operation *op,
                                         const KnownIntegers &known);

/// For each result the shape that follows, with dynamic dimensions where
/// nothing does; empty where nothing is known at all.
SmallVector<std::optional<Integers>> inferShapes(Operation *op,
                                                 const KnownIntegers &known);

/// The shape of the first result of an operator of ATen or ONNX, by name
/// without dialect and overload; unlike inferShapes without elementwise ones.
std::optional<Integers> inferOperatorShape(Operation *op, llvm::StringRef name);

} // namespace mlir::es

#endif // ES_OPMODEL_SHAPES_H
