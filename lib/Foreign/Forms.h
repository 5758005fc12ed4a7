//===- Forms.h - Printed forms with a grammar of their own ------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the items of an op (OpReader.h) do not tell by themselves.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_FOREIGN_FORMS_H
#define ES_LIB_FOREIGN_FORMS_H

#include "OpReader.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::es {

struct Form {
  /// Reads the beginning of the op; the reader's items follow.
  ParseResult (*prefix)(OpReader &) = nullptr;
  /// Completes what was read.
  ParseResult (*suffix)(OpReader &) = nullptr;
  /// The prefix has read all.
  bool isComplete = false;
};

using FormTable = llvm::StringMap<Form>;

/// The form of `dialect.name`, or null.
const Form *lookupForm(StringRef dialect, StringRef name);

/// Forms of the StableHLO family: compare, slice, dot_general, convolution,
/// custom_call, composite ...
void addHloForms(FormTable &table);
/// while, reduce, loops.
void addControlForms(FormTable &table);
/// Symbols: functions, globals, meshes.
void addSymbolForms(FormTable &table);
/// Results whose types are not written.
void addImplicitTypeForms(FormTable &table);
/// The same for the literals of the torch dialect.
void addLiteralForms(FormTable &table);
/// Meshes, and collectives that begin with their axes.
void addShardingForms(FormTable &table);
/// Graphs and islands of TensorFlow.
void addExecutorForms(FormTable &table);

} // namespace mlir::es

#endif // ES_LIB_FOREIGN_FORMS_H
