//===- OpReader.cpp - The items of an op ----------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loop over the items of an op, and the reader of each kind of item.
//
//===----------------------------------------------------------------------===//

#include "OpReader.h"
#include "Clauses.h"
#include "Forms.h"
#include "Lookahead.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::es;

OpReader::OpReader(OpAsmParser &parser, OperationState &state)
    : parser(parser), state(state), dialect(state.name.getDialectNamespace()),
      name(state.name.stripDialect()), begin(parser.getNameLoc().getPointer()) {
}

ParseResult mlir::es::readForeignOp(OpAsmParser &parser,
                                    OperationState &state) {
  return OpReader(parser, state).read();
}

ParseResult OpReader::read() {
  const Form *form = lookupForm(dialect, name);
  if (form && form->prefix && form->prefix(*this))
    return failure();
  if ((!form || !form->isComplete) && readItems())
    return failure();
  if (!keywords.empty())
    set("keywords", getBuilder().getArrayAttr(keywords));
  if (form && form->suffix && form->suffix(*this))
    return failure();
  return finish();
}

StringRef OpReader::word() { return lookahead::getWord(here()); }

bool OpReader::consume(StringRef keyword) {
  return word() == keyword && succeeded(parser.parseOptionalKeyword(keyword));
}

ParseResult OpReader::emitUnreadable(const Twine &what) {
  // The parser puts "custom op 'name'" in front.
  return parser.emitError(parser.getCurrentLocation())
         << "cannot be read: " << what
         << "; print the module in generic form (--mlir-print-op-generic) "
            "where it was made";
}

/// True where the op cannot go on. After its types it goes on only with what
/// does not begin another op; before them, another op begins on another line.
bool OpReader::isAtEnd() {
  const char *text = here();
  if (StringRef(")]}^").contains(*text) || *text == '\0')
    return true;
  if (text[0] == '{' && text[1] == '-' && text[2] == '#')
    return true;
  if (word() == "loc" && text[3] == '(')
    return true;
  bool mayStart = sawTypes || sawArrow || literalType ||
                  !state.regions.empty() ||
                  lookahead::isAtLineStart(text, begin);
  return mayStart && lookahead::startsOp(text);
}

ParseResult OpReader::readItems() {
  while (!isAtEnd())
    if (readItem())
      return failure();
  return success();
}

ParseResult OpReader::readItem() {
  const char *before = here();
  if (readItemOfKind())
    return failure();
  if (here() == before)
    return emitUnreadable("'" + Twine(StringRef(before, 1)) +
                          "' is unexpected");
  return success();
}

ParseResult OpReader::readItemOfKind() {
  const char *text = here();
  switch (*text) {
  case '%':
    return readOperand();
  case '(':
    if (lookahead::opensRegionArguments(text))
      return parser.parseArgumentList(regionArguments,
                                      AsmParser::Delimiter::Paren,
                                      /*allowType=*/true, /*allowAttrs=*/true);
    return readGroup();
  case '[':
    return readGroup();
  case '<':
    return readAngles();
  case '{':
    return readBraces();
  case ':':
    return readColon();
  case '"':
  case '@':
  case '#':
    return readAttribute();
  case '!':
    return readPositionalType();
  case '-':
    if (text[1] == '>') {
      if (parser.parseArrow())
        return failure();
      return depth == 0 ? readResultTypes() : success();
    }
    return llvm::isDigit(text[1]) ? readNumber() : parser.parseMinus();
  default:
    break;
  }
  if (llvm::isDigit(*text))
    return readNumber();
  if (llvm::isAlpha(*text) || *text == '_')
    return readWord();
  return readPunctuation();
}

/// `<{...}>` are properties; any other text is an attribute.
ParseResult OpReader::readAngles() {
  if (here()[1] == '{') {
    if (parser.parseLess() || parser.parseOptionalAttrDict(state.attributes))
      return failure();
    return parser.parseGreater();
  }
  StringRef text;
  if (readRaw(text))
    return failure();
  addPositional(getBuilder().getStringAttr(text));
  return success();
}

ParseResult OpReader::readPositionalType() {
  Type type;
  if (parser.parseType(type))
    return failure();
  addPositional(TypeAttr::get(type));
  return success();
}

ParseResult OpReader::readPunctuation() {
  const char *text = here();
  if (succeeded(parser.parseOptionalComma()) ||
      succeeded(parser.parseOptionalEqual()) ||
      succeeded(parser.parseOptionalQuestion()) ||
      succeeded(parser.parseOptionalStar()) ||
      succeeded(parser.parseOptionalPlus()) ||
      succeeded(parser.parseOptionalSlash()) ||
      succeeded(parser.parseOptionalVerticalBar()) ||
      succeeded(parser.parseOptionalGreater()) ||
      succeeded(parser.parseOptionalEllipsis()))
    return success();
  if (*text == '\0')
    return emitUnreadable("the text ends in the middle of it");
  return emitUnreadable("'" + Twine(StringRef(text, 1)) + "' is unexpected");
}

ParseResult OpReader::readOperand() {
  Unresolved operand;
  if (parser.parseOperand(operand))
    return failure();
  if (succeeded(parser.parseOptionalEqual())) {
    if (bound.empty())
      firstBound = operands.size();
    bound.push_back(operand);
    if (*here() != '%')
      return success();
    if (parser.parseOperand(operand))
      return failure();
  }
  operands.push_back({operand, Type()});
  return success();
}

ParseResult OpReader::readColon() {
  if (parser.parseColon())
    return failure();
  // `::` between parts of a name.
  if (*here() == ':')
    return parser.parseColon();
  return readTypes();
}

ParseResult OpReader::readNumber() {
  Attribute value;
  if (readValue(value))
    return failure();
  addPositional(value);
  return success();
}

/// A literal, symbol, or attribute. An attribute takes the `: type` that
/// follows it, which may be the op's.
ParseResult OpReader::readAttribute() {
  Attribute value;
  if (*here() == '"') {
    std::string text;
    if (parser.parseString(&text))
      return failure();
    value = getBuilder().getStringAttr(text);
  } else if (parser.parseAttribute(value)) {
    return failure();
  }
  addPositional(value);
  auto typed = dyn_cast<TypedAttr>(value);
  if (!typed || isa<StringAttr>(value) || isa<NoneType>(typed.getType()))
    return success();
  if (isa<OpaqueAttr>(value) && depth == 0) {
    addType(typed.getType());
    return success();
  }
  literalType = typed.getType();
  return success();
}

ParseResult OpReader::readWord() {
  if (lookahead::startsBuiltinAttribute(here()))
    return readAttribute();
  StringRef key = word();
  const char *next = lookahead::skipBlanks(key.end());
  if (key == "attributes" && *next == '{')
    return parser.parseOptionalAttrDictWithKeyword(state.attributes);
  bool beforeType = *next == '(' || lookahead::startsType(next);
  if (depth == 0 && sawTypes && beforeType &&
      (key == "to" || key == "into" || key == "as")) {
    if (parser.parseKeyword(key))
      return failure();
    return readResultTypes();
  }
  // `tensor<4xf32> in !stream.resource<*>`: the first tells what the second,
  // the result, is made of.
  if (depth == 0 && sawArrow && beforeType && key == "in") {
    if (parser.parseKeyword(key))
      return failure();
    results.clear();
    return readResultTypes();
  }
  if (lookahead::startsType(here()) && *key.end() == '<')
    return readPositionalType();
  StringRef token;
  if (parser.parseKeyword(&token))
    return failure();
  if (*next == '=' && next[1] != '=' && next[1] != '>' &&
      token.size() == key.size())
    return readClause(token);
  bool isRegionWord = llvm::StringSwitch<bool>(token)
                          .Cases({"else", "then", "do", "cond", "body"}, true)
                          .Default(!state.regions.empty());
  if (*next == '{' && depth == 0 && isRegionWord)
    return readRegion(std::exchange(regionArguments, {}));
  if (*next != '(' && *next != '[')
    keywords.push_back(getBuilder().getStringAttr(token));
  return success();
}

ParseResult OpReader::readClause(StringRef key) {
  if (parser.parseEqual())
    return failure();
  Attribute value;
  if (StringRef("[{<").contains(*here()) && isTextClause(*this, key)) {
    StringRef text;
    if (readRaw(text))
      return failure();
    value = getBuilder().getStringAttr(text);
  } else if (readValue(value)) {
    return failure();
  }
  if (value)
    setClause(*this, key, value);
  return success();
}
