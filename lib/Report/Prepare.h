//===- Prepare.h - Make a module ready for analysis -------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_REPORT_PREPARE_H
#define ES_LIB_REPORT_PREPARE_H

#include "es/Report/MemoryReport.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::es {

/// The functions that `options` ask for, and the public ones beside them.
LogicalResult selectEntries(ModuleOp module, const ReportOptions &options,
                            SmallVectorImpl<FunctionOpInterface> &entries,
                            SmallVectorImpl<FunctionOpInterface> &others);

/// A symbol that leads the shape of an argument of `func` and was not bound:
/// it is the least that the file allows.
struct AssumedSize {
  FunctionOpInterface func;
  std::string symbol;
  uint64_t size;
};

struct PreparedModule {
  /// What was bound without being stated.
  std::vector<AssumedSize> assumed;
  std::vector<std::pair<FunctionOpInterface, ResizedDimension>> resized;
};

/// Inlines private callees, binds the shapes that `options` states, and resizes
/// what has a size already.
FailureOr<PreparedModule> prepareModule(ModuleOp module,
                                        ArrayRef<FunctionOpInterface> entries,
                                        const ReportOptions &options);

/// Replaces values of tuple type, and lists that are unpacked, by their
/// elements, if any.
void flattenTuples(FunctionOpInterface func);

/// Makes results of ops that are not linked in as static as their operands
/// tell. Fails if the model asserts that it does not take such shapes.
LogicalResult refineForeignShapes(FunctionOpInterface func);

} // namespace mlir::es

#endif // ES_LIB_REPORT_PREPARE_H
