//===- OpReader.h - One op in its printed form ------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads an op of a dialect that is not linked in. Whatever an op prints is a
// sequence of items: operands, literals, symbols, `key = value` clauses, groups
// in brackets, regions, dictionaries, types. The reader collects them in order
// and works the signature out at the end; forms (Forms.h) read the parts of an
// op whose meaning the items alone do not tell.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_FOREIGN_OPREADER_H
#define ES_LIB_FOREIGN_OPREADER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::es {

class OpReader {
public:
  using Unresolved = OpAsmParser::UnresolvedOperand;
  using Argument = OpAsmParser::Argument;

  OpReader(OpAsmParser &parser, OperationState &state);

  /// Reads the whole op after its name.
  ParseResult read();

  //===--------------------------------------------------------------------===//
  // Pieces that forms are made of
  //===--------------------------------------------------------------------===//

  OpAsmParser &getParser() { return parser; }
  OperationState &getState() { return state; }
  Builder &getBuilder() { return parser.getBuilder(); }
  /// The op's name without its dialect.
  StringRef getName() const { return name; }
  StringRef getDialect() const { return dialect; }

  /// The text at the current token.
  const char *here() { return parser.getCurrentLocation().getPointer(); }
  StringRef word();
  /// Consumes `keyword` if it is next.
  bool consume(StringRef keyword);

  /// Reads items until the op ends.
  ParseResult readItems();
  /// Reads one item, which is at least one token.
  ParseResult readItem();
  /// Reads a bracketed group of items.
  ParseResult readGroup();
  /// Reads a bracketed group for its text alone, which includes the brackets;
  /// operands in it become operands of the op.
  ParseResult readRaw(StringRef &text);

  ParseResult readOperand();
  /// Reads the value of a clause: a number, list, keyword, string, record.
  ParseResult readValue(Attribute &value);
  /// Reads `: types [-> types]`, with the colon consumed.
  ParseResult readTypes();
  /// Reads what follows `->`.
  ParseResult readResultTypes();
  /// Reads a region whose first block has `arguments`.
  ParseResult readRegion(ArrayRef<Argument> arguments);
  /// Reads `{ ... }` as what it is.
  ParseResult readBraces();

  /// Sets an attribute under its real name; no value is none.
  void set(StringRef key, Attribute value) {
    if (value)
      state.attributes.set(key, value);
  }
  /// Keeps an attribute that has no keyword in the text.
  void addPositional(Attribute value);
  /// `#dialect<text>` of the op's own dialect.
  Attribute makeOpaque(const Twine &text);

  /// Adds `type` to the types of the operands; a function type gives the
  /// results too.
  void addType(Type type);
  /// The type of an operand that was defined before; `guess` if none was.
  FailureOr<Type> lookupType(const Unresolved &operand, Type guess);
  /// The arguments of loop regions, `%arg = %init`, with the types of the
  /// inits.
  FailureOr<SmallVector<Argument>> getBoundArguments();

  /// An error at the current token that says what to do instead.
  ParseResult emitUnreadable(const Twine &what);

  /// An operand and, if the text says it right there, its type.
  struct Operand {
    Unresolved value;
    Type type;
  };
  SmallVector<Operand, 4> operands;
  /// `%arg = %init`: the left-hand sides; the inits are operands from
  /// `firstBound` on.
  SmallVector<Unresolved> bound;
  size_t firstBound = 0;
  /// Types after `:`, and after `->`.
  SmallVector<Type, 4> types;
  SmallVector<Type, 2> results;
  bool sawTypes = false, sawArrow = false;
  /// The arguments of the next region.
  SmallVector<Argument> regionArguments;
  /// The type that a literal brought with it.
  Type literalType;
  /// Operands whose types are not among the listed ones are looked up.
  bool lookupOperands = false;

private:
  bool isAtEnd();
  ParseResult readItemOfKind();
  ParseResult readAngles();
  ParseResult readPositionalType();
  ParseResult readWord();
  ParseResult readClause(StringRef key);
  ParseResult readAttribute();
  ParseResult readNumber();
  ParseResult readColon();
  ParseResult readPunctuation();
  ParseResult readOperandTypesOfGroup(size_t first);
  ParseResult readTypeList(SmallVectorImpl<Type> &list);
  ParseResult readType(SmallVectorImpl<Type> &list);
  ParseResult readTupleOfTypes(SmallVectorImpl<Type> &list);
  ParseResult readDynamicDims();
  ParseResult readListValue(Attribute &value);
  ParseResult readRecordValue(Attribute &value);
  ParseResult readWordValue(Attribute &value);
  ParseResult finish();
  void finishResults();
  ParseResult resolveOperands();
  ParseResult resolveLoosely(const Operand &operand, Type guess);
  bool isStrict() const;

  OpAsmParser &parser;
  OperationState &state;
  StringRef dialect, name;
  const char *begin;
  unsigned depth = 0;
  unsigned numPositional = 0;
  /// Attributes that are read belong to a text that is kept as a whole.
  bool textOnly = false;
  SmallVector<Attribute> keywords;
};

/// Hook of all foreign dialects.
ParseResult readForeignOp(OpAsmParser &parser, OperationState &state);

} // namespace mlir::es

#endif // ES_LIB_FOREIGN_OPREADER_H
