//===- Run.h - A case compiled and compared ---------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_TEST_ES_KERNEL_RUN_H
#define ES_TOOLS_TEST_ES_KERNEL_RUN_H

#include "Case.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>

namespace mlir {
class ExecutionEngine;
} // namespace mlir

namespace mlir::es {

/// Makes loops of the launches of kernels that know no other thread.
void emulateKernels(ModuleOp module);

/// Whether there is a runtime for the threads of a case.
bool canRun(const Case &c);

/// Lowers a module with es-to-llvm and compiles it for this machine, as the
/// case says.
std::unique_ptr<ExecutionEngine> compile(ModuleOp module, const Case &c);

/// A memref argument: rank 0 to 4, contiguous.
struct Descriptor {
  Descriptor(void *data, const std::vector<int64_t> &shape);
  std::vector<int64_t> words;
};

/// Compiles the case over parameters of many shapes, runs it and the reference;
/// says what differs, or returns an empty string.
std::string runCase(MLIRContext &context, const Case &c);

/// The same for es.shape_fitness with all its choices; counts comparisons.
std::string runShaping(MLIRContext &context, unsigned &count);

/// What must not change a bit; says what does.
std::string runProperties(MLIRContext &context);

/// Sums of 32 bits where they are greatest; says what is wrong.
std::string runBound(MLIRContext &context);

/// Statistics of 2^logDraws draws of a noise; names those out of bounds.
std::string runStatistics(MLIRContext &context, StringRef noise,
                          unsigned logDraws);

} // namespace mlir::es

#endif // ES_TOOLS_TEST_ES_KERNEL_RUN_H
