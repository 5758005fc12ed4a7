//===- Lookahead.cpp - What stands next in the text -----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lookahead.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir::es::lookahead;

const char *mlir::es::lookahead::skipBlanks(const char *text) {
  while (true) {
    while (isSpace(*text))
      ++text;
    if (text[0] != '/' || text[1] != '/')
      return text;
    while (*text && *text != '\n')
      ++text;
  }
}

static bool isNameChar(char c) {
  return isAlnum(c) || c == '_' || c == '.' || c == '$';
}

StringRef mlir::es::lookahead::getWord(const char *text) {
  if (!isAlpha(*text) && *text != '_')
    return "";
  const char *end = text;
  while (isNameChar(*end))
    ++end;
  return StringRef(text, end - text);
}

/// The character after the string literal at `text`.
static const char *skipString(const char *text) {
  for (++text; *text && *text != '"' && *text != '\n'; ++text)
    if (*text == '\\' && text[1])
      ++text;
  return *text == '"' ? text + 1 : text;
}

const char *mlir::es::lookahead::skipName(const char *text) {
  if (*text == '"')
    return skipString(text);
  if (*text == '@' && text[1] == '"')
    return skipString(text + 1);
  if (*text == '%' || *text == '@')
    ++text;
  while (isNameChar(*text) || *text == '-')
    ++text;
  return text;
}

const char *mlir::es::lookahead::findClosing(const char *open) {
  // A list of region arguments or operands; what is longer is not looked at,
  // so that nested brackets cost no more than this each.
  constexpr size_t kMaxDistance = 1 << 16;
  unsigned depth = 0;
  for (const char *text = open; *text && text - open < int(kMaxDistance);
       ++text) {
    switch (*text) {
    case '(':
    case '[':
    case '{':
      ++depth;
      break;
    case ')':
    case ']':
    case '}':
      if (--depth == 0)
        return text;
      break;
    case '"':
      text = skipString(text) - 1;
      break;
    default:
      break;
    }
  }
  return nullptr;
}

bool mlir::es::lookahead::isAtLineStart(const char *text, const char *begin) {
  while (text > begin) {
    --text;
    if (*text == '\n')
      return true;
    if (!isSpace(*text))
      return false;
  }
  return false;
}

/// True if `text` begins with `%a, %b:2 =`.
static bool startsResults(const char *text) {
  while (*text == '%') {
    text = skipBlanks(skipName(text));
    if (*text == ':' && isDigit(text[1])) {
      ++text;
      while (isDigit(*text))
        ++text;
      text = skipBlanks(text);
    }
    if (*text == '=')
      return text[1] != '=';
    if (*text != ',')
      return false;
    text = skipBlanks(text + 1);
  }
  return false;
}

/// Ops that are printed without their dialect inside functions and modules.
static bool isDefaultDialectOp(StringRef word) {
  return StringSwitch<bool>(word)
      .Cases({"return", "call", "call_indirect", "constant", "module"}, true)
      .Cases({"func", "unrealized_conversion_cast"}, true)
      .Default(false);
}

bool mlir::es::lookahead::startsOp(const char *text) {
  if (*text == '%')
    return startsResults(text);
  if (*text == '"') {
    const char *end = skipString(text);
    return StringRef(text, end - text).contains('.') && *skipBlanks(end) == '(';
  }
  if ((*text == '#' || *text == '!') && isAlpha(text[1])) {
    StringRef name = getWord(text + 1);
    const char *next = skipBlanks(name.end());
    return *next == '=' && next[1] != '=';
  }
  StringRef word = getWord(text);
  size_t dot = word.find('.');
  return (dot != StringRef::npos && dot != 0 && dot + 1 < word.size()) ||
         isDefaultDialectOp(word);
}

static bool isScalarTypeName(StringRef word) {
  if (word.consume_front("bf") || word.consume_front("tf") ||
      word.consume_front("si") || word.consume_front("ui") ||
      word.consume_front("f") || word.consume_front("i"))
    return !word.empty() && isDigit(word[0]);
  return word == "index" || word == "none";
}

bool mlir::es::lookahead::startsType(const char *text) {
  if (*text == '!')
    return true;
  StringRef word = getWord(text);
  if (word.empty())
    return false;
  if (*word.end() == '<')
    return StringSwitch<bool>(word)
        .Cases({"tensor", "memref", "vector", "tuple", "complex"}, true)
        .Cases({"graph", "token"}, true)
        .Default(false);
  return isScalarTypeName(word);
}

bool mlir::es::lookahead::startsBuiltinAttribute(const char *text) {
  StringRef word = getWord(text);
  if (word == "true" || word == "false" || word == "unit")
    return true;
  if (*word.end() != '<')
    return false;
  return StringSwitch<bool>(word)
      .Cases({"dense", "dense_resource", "array", "sparse"}, true)
      .Cases({"affine_map", "affine_set", "opaque", "strided"}, true)
      .Default(false);
}

Brace mlir::es::lookahead::classifyBrace(const char *open) {
  const char *inner = skipBlanks(open + 1);
  if (*inner == '}')
    return Brace::Dictionary;
  if (*inner == '^')
    return Brace::Region;
  if (*inner == '%')
    return startsResults(inner) ? Brace::Region : Brace::Operands;
  const char *next = skipBlanks(skipName(inner));
  if (*inner == '"')
    return *next == '(' ? Brace::Region : Brace::Dictionary;
  StringRef word = getWord(inner);
  if (*next == '=' || *next == ',')
    return Brace::Dictionary;
  if (*next == '}') {
    // `{unit}`, or a region of one op that has neither operands nor types.
    bool alone = word.contains('.') && isAtLineStart(inner, open);
    return alone ? Brace::Region : Brace::Dictionary;
  }
  return word.empty() ? Brace::Dictionary : Brace::Region;
}

bool mlir::es::lookahead::opensRegionArguments(const char *open) {
  const char *inner = skipBlanks(open + 1);
  if (*inner == '%') {
    const char *next = skipBlanks(skipName(inner));
    if (*next != ':' || next[1] == ':')
      return false;
  } else if (*inner != ')') {
    return false;
  }
  const char *close = findClosing(open);
  if (!close)
    return false;
  const char *brace = skipBlanks(close + 1);
  if (*brace != '{')
    return false;
  if (*inner == ')')
    return classifyBrace(brace) == Brace::Region;
  return *skipBlanks(brace + 1) != '^' &&
         classifyBrace(brace) != Brace::Operands &&
         (classifyBrace(brace) == Brace::Region ||
          *skipBlanks(brace + 1) == '}');
}
