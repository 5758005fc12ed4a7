//===- OpReaderGroups.cpp - Brackets in an op -----------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What stands in brackets: groups of items, texts that are kept as they are,
// dictionaries, and regions.
//
//===----------------------------------------------------------------------===//

#include "Lookahead.h"
#include "OpReader.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::es;

/// Brackets within one op; regions are bounded by the reader of the file.
static constexpr unsigned kMaxDepth = 64;

/// The bracket that closes `open`.
static char getClosing(char open) {
  return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>';
}

static ParseResult parseBracket(OpAsmParser &parser, char bracket) {
  switch (bracket) {
  case '(':
    return parser.parseLParen();
  case ')':
    return parser.parseRParen();
  case '[':
    return parser.parseLSquare();
  case ']':
    return parser.parseRSquare();
  case '{':
    return parser.parseLBrace();
  case '}':
    return parser.parseRBrace();
  case '<':
    return parser.parseLess();
  default:
    return parser.parseGreater();
  }
}

ParseResult OpReader::readGroup() {
  char close = getClosing(*here());
  if (depth >= kMaxDepth)
    return emitUnreadable("its brackets nest deeper than " + Twine(kMaxDepth));
  if (parseBracket(parser, *here()))
    return failure();
  ++depth;
  size_t first = operands.size();
  while (*here() != close) {
    if (StringRef(")]}").contains(*here()))
      return parseBracket(parser, close);
    if (*here() == ':' && here()[1] != ':' && operands.size() > first) {
      if (parser.parseColon() || readOperandTypesOfGroup(first))
        return failure();
      continue;
    }
    if (*here() == ':') {
      if (parser.parseColon())
        return failure();
      continue;
    }
    if (readItem())
      return failure();
  }
  --depth;
  return parseBracket(parser, close);
}

/// `(%a, %b : t, u)` and `(%a : t, %b : u)`: types of the operands that have
/// none yet.
ParseResult OpReader::readOperandTypesOfGroup(size_t first) {
  SmallVector<Type> list;
  if (!lookahead::startsType(here()))
    return success();
  if (readTypeList(list))
    return failure();
  SmallVector<Operand *> untyped;
  for (Operand &operand : MutableArrayRef(operands).drop_front(first))
    if (!operand.type)
      untyped.push_back(&operand);
  if (untyped.size() == list.size())
    for (auto [operand, type] : llvm::zip(untyped, list))
      operand->type = type;
  // `hal.fence` and the like may stand beside an attribute of the operand.
  NamedAttrList ignored;
  if (*here() == '{')
    return parser.parseOptionalAttrDict(ignored);
  return success();
}

ParseResult OpReader::readRaw(StringRef &text) {
  const char *start = here();
  SmallVector<char> open;
  do {
    char c = *here();
    if (c == '\0')
      return readPunctuation();
    if (open.size() > kMaxDepth)
      return emitUnreadable("its brackets nest deeper than " +
                            Twine(kMaxDepth));
    if (StringRef("([{<").contains(c)) {
      open.push_back(getClosing(c));
      if (parseBracket(parser, c))
        return failure();
    } else if (StringRef(")]}>").contains(c)) {
      if (c != open.back())
        return parseBracket(parser, open.back());
      open.pop_back();
      text = StringRef(start, here() + 1 - start);
      if (parseBracket(parser, c))
        return failure();
    } else if (c == ':') {
      if (parser.parseColon())
        return failure();
    } else if (c == '"') {
      if (parser.parseString(nullptr))
        return failure();
    } else if (llvm::isAlpha(c) || c == '_') {
      StringRef token;
      if (parser.parseKeyword(&token))
        return failure();
    } else {
      bool wasTextOnly = std::exchange(textOnly, true);
      ++depth;
      ParseResult result = readItem();
      --depth;
      textOnly = wasTextOnly;
      if (result)
        return failure();
    }
  } while (!open.empty());
  return success();
}

//===----------------------------------------------------------------------===//
// Braces
//===----------------------------------------------------------------------===//

ParseResult OpReader::readBraces() {
  const char *text = here();
  bool empty = *lookahead::skipBlanks(text + 1) == '}';
  if (empty && !regionArguments.empty())
    return readRegion(std::exchange(regionArguments, {}));
  switch (lookahead::classifyBrace(text)) {
  case lookahead::Brace::Operands:
    return readGroup();
  case lookahead::Brace::Region:
    if (!regionArguments.empty() || bound.empty())
      return readRegion(std::exchange(regionArguments, {}));
    {
      FailureOr<SmallVector<Argument>> arguments = getBoundArguments();
      if (failed(arguments))
        return failure();
      return readRegion(*arguments);
    }
  case lookahead::Brace::Dictionary:
    break;
  }
  NamedAttrList attributes;
  if (parser.parseOptionalAttrDict(attributes))
    return failure();
  for (NamedAttribute attribute : attributes)
    state.attributes.set(attribute.getName(), attribute.getValue());
  return success();
}

ParseResult OpReader::readRegion(ArrayRef<Argument> arguments) {
  return parser.parseRegion(*state.addRegion(), arguments);
}

FailureOr<SmallVector<OpAsmParser::Argument>> OpReader::getBoundArguments() {
  SmallVector<Argument> arguments;
  ArrayRef<Type> known(types);
  if (known.size() != bound.size())
    known = results;
  for (auto [index, name] : llvm::enumerate(bound)) {
    Argument &argument = arguments.emplace_back();
    argument.ssaName = name;
    if (known.size() == bound.size()) {
      argument.type = known[index];
    } else if (firstBound + index < operands.size()) {
      FailureOr<Type> type =
          lookupType(operands[firstBound + index].value, Type());
      if (failed(type))
        return failure();
      argument.type = *type;
    } else {
      return emitUnreadable("the type of a region argument is not known");
    }
  }
  return arguments;
}
