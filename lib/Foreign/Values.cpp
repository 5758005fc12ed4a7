//===- Values.cpp - Values of clauses -------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `key = value` outside a dictionary has a looser grammar than attributes:
// numbers without types, bare keywords, records, lists in `a x b` pairs.
//
//===----------------------------------------------------------------------===//

#include "Lookahead.h"
#include "OpReader.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::es;

/// A list of integers becomes an array<i64>, any other list an array.
static Attribute makeList(Builder &builder, ArrayRef<Attribute> elements) {
  SmallVector<int64_t> integers;
  for (Attribute element : elements) {
    auto integer = dyn_cast<IntegerAttr>(element);
    if (!integer || !integer.getType().isInteger(64))
      return builder.getArrayAttr(elements);
    integers.push_back(integer.getInt());
  }
  return builder.getDenseI64ArrayAttr(integers);
}

/// True if a number at `text` is written with a point or an exponent.
static bool isFloatLiteral(const char *text) {
  if (*text == '-')
    ++text;
  while (llvm::isDigit(*text))
    ++text;
  return *text == '.';
}

static ParseResult parseNumber(OpReader &reader, Attribute &value) {
  OpAsmParser &parser = reader.getParser();
  Builder &builder = reader.getBuilder();
  if (isFloatLiteral(reader.here())) {
    double number;
    if (parser.parseFloat(number))
      return failure();
    value = builder.getF64FloatAttr(number);
    return success();
  }
  APInt number;
  OptionalParseResult result = parser.parseOptionalInteger(number);
  if (!result.has_value() || *result)
    return result.has_value() ? failure() : reader.emitUnreadable("no number");
  unsigned width = std::max(64u, number.getBitWidth());
  value =
      builder.getIntegerAttr(builder.getIntegerType(width), number.sext(width));
  return success();
}

ParseResult OpReader::readListValue(Attribute &value) {
  if (parser.parseLSquare())
    return failure();
  SmallVector<Attribute> elements;
  while (failed(parser.parseOptionalRSquare())) {
    Attribute element;
    if (readValue(element))
      return failure();
    if (element)
      elements.push_back(element);
    if (*here() != ']' && parser.parseComma())
      return failure();
  }
  value = makeList(getBuilder(), elements);
  // `[0] x [1]`: one list for each side.
  if (word() != "x" || *lookahead::skipBlanks(here() + 1) != '[')
    return success();
  Attribute other;
  if (parser.parseKeyword("x") || readListValue(other))
    return failure();
  value = getBuilder().getArrayAttr({value, other});
  return success();
}

/// `{stride = [1, 1], pad = [[0, 0]]}`, or `{"a", "b"}`.
ParseResult OpReader::readRecordValue(Attribute &value) {
  if (*lookahead::skipBlanks(here() + 1) == '"') {
    StringRef text;
    if (readRaw(text))
      return failure();
    value = getBuilder().getStringAttr(text);
    return success();
  }
  if (parser.parseLBrace())
    return failure();
  NamedAttrList entries;
  while (failed(parser.parseOptionalRBrace())) {
    StringRef key;
    Attribute entry;
    if (parser.parseKeyword(&key))
      return failure();
    if (failed(parser.parseOptionalEqual()))
      entry = getBuilder().getUnitAttr();
    else if (readValue(entry))
      return failure();
    if (entry)
      entries.set(key, entry);
    if (*here() != '}' && parser.parseComma())
      return failure();
  }
  value = entries.getDictionary(parser.getContext());
  return success();
}

ParseResult OpReader::readWordValue(Attribute &value) {
  if (lookahead::startsBuiltinAttribute(here()))
    return parser.parseAttribute(value);
  if (lookahead::startsType(here())) {
    Type type;
    if (parser.parseType(type))
      return failure();
    value = TypeAttr::get(type);
    return success();
  }
  StringRef token;
  if (parser.parseKeyword(&token))
    return failure();
  // `xor<...>`, `sized(...)`: the keyword with what belongs to it.
  if (*here() == '<' && here() == token.end()) {
    StringRef text;
    if (readRaw(text))
      return failure();
    value = getBuilder().getStringAttr(token + text.str());
    return success();
  }
  value = getBuilder().getStringAttr(token);
  return success();
}

ParseResult OpReader::readValue(Attribute &value) {
  if (depth > 32)
    return emitUnreadable("its lists nest too deep");
  const char *text = here();
  ++depth;
  llvm::scope_exit leave([&] { --depth; });
  switch (*text) {
  case '[':
    return readListValue(value);
  case '{':
    return readRecordValue(value);
  case '<':
  case '(': {
    StringRef raw;
    if (readRaw(raw))
      return failure();
    value = getBuilder().getStringAttr(raw);
    return success();
  }
  case '%':
    return readOperand();
  case '"': {
    std::string string;
    if (parser.parseString(&string))
      return failure();
    value = getBuilder().getStringAttr(string);
    return success();
  }
  case '@':
  case '#':
    return parser.parseAttribute(value);
  case '!': {
    Type type;
    if (parser.parseType(type))
      return failure();
    value = TypeAttr::get(type);
    return success();
  }
  default:
    break;
  }
  if (llvm::isDigit(*text) || (*text == '-' && llvm::isDigit(text[1])))
    return parseNumber(*this, value);
  if (llvm::isAlpha(*text) || *text == '_')
    return readWordValue(value);
  return readPunctuation();
}
