//===- PrintSweep.h - Sweeps as text and as JSON ----------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_REPORT_PRINTSWEEP_H
#define ES_LIB_REPORT_PRINTSWEEP_H

#include "es/Report/MemoryReport.h"
#include "llvm/Support/JSON.h"

namespace mlir::es {

/// A row for each size; `report.sweep` is there.
void printSweep(const MemoryReport &report, raw_ostream &os);
/// The line above the report at the size that was found.
void printMax(const MemoryReport &report, raw_ostream &os);

void writeSweep(llvm::json::OStream &json, const SweepReport &sweep);
void writeMax(llvm::json::OStream &json, const MaxReport &max);

} // namespace mlir::es

#endif // ES_LIB_REPORT_PRINTSWEEP_H
