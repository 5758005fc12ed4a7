//===- Lookahead.h - What stands next in the text ---------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The op parser of MLIR says what the next token is only by trying to consume
// it. These functions look at the text instead, which ends in a null character,
// and decide nothing but where things end and of what kind they are.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_FOREIGN_LOOKAHEAD_H
#define ES_LIB_FOREIGN_LOOKAHEAD_H

#include "llvm/ADT/StringRef.h"

namespace mlir::es::lookahead {

/// The first character that is neither blank nor in a comment.
const char *skipBlanks(const char *text);

/// The bare identifier at `text`, dots included; empty if there is none.
llvm::StringRef getWord(const char *text);

/// The character after a `"` string, `%` or `@` name, or word at `text`.
const char *skipName(const char *text);

/// The bracket that closes the one at `open`, or null if none does within a
/// bounded distance.
const char *findClosing(const char *open);

/// True if only blanks stand between `text` and the beginning of its line; no
/// character before `begin` is looked at.
bool isAtLineStart(const char *text, const char *begin);

/// True if `text` begins with the results or the name of an op.
bool startsOp(const char *text);

/// True if `text` begins with a type.
bool startsType(const char *text);

/// True if `text` begins with an attribute of the builtin dialect that has a
/// keyword (`dense<`, `array<`, `affine_map<`, `true`).
bool startsBuiltinAttribute(const char *text);

/// What a `{` opens.
enum class Brace { Dictionary, Region, Operands };
Brace classifyBrace(const char *open);

/// True if the `(` at `open` lists the arguments of the region that follows:
/// `(%a: type, ...) {`.
bool opensRegionArguments(const char *open);

} // namespace mlir::es::lookahead

#endif // ES_LIB_FOREIGN_LOOKAHEAD_H
