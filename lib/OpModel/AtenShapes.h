//===- AtenShapes.h - Shapes that depend on ATen's integers -----*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_OPMODEL_ATENSHAPES_H
#define ES_LIB_OPMODEL_ATENSHAPES_H

#include "es/OpModel/Shapes.h"

namespace mlir::es {

/// The shape of a result of the ATen operator `name`, without overload, whose
/// integers are attributes or known; nothing if no rule tells.
std::optional<Integers> inferAtenShape(Operation *op, llvm::StringRef name,
                                       unsigned result,
                                       const KnownIntegers &known);

/// The integer that an op of the torch dialect computes from sizes.
std::optional<int64_t> evaluateTorchInteger(Operation *op,
                                            const KnownIntegers &known);

} // namespace mlir::es

#endif // ES_LIB_OPMODEL_ATENSHAPES_H
