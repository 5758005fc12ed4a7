//===- EmitPrograms.h - Compiled programs for a memory checker --*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_TEST_ES_RUN_EMITPROGRAMS_H
#define ES_TOOLS_TEST_ES_RUN_EMITPROGRAMS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::es {

/// Compiles the functions of `module` that are marked `test.run` with
/// es-bufferize and writes `programs.ll`, and a C program that calls each of
/// them once on memory from malloc, `main.c`, to `folder`.
LogicalResult emitPrograms(ModuleOp module, StringRef folder);

} // namespace mlir::es

#endif // ES_TOOLS_TEST_ES_RUN_EMITPROGRAMS_H
