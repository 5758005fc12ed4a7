//===- Harness.h - Compile a module and count its memory --------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_TEST_ES_RUN_HARNESS_H
#define ES_TOOLS_TEST_ES_RUN_HARNESS_H

#include "../runtime/Pipeline.h"
#include "CountingAllocator.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

namespace mlir::es {

struct RunResult {
  /// The allocator's peak, arguments included, plus constants.
  uint64_t peakBytes = 0;
  unsigned leakedBlocks = 0;
  counting::Counts counts;
  /// The elements of each result in row-major order.
  std::vector<std::string> values;
  /// The elements of each argument before and after; empty for scalars.
  std::vector<std::string> before, after;
};

/// Elements of arguments by their number, in place of the usual ones.
using ArgumentValues = std::map<unsigned, std::string>;

/// Memrefs to the LLVM dialect.
extern const StringRef kLowering;

/// Bytes LLVM gives an element.
uint64_t getElementBytes(Type type);

/// Runs `pipeline` (tensors to memrefs) on a copy of `module`, lowers it to
/// LLVM, calls `entry` on inputs that depend on types only, and checks the
/// memory. Scalar arguments take the value of their `test.value` attribute.
FailureOr<RunResult> compileAndRun(ModuleOp module, StringRef entry,
                                   StringRef pipeline,
                                   const ArgumentValues &given = {});
/// The same compiled once and called with each of these.
FailureOr<std::vector<RunResult>>
compileAndRunEach(ModuleOp module, StringRef entry, StringRef pipeline,
                  ArrayRef<ArgumentValues> given);

} // namespace mlir::es

#endif // ES_TOOLS_TEST_ES_RUN_HARNESS_H
