//===- es-plugin.cpp - es for a stock mlir-opt ----------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One flag, --load-dialect-plugin, brings the dialect, the passes, and the
// pipelines.
//
//===----------------------------------------------------------------------===//

#include "es/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "es-opt", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            mlir::es::registerAllDialects(*registry);
            mlir::es::registerAllPasses();
          }};
}
