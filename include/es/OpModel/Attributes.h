//===- Attributes.h - Lists of integers in attributes -----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Versions of a dialect write the same list in different ways.
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_ATTRIBUTES_H
#define ES_OPMODEL_ATTRIBUTES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::es {

/// `array<i64: 1, 2>`, `dense<[1, 2]> : tensor<2xi64>`, `[1, 2]`, or one
/// integer; nothing if the attribute is absent or something else.
std::optional<SmallVector<int64_t, 4>> getIntegers(Attribute attribute);

/// The list behind `key = [` in the text of an opaque attribute:
/// `#stablehlo.dot<lhs_contracting_dimensions = [1], ...>`. Empty if the key is
/// absent.
SmallVector<int64_t, 4> getIntegerList(Attribute attribute, StringRef key);

} // namespace mlir::es

#endif // ES_OPMODEL_ATTRIBUTES_H
