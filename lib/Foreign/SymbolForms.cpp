//===- SymbolForms.cpp - Functions and globals ----------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that define symbols get the attributes that the symbol table and
// functions of the builtin dialects use: sym_name, sym_visibility,
// function_type, arg_attrs, res_attrs.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "Lookahead.h"

using namespace mlir;
using namespace mlir::es;

static ParseResult readVisibility(OpReader &reader) {
  for (StringRef visibility : {"public", "private", "nested"})
    if (reader.consume(visibility))
      reader.set("sym_visibility",
                 reader.getBuilder().getStringAttr(visibility));
  return success();
}

static ParseResult readSymbol(OpReader &reader) {
  StringAttr symbol;
  if (reader.getParser().parseSymbolName(symbol))
    return failure();
  reader.set("sym_name", symbol);
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Arrays of dictionaries are kept only if one of them says something.
static void setDictionaries(OpReader &reader, StringRef name,
                            ArrayRef<DictionaryAttr> dictionaries) {
  Builder &builder = reader.getBuilder();
  if (llvm::none_of(dictionaries,
                    [](DictionaryAttr d) { return d && !d.empty(); }))
    return;
  SmallVector<Attribute> filled;
  for (DictionaryAttr dictionary : dictionaries)
    filled.push_back(dictionary ? dictionary : builder.getDictionaryAttr({}));
  reader.set(name, builder.getArrayAttr(filled));
}

/// The type of a result: `type`, `%arg as type`, `%arg`.
static ParseResult readResultType(OpReader &reader,
                                  ArrayRef<OpReader::Argument> arguments,
                                  Type &type) {
  OpAsmParser &parser = reader.getParser();
  if (*reader.here() != '%')
    return parser.parseType(type);
  OpReader::Unresolved tied;
  if (parser.parseOperand(tied))
    return failure();
  for (const OpReader::Argument &argument : arguments)
    if (argument.ssaName.name == tied.name)
      type = argument.type;
  if (reader.consume("as") && parser.parseType(type))
    return failure();
  if (!type)
    return reader.emitUnreadable("a result is tied to no argument");
  return success();
}

/// One of several results, and its attributes.
static ParseResult readResult(OpReader &reader,
                              ArrayRef<OpReader::Argument> arguments,
                              SmallVectorImpl<Type> &types,
                              SmallVectorImpl<DictionaryAttr> &attributes) {
  OpAsmParser &parser = reader.getParser();
  Type type;
  if (readResultType(reader, arguments, type))
    return failure();
  NamedAttrList dictionary;
  if (*reader.here() == '{' &&
      lookahead::classifyBrace(reader.here()) == lookahead::Brace::Dictionary &&
      parser.parseOptionalAttrDict(dictionary))
    return failure();
  types.push_back(type);
  attributes.push_back(dictionary.getDictionary(parser.getContext()));
  return success();
}

static ParseResult readResults(OpReader &reader,
                               ArrayRef<OpReader::Argument> arguments,
                               SmallVectorImpl<Type> &types,
                               SmallVectorImpl<DictionaryAttr> &attributes) {
  OpAsmParser &parser = reader.getParser();
  if (failed(parser.parseOptionalArrow()))
    return success();
  if (*reader.here() != '(') {
    attributes.push_back({});
    return readResultType(reader, arguments, types.emplace_back());
  }
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
    return readResult(reader, arguments, types, attributes);
  });
}

/// Declarations may leave the names of arguments out.
static ParseResult readArgument(OpReader &reader,
                                SmallVectorImpl<OpReader::Argument> &list) {
  OpAsmParser &parser = reader.getParser();
  OpReader::Argument &argument = list.emplace_back();
  if (*reader.here() == '%')
    return parser.parseArgument(argument, /*allowType=*/true,
                                /*allowAttrs=*/true);
  NamedAttrList attributes;
  if (parser.parseType(argument.type) ||
      parser.parseOptionalAttrDict(attributes))
    return failure();
  argument.attrs = attributes.getDictionary(parser.getContext());
  return success();
}

/// `func [visibility] @name(...) -> ... [attributes {...}] [{...}]`
static ParseResult readFunction(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  SmallVector<OpReader::Argument> arguments;
  SmallVector<Type> inputs, results;
  SmallVector<DictionaryAttr> argAttrs, resAttrs;
  if (readVisibility(reader) || readSymbol(reader) ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Paren,
          [&] { return readArgument(reader, arguments); }) ||
      readResults(reader, arguments, results, resAttrs) ||
      parser.parseOptionalAttrDictWithKeyword(reader.getState().attributes))
    return failure();
  for (const OpReader::Argument &argument : arguments) {
    inputs.push_back(argument.type);
    argAttrs.push_back(argument.attrs);
  }
  Builder &builder = reader.getBuilder();
  reader.set("function_type",
             TypeAttr::get(builder.getFunctionType(inputs, results)));
  setDictionaries(reader, "arg_attrs", argAttrs);
  setDictionaries(reader, "res_attrs", resAttrs);
  Region *body = reader.getState().addRegion();
  if (*reader.here() != '{')
    return success();
  return parser.parseRegion(*body, arguments);
}

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

/// `global [visibility] [mutable] @name [{...}] [: type] [= value [: type]]`
static ParseResult readGlobal(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  Builder &builder = reader.getBuilder();
  if (readVisibility(reader))
    return failure();
  if (reader.consume("mutable"))
    reader.set("is_mutable", builder.getUnitAttr());
  if (readSymbol(reader) ||
      parser.parseOptionalAttrDict(reader.getState().attributes))
    return failure();
  Type type;
  Attribute value;
  if (succeeded(parser.parseOptionalColon()) && parser.parseType(type))
    return failure();
  if (succeeded(parser.parseOptionalEqual())) {
    if (parser.parseAttribute(value))
      return failure();
    reader.set("initial_value", value);
  }
  if (succeeded(parser.parseOptionalColon()) && parser.parseType(type))
    return failure();
  auto typed = dyn_cast_or_null<TypedAttr>(value);
  if (!type && typed)
    type = typed.getType();
  if (!type)
    return reader.emitUnreadable("expects the type of the global");
  reader.set("type", TypeAttr::get(type));
  return success();
}

/// `global.load [immutable] @name : type`
static ParseResult readGlobalLoad(OpReader &reader) {
  if (reader.consume("immutable"))
    reader.set("is_immutable", reader.getBuilder().getUnitAttr());
  return success();
}

void mlir::es::addSymbolForms(FormTable &table) {
  table["func"] = {readFunction, nullptr, /*isComplete=*/true};
  table["func_v1"] = {readFunction, nullptr, /*isComplete=*/true};
  table["async.func"] = {readFunction, nullptr, /*isComplete=*/true};
  table["global"] = {readGlobal, nullptr, /*isComplete=*/true};
  table["global.load"] = {readGlobalLoad};
}
