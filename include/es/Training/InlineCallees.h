//===- InlineCallees.h - Private callees become part of callers -*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TRAINING_INLINECALLEES_H
#define ES_TRAINING_INLINECALLEES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::es {

/// Inlines calls of private functions that are not recursive, and erases what
/// is no longer named.
void inlinePrivateCallees(ModuleOp module);

} // namespace mlir::es

#endif // ES_TRAINING_INLINECALLEES_H
