//===- VjpOp.cpp - The gradient of one op ---------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// es.vjp prints the original op's signature once; the types of saved values,
// cotangents and gradients follow from their indices.
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"

using namespace mlir;
using namespace mlir::es;

static Value findByIndex(ArrayRef<int32_t> indices, OperandRange values,
                         unsigned index) {
  const int32_t *it = llvm::find(indices, int32_t(index));
  return it == indices.end() ? Value() : values[it - indices.begin()];
}

Value VjpOp::getSavedOperand(unsigned index) {
  return findByIndex(getSavedOperands(),
                     getSaved().take_front(getSavedOperands().size()), index);
}

Value VjpOp::getSavedResult(unsigned index) {
  return findByIndex(getSavedResults(),
                     getSaved().drop_front(getSavedOperands().size()), index);
}

Value VjpOp::getCotangent(unsigned index) {
  return findByIndex(getCotangentOf(), getCotangents(), index);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Checks that `indices` rise and stay below the number of `types`, and that
/// `values` have those types.
static LogicalResult verifyIndexed(VjpOp op, StringRef what,
                                   ArrayRef<int32_t> indices,
                                   ArrayRef<Type> types, TypeRange values) {
  if (indices.size() != values.size())
    return op.emitOpError() << "(V3) expects " << indices.size() << " " << what
                            << ", got " << values.size();
  int32_t previous = -1;
  for (auto [index, type] : llvm::zip(indices, values)) {
    if (index <= previous || index >= int32_t(types.size()))
      return op.emitOpError() << "(V2) expects indices of " << what
                              << " to rise and to be below " << types.size()
                              << ", got " << index;
    if (types[index] != type)
      return op.emitOpError() << "(V3) expects " << what << " " << index
                              << " to be " << types[index] << ", got " << type;
    previous = index;
  }
  return success();
}

LogicalResult VjpOp::verify() {
  if (getOf().empty())
    return emitOpError("(V1) expects the name of an op");
  FunctionType type = getOriginalFunctionType();
  size_t numOperands = getSavedOperands().size();
  TypeRange saved = getSaved().getTypes();
  if (saved.size() != numOperands + getSavedResults().size())
    return emitOpError() << "(V3) expects "
                         << numOperands + getSavedResults().size()
                         << " saved values, got " << saved.size();
  if (failed(verifyIndexed(*this, "saved operands", getSavedOperands(),
                           type.getInputs(), saved.take_front(numOperands))) ||
      failed(verifyIndexed(*this, "saved results", getSavedResults(),
                           type.getResults(), saved.drop_front(numOperands))) ||
      failed(verifyIndexed(*this, "cotangents", getCotangentOf(),
                           type.getResults(), getCotangents().getTypes())) ||
      failed(verifyIndexed(*this, "gradients", getWrt(), type.getInputs(),
                           getGradients().getTypes())))
    return failure();
  if (getCotangents().empty() || getGradients().empty())
    return emitOpError("(V4) expects a cotangent and a gradient");
  if (getKind() == VjpKind::view && getGradients().size() != 1)
    return emitOpError() << "(V4) expects a view to have one gradient, got "
                         << getGradients().size();
  return success();
}

LogicalResult VjpOp::verifyRegions() {
  if (getOriginal().size() > 1)
    return emitOpError() << "(V5) expects one region at most, got "
                         << getOriginal().size();
  for (Region &region : getOriginal()) {
    if (!region.hasOneBlock() ||
        !llvm::hasSingleElement(region.front().getOperations()))
      return emitOpError("(V5) expects one op in the region");
    Operation &inner = region.front().front();
    FunctionType type = getOriginalFunctionType();
    if (inner.getName().getStringRef() != getOf() ||
        ValueRange(inner.getOperands()) !=
            ValueRange(region.front().getArguments()) ||
        TypeRange(inner.getOperandTypes()) != TypeRange(type.getInputs()) ||
        TypeRange(inner.getResultTypes()) != TypeRange(type.getResults()))
      return emitOpError() << "(V5) expects '" << getOf()
                           << "' on the arguments of its block, of type "
                           << type << ", got '" << inner.getName() << "'";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

void VjpOp::print(OpAsmPrinter &printer) {
  printer << " " << stringifyVjpKind(getKind()) << " ";
  printer.printAttributeWithoutType(getOfAttr());
  if (!getSaved().empty()) {
    printer << " saved(";
    size_t numOperands = getSavedOperands().size();
    llvm::interleaveComma(
        llvm::enumerate(getSaved()), printer, [&](auto entry) {
          size_t i = entry.index();
          if (i < numOperands)
            printer << "operand " << getSavedOperands()[i];
          else
            printer << "result " << getSavedResults()[i - numOperands];
          printer << " = " << entry.value();
        });
    printer << ")";
  }
  printer << " cotangents(";
  llvm::interleaveComma(
      llvm::zip(getCotangentOf(), getCotangents()), printer, [&](auto entry) {
        printer << std::get<0>(entry) << " = " << std::get<1>(entry);
      });
  printer << ") wrt [";
  llvm::interleaveComma(getWrt(), printer);
  printer << "]";
  if (DictionaryAttr attrs = getOriginalAttrsAttr())
    printer << " original " << attrs;
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {"of", "kind", "saved_operands", "saved_results", "cotangent_of", "wrt",
       "original_type", "original_attrs", getOperandSegmentSizesAttrName()});
  printer << " : " << getOriginalType();
  for (Region &region : getOriginal()) {
    printer << " ";
    printer.printRegion(region);
  }
}

namespace {
using Unresolved = OpAsmParser::UnresolvedOperand;

struct IndexedOperands {
  SmallVector<int32_t> indices;
  SmallVector<Unresolved> values;
};
} // namespace

static ParseResult parseIndexed(OpAsmParser &parser, IndexedOperands &list) {
  return failure(parser.parseInteger(list.indices.emplace_back()) ||
                 parser.parseEqual() ||
                 parser.parseOperand(list.values.emplace_back()));
}

static ParseResult resolve(OpAsmParser &parser, SMLoc loc,
                           const IndexedOperands &list, ArrayRef<Type> types,
                           OperationState &result) {
  for (auto [index, value] : llvm::zip(list.indices, list.values)) {
    if (index < 0 || index >= int32_t(types.size()))
      return parser.emitError(loc) << "(V2) expects indices below "
                                   << types.size() << ", got " << index;
    if (parser.resolveOperand(value, types[index], result.operands))
      return failure();
  }
  return success();
}

ParseResult VjpOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef kindName;
  StringAttr of;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&kindName) || parser.parseAttribute(of))
    return failure();
  std::optional<VjpKind> kind = symbolizeVjpKind(kindName);
  if (!kind)
    return parser.emitError(loc)
           << "expects a kind of gradient, got '" << kindName << "'";
  IndexedOperands operands, results, cotangents;
  auto parseSaved = [&]() -> ParseResult {
    bool isOperand = succeeded(parser.parseOptionalKeyword("operand"));
    if (!isOperand && parser.parseKeyword("result"))
      return failure();
    return parseIndexed(parser, isOperand ? operands : results);
  };
  if (succeeded(parser.parseOptionalKeyword("saved")))
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                       parseSaved))
      return failure();
  SmallVector<int32_t> wrt;
  if (parser.parseKeyword("cotangents") ||
      parser.parseCommaSeparatedList(
          OpAsmParser::Delimiter::Paren,
          [&] { return parseIndexed(parser, cotangents); }) ||
      parser.parseKeyword("wrt") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(wrt.emplace_back());
      }))
    return failure();
  DictionaryAttr attrs;
  if (succeeded(parser.parseOptionalKeyword("original")) &&
      parser.parseAttribute(attrs))
    return failure();
  FunctionType type;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  std::unique_ptr<Region> region = std::make_unique<Region>();
  OptionalParseResult parsed = parser.parseOptionalRegion(*region);
  if (parsed.has_value() && failed(*parsed))
    return failure();
  if (parsed.has_value())
    result.addRegion(std::move(region));
  if (resolve(parser, loc, operands, type.getInputs(), result) ||
      resolve(parser, loc, results, type.getResults(), result) ||
      resolve(parser, loc, cotangents, type.getResults(), result))
    return failure();
  for (int32_t index : wrt) {
    if (index < 0 || index >= int32_t(type.getNumInputs()))
      return parser.emitError(loc) << "(V2) expects indices below "
                                   << type.getNumInputs() << ", got " << index;
    result.addTypes(type.getInput(index));
  }
  auto &properties = result.getOrAddProperties<Properties>();
  Builder &builder = parser.getBuilder();
  properties.of = of;
  properties.kind = VjpKindAttr::get(parser.getContext(), *kind);
  properties.saved_operands = builder.getDenseI32ArrayAttr(operands.indices);
  properties.saved_results = builder.getDenseI32ArrayAttr(results.indices);
  properties.cotangent_of = builder.getDenseI32ArrayAttr(cotangents.indices);
  properties.wrt = builder.getDenseI32ArrayAttr(wrt);
  properties.original_type = TypeAttr::get(type);
  properties.original_attrs = attrs;
  llvm::copy(
      ArrayRef<int32_t>{int32_t(operands.values.size() + results.values.size()),
                        int32_t(cotangents.values.size())},
      properties.operandSegmentSizes.begin());
  return success();
}
