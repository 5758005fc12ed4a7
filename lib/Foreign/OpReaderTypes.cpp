//===- OpReaderTypes.cpp - The signature of an op -------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads lists of types and works out from them which operand and which result
// has which. An operand whose type is not written is asked for: every value was
// defined before, with its type.
//
//===----------------------------------------------------------------------===//

#include "Lookahead.h"
#include "OpReader.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Lists of types
//===----------------------------------------------------------------------===//

void OpReader::addType(Type type) {
  sawTypes = true;
  auto function = dyn_cast<FunctionType>(type);
  if (!function) {
    types.push_back(type);
    return;
  }
  llvm::append_range(types, function.getInputs());
  llvm::append_range(results, function.getResults());
  sawArrow = true;
}

/// `{%d0, %d1}` after a type: the sizes of its dynamic dimensions.
ParseResult OpReader::readDynamicDims() {
  if (*here() != '{' ||
      lookahead::classifyBrace(here()) != lookahead::Brace::Operands)
    return success();
  size_t first = operands.size();
  if (readGroup())
    return failure();
  for (Operand &operand : MutableArrayRef(operands).drop_front(first))
    operand.type = getBuilder().getIndexType();
  return success();
}

ParseResult OpReader::readType(SmallVectorImpl<Type> &list) {
  if (parser.parseType(list.emplace_back()))
    return failure();
  return readDynamicDims();
}

ParseResult OpReader::readTupleOfTypes(SmallVectorImpl<Type> &list) {
  if (parser.parseLParen())
    return failure();
  if (succeeded(parser.parseOptionalRParen()))
    return success();
  NamedAttrList ignored;
  do {
    if (readType(list))
      return failure();
    if (*here() == '{' && parser.parseOptionalAttrDict(ignored))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseRParen();
}

ParseResult OpReader::readTypeList(SmallVectorImpl<Type> &list) {
  while (true) {
    if (*here() == '(' ? readTupleOfTypes(list) : readType(list))
      return failure();
    if (*here() != ',')
      return success();
    const char *next = lookahead::skipBlanks(here() + 1);
    if (*next != '(' && !lookahead::startsType(next))
      return success();
    if (parser.parseComma())
      return failure();
  }
}

ParseResult OpReader::readTypes() {
  sawTypes = true;
  if (readTypeList(types))
    return failure();
  if (here()[0] == '-' && here()[1] == '>') {
    if (parser.parseArrow())
      return failure();
    return readResultTypes();
  }
  return success();
}

ParseResult OpReader::readResultTypes() {
  sawArrow = true;
  // `-> %x as type` ties a result to an operand.
  while (*here() == '%') {
    Unresolved tied;
    if (parser.parseOperand(tied))
      return failure();
    if (consume("as")) {
      if (readType(results))
        return failure();
    } else {
      FailureOr<Type> type = lookupType(tied, Type());
      if (failed(type))
        return failure();
      results.push_back(*type);
    }
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  return readTypeList(results);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void OpReader::finishResults() {
  size_t count = parser.getNumResults();
  if (!sawArrow && count != 0) {
    // `op %a, %b : type`: the result is of the last type, or there are as many
    // results as types.
    if (types.size() == count)
      results.assign(types.begin(), types.end());
    else if (!types.empty())
      results.assign(count, types.back());
    else if (results.empty())
      results.assign(count,
                     literalType ? literalType : getBuilder().getNoneType());
  }
  // A type that belongs to no value: `torch.attr "w" : !torch.tensor`.
  if (!sawArrow && count == 0 && operands.empty() && types.size() == 1)
    set("type", TypeAttr::get(types.pop_back_val()));
  state.addTypes(results);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {
/// Resolves an operand with a type that may be wrong. Where the value has
/// another one, the complaint names it; any other diagnostic passes.
class OperandProbe {
public:
  OperandProbe(OpAsmParser &parser)
      : parser(parser), handler(parser.getContext(), [&](Diagnostic &diag) {
          return success(isTypeMismatch(diag));
        }) {}

  ParseResult resolve(const OpReader::Unresolved &operand, Type guess,
                      SmallVectorImpl<Value> &values) {
    actual = Type();
    if (succeeded(parser.resolveOperand(operand, guess, values)))
      return success();
    return actual ? parser.resolveOperand(operand, actual, values)
                  : ParseResult(failure());
  }

private:
  bool isTypeMismatch(Diagnostic &diag) {
    SmallVector<Type> mentioned;
    for (DiagnosticArgument &argument : diag.getArguments())
      if (argument.getKind() ==
          DiagnosticArgument::DiagnosticArgumentKind::Type)
        mentioned.push_back(argument.getAsType());
    if (mentioned.size() != 2)
      return false;
    actual = mentioned[1];
    return true;
  }

  OpAsmParser &parser;
  Type actual;
  ScopedDiagnosticHandler handler;
};
} // namespace

ParseResult OpReader::resolveLoosely(const Operand &operand, Type guess) {
  OperandProbe probe(parser);
  return probe.resolve(operand.value, guess, state.operands);
}

FailureOr<Type> OpReader::lookupType(const Unresolved &operand, Type guess) {
  if (!guess)
    guess = getBuilder().getNoneType();
  SmallVector<Value> value;
  OperandProbe probe(parser);
  if (probe.resolve(operand, guess, value))
    return failure();
  return value.front().getType();
}

/// In the dialects of the StableHLO family a list of types that does not fit
/// the operands is a mistake in the text.
bool OpReader::isStrict() const {
  return !lookupOperands &&
         (dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo");
}

ParseResult OpReader::resolveOperands() {
  SmallVector<Operand *> untyped;
  for (Operand &operand : operands)
    if (!operand.type)
      untyped.push_back(&operand);
  bool pairwise = untyped.size() == types.size();
  if (!pairwise && isStrict() && types.size() != 1)
    return parser.emitError(parser.getNameLoc())
           << "has " << untyped.size() << " operands but " << types.size()
           << " operand types";
  for (auto [index, operand] : llvm::enumerate(untyped))
    if (pairwise)
      operand->type = types[index];
    else if (isStrict())
      operand->type = types.front();
  for (auto [index, operand] : llvm::enumerate(operands)) {
    Type type = operand.type;
    if (type && isStrict()) {
      if (parser.resolveOperand(operand.value, type, state.operands))
        return failure();
      continue;
    }
    if (!type)
      type = types.empty() ? Type(getBuilder().getNoneType())
                           : types[std::min(index, types.size() - 1)];
    if (resolveLoosely(operand, type))
      return failure();
  }
  return success();
}

ParseResult OpReader::finish() {
  // `%x:4000000000 = op` would ask for that many values.
  constexpr size_t kMaxUntypedResults = 1 << 16;
  if (parser.getNumResults() > kMaxUntypedResults &&
      parser.getNumResults() > results.size() &&
      parser.getNumResults() > types.size())
    return emitUnreadable("it has " + Twine(parser.getNumResults()) +
                          " results");
  finishResults();
  return resolveOperands();
}
