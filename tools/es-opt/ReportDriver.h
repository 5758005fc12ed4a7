//===- ReportDriver.h - es-opt --memory-report ------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_ES_OPT_REPORTDRIVER_H
#define ES_TOOLS_ES_OPT_REPORTDRIVER_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::es {

/// Registers the report's flags with the command line.
void registerReportOptions();

/// True if a report is asked for.
bool isReportRequested();

/// A flag that only means something to a report, if one is given: without a
/// report a budget would pass in silence.
llvm::StringRef getStrayReportFlag();

/// True if the input has to be MLIR as any MLIR tool reads it.
bool isStrict();

/// Reads `inputFile`, reports to `outputFile`. Returns the exit status: 0 ok,
/// 1 bad input or usage, 3 over budget.
int runReport(llvm::StringRef inputFile, llvm::StringRef outputFile,
              DialectRegistry &registry);

} // namespace mlir::es

#endif // ES_TOOLS_ES_OPT_REPORTDRIVER_H
