//===- Pipeline.h - Passes by name ------------------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_RUNTIME_PIPELINE_H
#define ES_TOOLS_RUNTIME_PIPELINE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::es {

/// Runs a textual pass pipeline on the module; errors are diagnostics.
LogicalResult runPipeline(ModuleOp module, StringRef pipeline);

} // namespace mlir::es

#endif // ES_TOOLS_RUNTIME_PIPELINE_H
