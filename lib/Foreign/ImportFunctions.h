//===- ImportFunctions.h - Functions of other dialects ----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_FOREIGN_IMPORTFUNCTIONS_H
#define ES_LIB_FOREIGN_IMPORTFUNCTIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::es {

/// Functions, returns, and calls of foreign dialects (`util.func`,
/// `vhlo.func_v1`, `onnx.Return`) become those of the func dialect.
/// True if there was one.
bool importFunctions(ModuleOp module);

} // namespace mlir::es

#endif // ES_LIB_FOREIGN_IMPORTFUNCTIONS_H
