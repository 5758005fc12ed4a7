//===- Refusals.h - What cannot be read, and what to do ---------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_FOREIGN_REFUSALS_H
#define ES_LIB_FOREIGN_REFUSALS_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <optional>
#include <string>

namespace mlir::es {

/// One diagnostic at a place in the file; line and column count from 1.
struct Refusal {
  unsigned line = 1, column = 1;
  std::string message;
};

/// Answers what is not MLIR at all: an empty file, a weight file, an archive, a
/// StableHLO portable artifact.
std::optional<Refusal> refuseContainer(llvm::MemoryBufferRef buffer);

/// Answers text that MLIR's parser does not survive: brackets that nest deeper
/// than `limit`, lists of dimensions of linalg ops that hold something else,
/// results with a number beyond all measure.
std::optional<Refusal> refuseUnsafeText(llvm::MemoryBufferRef buffer,
                                        unsigned limit);

/// Why bytecode was not read, after the parser complained.
Refusal explainBytecode(llvm::MemoryBufferRef buffer, StringRef complaint);

/// Why text was not read, if it is recognised as older than this MLIR. `line`
/// is where the parser stopped.
std::optional<Refusal> explainOldSyntax(llvm::MemoryBufferRef buffer,
                                        unsigned line);

/// The name that an op of old text has today: `arith.addf` for `addf` and
/// `std.addf`, `func.func` for `func`. Empty if the name is not old. `line` is
/// what follows it, where types tell ops of one name apart.
std::string renameOp(StringRef name, StringRef line);

} // namespace mlir::es

#endif // ES_LIB_FOREIGN_REFUSALS_H
