//===- Reader.h - Read a model file -----------------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a model as a person has it: with log lines before the module, with
// dialects nobody has heard of, from another version of MLIR. What cannot be
// read is answered with one diagnostic that says what to do.
//
//===----------------------------------------------------------------------===//

#ifndef ES_FOREIGN_READER_H
#define ES_FOREIGN_READER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"
#include <string>
#include <vector>

namespace mlir::es {

struct ReadOptions {
  /// Read like any MLIR tool: every op is verified, dialects that are not
  /// registered are errors, nothing is skipped.
  bool strict = false;
  /// Brackets and regions that may be open at once.
  unsigned maxNesting = 600;
};

/// What was done to read the file.
struct ReadSummary {
  /// Lines before the module that are not MLIR.
  unsigned skippedLines = 0;
  /// Dialects that were taken as they are printed, by name.
  std::vector<std::string> unknownDialects;
  /// Ops that do not verify, by name, with the first complaint of each.
  struct Invalid {
    unsigned count = 0;
    std::string complaint;
  };
  llvm::MapVector<std::string, Invalid, llvm::StringMap<unsigned>> invalidOps;

  /// One sentence for each of these.
  std::vector<std::string> getNotes() const;
};

/// Reads the main buffer of `sources`. Null, after one error, if it cannot be
/// read.
OwningOpRef<ModuleOp> parseModelFile(llvm::SourceMgr &sources,
                                     MLIRContext *context,
                                     const ReadOptions &options,
                                     ReadSummary &summary);

/// The same for tools that have a parser of their own: refuses what cannot be
/// MLIR, blanks what stands before the module, registers the dialects that the
/// text uses and `registry` does not know. The error is printed to `errors`.
LogicalResult prepareModelText(std::unique_ptr<llvm::MemoryBuffer> &buffer,
                               DialectRegistry &registry,
                               const ReadOptions &options,
                               llvm::raw_ostream &errors);

/// `text` of an MLIR of before 2022 in the syntax of today, as far as that can
/// be told from the text: functions, ops of the std dialect, expand_shape,
/// init_tensor, elided constants.
std::string upgradeSyntax(StringRef text);

} // namespace mlir::es

#endif // ES_FOREIGN_READER_H
