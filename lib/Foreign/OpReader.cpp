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

/// Brackets within one op; regions are bounded by the reader of the file.
static constexpr unsigned kMaxDepth = 64;

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
  case '<': {
    if (text[1] == '{') {
      if (parser.parseLess() || parser.parseOptionalAttrDict(state.attributes))
        return failure();
      return parser.parseGreater();
    }
    StringRef raw;
    if (readRaw(raw))
      return failure();
    addPositional(getBuilder().getStringAttr(raw));
    return success();
  }
  case '{':
    return readBraces();
  case ':':
    return readColon();
  case '"':
  case '@':
  case '#':
    return readAttribute();
  case '!': {
    Type type;
    if (parser.parseType(type))
      return failure();
    addPositional(TypeAttr::get(type));
    return success();
  }
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
  if (lookahead::startsType(here()) && *key.end() == '<') {
    Type type;
    if (parser.parseType(type))
      return failure();
    addPositional(TypeAttr::get(type));
    return success();
  }
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

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

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
