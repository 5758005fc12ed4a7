//===- Compile.h - From tensors to machine code -----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_ES_RUN_COMPILE_H
#define ES_TOOLS_ES_RUN_COMPILE_H

#include "../runtime/Pipeline.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir::es {

/// A tensor in memory, row-major, or a scalar.
struct Value64 {
  Type type;
  void *data = nullptr;
  int64_t bits = 0;
};

/// The functions of a module, compiled for this machine.
class Program {
public:
  /// Bufferizes and lowers `module`. Null, with a diagnostic, if that fails.
  static std::unique_ptr<Program>
  compile(ModuleOp module, ArrayRef<std::string> functions, unsigned threads);
  /// True if the kernels can run in more than one thread.
  static bool hasThreads();

  /// Calls a function. Tensors among the results are copies of their own in the
  /// allocator's memory, or the memory of the argument that was written.
  llvm::Expected<std::vector<Value64>> call(StringRef name,
                                            ArrayRef<Value64> arguments);
  /// The most bytes that were live in the last call, the arguments and
  /// constants included.
  uint64_t getPeakBytes() const { return peakBytes; }
  /// Bytes of constants that a function reads.
  uint64_t getConstantBytes(StringRef name) const {
    return functions.lookup(name).constantBytes;
  }

private:
  struct Function {
    std::vector<Type> arguments, results;
    uint64_t constantBytes = 0;
  };
  void describe(ModuleOp module, StringRef name);

  llvm::StringMap<Function> functions;
  uint64_t peakBytes = 0;
  std::unique_ptr<ExecutionEngine> engine;
};

/// What a program says when it stops itself stands before this.
void setStopContext(std::string text);

} // namespace mlir::es

#endif // ES_TOOLS_ES_RUN_COMPILE_H
