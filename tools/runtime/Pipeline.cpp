//===- Pipeline.cpp - Passes by name --------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pipeline.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

LogicalResult mlir::es::runPipeline(ModuleOp module, StringRef pipeline) {
  PassManager manager(module.getContext());
  if (failed(parsePassPipeline(pipeline, manager)))
    return failure();
  return manager.run(module);
}
