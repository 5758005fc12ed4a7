//===- InitAll.h - Register everything es-opt has ---------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one list of dialects, passes and pipelines, used by es-opt, the language
// server and the plugin alike.
//
//===----------------------------------------------------------------------===//

#ifndef ES_INITALL_H
#define ES_INITALL_H

#include "es/Conversion/Passes.h"
#include "es/Dialect/ES/IR/ES.h"
#include "es/Dialect/ES/Transforms/Passes.h"
#include "es/Foreign/Dialects.h"
#include "es/Report/Passes.h"
#include "es/Training/Passes.h"

namespace mlir::es {

inline void registerAllDialects(DialectRegistry &registry) {
  registry.insert<ESDialect>();
  registerForeignDialects(registry);
}

inline void registerAllPasses() {
  registerESPasses();
  registerESPipelines();
  registerESTrainingPasses();
  registerESConversionPasses();
  registerESConversionPipelines();
  registerESReportPasses();
}

} // namespace mlir::es

#endif // ES_INITALL_H
