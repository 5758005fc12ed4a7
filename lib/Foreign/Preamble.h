//===- Preamble.h - Text around and before a module -------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_FOREIGN_PREAMBLE_H
#define ES_LIB_FOREIGN_PREAMBLE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::es {

/// Lines that a program logged before the module are replaced by blanks, so
/// that every other line stays where it is. Null if there are none; `lines`
/// counts them.
std::unique_ptr<llvm::MemoryBuffer> blankPreamble(llvm::MemoryBufferRef buffer,
                                                  unsigned &lines);

/// Calls `visit` with the dialect of every op that is printed at the beginning
/// of a line, not more than once in a row for the same one.
void forEachPrintedDialect(llvm::StringRef text,
                           llvm::function_ref<void(llvm::StringRef)> visit);

} // namespace mlir::es

#endif // ES_LIB_FOREIGN_PREAMBLE_H
