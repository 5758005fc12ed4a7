//===- CustomCalls.h - Calls of what a compiler provides --------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `custom_call` of StableHLO or MHLO means what its target means.
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_CUSTOMCALLS_H
#define ES_OPMODEL_CUSTOMCALLS_H

#include "mlir/IR/Builders.h"

namespace mlir::es {

/// The name of what a `custom_call` calls; empty for any other op.
StringRef getCallTarget(Operation *op);

/// A call of `target`, of which nobody knows more than its types.
Operation *createCustomCall(OpBuilder &builder, Location loc, StringRef target,
                            ValueRange operands, TypeRange results);

/// True if `op` stops a program whose sizes its operand finds wrong: JAX checks
/// symbolic shapes so.
bool isShapeAssertion(Operation *op);

/// What a call says when it stops the program; null if nothing is stated.
StringAttr getAssertionMessage(Operation *op);

} // namespace mlir::es

#endif // ES_OPMODEL_CUSTOMCALLS_H
