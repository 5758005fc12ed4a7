//===- ControlForms.cpp - Loops and reductions ----------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops whose regions take their arguments from what is printed before them.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "Lookahead.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

/// `while(%a = %0, %b = %1) : types attributes {...} cond {...} do {...}`: both
/// regions have the bound names as arguments.
static ParseResult readWhile(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  if (*reader.here() != '(')
    return success();
  if (reader.readGroup())
    return failure();
  if (succeeded(parser.parseOptionalColon()) && reader.readTypes())
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(reader.getState().attributes))
    return failure();
  if (reader.word() != "cond")
    return success();
  FailureOr<SmallVector<OpReader::Argument>> arguments =
      reader.getBoundArguments();
  if (failed(arguments) || parser.parseKeyword("cond") ||
      reader.readRegion(*arguments) || parser.parseKeyword("do") ||
      reader.readRegion(*arguments))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// Operands are printed as pairs, `(%a init: %x), (%b init: %y)`, and are all
/// inputs first and then all inits.
static ParseResult readReduceOperands(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  SmallVector<OpReader::Operand> inits;
  do {
    if (parser.parseLParen() || reader.readOperand() ||
        parser.parseKeyword("init") || parser.parseColon() ||
        reader.readOperand() || parser.parseRParen())
      return failure();
    inits.push_back(reader.operands.pop_back_val());
  } while (succeeded(parser.parseOptionalComma()));
  llvm::append_range(reader.operands, inits);
  return success();
}

/// The region that `applies op` stands for: one op on two scalars.
static ParseResult addAppliedRegion(OpReader &reader, OperationName name,
                                    Type element, Location loc) {
  OperationState &state = reader.getState();
  auto type = RankedTensorType::get({}, element);
  Block &block = state.addRegion()->emplaceBlock();
  block.addArguments({type, type}, {loc, loc});
  OpBuilder builder(reader.getParser().getContext());
  builder.setInsertionPointToStart(&block);
  OperationState body(loc, name);
  body.addOperands(block.getArguments());
  body.addTypes(type);
  Operation *applied = builder.create(body);
  OperationState terminator(loc, (reader.getDialect() + ".return").str());
  terminator.addOperands(applied->getResults());
  builder.create(terminator);
  return success();
}

/// `across dimensions = [1, 2]`
static ParseResult readAcross(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  Attribute dims;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") ||
      parser.parseEqual() || reader.readValue(dims))
    return failure();
  reader.set("dimensions", dims);
  return success();
}

/// `reducer(%a: t, %b: t) (%c: u, %d: u) {...}`: pairs become all left sides
/// and then all right sides.
static ParseResult readReducer(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  SmallVector<OpReader::Argument> left, right;
  if (parser.parseKeyword("reducer"))
    return failure();
  while (succeeded(parser.parseOptionalLParen()))
    if (parser.parseArgument(left.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() ||
        parser.parseArgument(right.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  left.append(right);
  return reader.readRegion(left);
}

/// The types and attributes between the dimensions and the region.
static ParseResult readReduceSignature(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  if (parser.parseOptionalAttrDict(reader.getState().attributes) ||
      parser.parseColon() || reader.readTypes())
    return failure();
  return success();
}

static ParseResult readApplied(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword("applies"))
    return failure();
  FailureOr<OperationName> name = parser.parseCustomOperationName();
  if (failed(name) || readAcross(reader) || readReduceSignature(reader))
    return failure();
  auto shaped = reader.types.empty()
                    ? ShapedType()
                    : dyn_cast<ShapedType>(reader.types.front());
  if (!shaped)
    return reader.emitUnreadable("expects the type of a tensor to reduce");
  return addAppliedRegion(reader, *name, shaped.getElementType(),
                          parser.getEncodedSourceLoc(loc));
}

static ParseResult readReduce(OpReader &reader) {
  if (*reader.here() != '(')
    return success();
  if (readReduceOperands(reader))
    return failure();
  if (reader.word() == "applies")
    return readApplied(reader);
  if (reader.word() != "across")
    return success();
  if (readAcross(reader) || readReduceSignature(reader) || readReducer(reader))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// krnl.iterate
//===----------------------------------------------------------------------===//

/// One of `%loop -> %i = 0 to 10`: a loop, its variable, its bounds.
static ParseResult readInduction(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  OpReader::Argument variable;
  if (reader.readOperand() || parser.parseArrow() ||
      parser.parseArgument(variable) || parser.parseEqual())
    return failure();
  variable.type = reader.getBuilder().getIndexType();
  reader.regionArguments.push_back(variable);
  while (!StringRef(",)").contains(*reader.here()))
    if (reader.readItem())
      return failure();
  return success();
}

/// `iterate(%l) with (%l -> %i = 0 to 10) iter_args(...) {...}`
static ParseResult readIterate(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  reader.lookupOperands = true;
  if (*reader.here() != '(')
    return success();
  if (reader.readGroup() || parser.parseKeyword("with") || parser.parseLParen())
    return failure();
  while (failed(parser.parseOptionalRParen())) {
    if (readInduction(reader))
      return failure();
    (void)parser.parseOptionalComma();
  }
  return success();
}

void mlir::es::addControlForms(FormTable &table) {
  table["while"] = {readWhile};
  table["reduce"] = {readReduce};
  table["iterate"] = {readIterate};
}
