//===- Advice.h - What would make a graph fit -------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_REPORT_ADVICE_H
#define ES_LIB_REPORT_ADVICE_H

#include "es/Report/MemoryReport.h"

namespace mlir::es {

/// Notes on the graphs of `report` that exceed the budget. `module` is what was
/// analysed, before it was prepared.
void addAdvice(ModuleOp module, const ReportOptions &options,
               MemoryReport &report);

} // namespace mlir::es

#endif // ES_LIB_REPORT_ADVICE_H
