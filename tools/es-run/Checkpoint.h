//===- Checkpoint.h - A run as numbers -------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Seed and fitness say everything about a run: a line a generation, appended as
// it ends, so that a run that is stopped loses one generation at most.
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_ES_RUN_CHECKPOINT_H
#define ES_TOOLS_ES_RUN_CHECKPOINT_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir::es {

struct Checkpoint {
  uint64_t seed = 0;
  /// Digests of the step and of the parameters it starts with.
  uint64_t program = 0, initial = 0;
  /// The fitness of generations 1, 2, ...
  std::vector<std::vector<float>> generations;
};

/// A line that a run was stopped in is left out.
llvm::Expected<Checkpoint> readCheckpoint(StringRef path);

class CheckpointWriter {
public:
  /// A new file, with the generations that `checkpoint` has.
  llvm::Error open(StringRef path, const Checkpoint &checkpoint);
  llvm::Error append(ArrayRef<float> fitness);

private:
  std::string path;
  std::unique_ptr<llvm::raw_fd_ostream> os;
  unsigned count = 0;
};

/// A digest of bytes; `state` is that of what stands before them.
uint64_t digest(StringRef bytes, uint64_t state = 0xcbf29ce484222325);

} // namespace mlir::es

#endif // ES_TOOLS_ES_RUN_CHECKPOINT_H
