//===- HloForms.cpp - Forms of the StableHLO family -----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops whose printed form names attributes by position: `compare LT, ...`,
// `slice %x [0:4]`, `custom_call @target(...)`; and those whose attributes are
// put together out of several clauses.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "Lookahead.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::es;

/// `lhs = [0, 1]` as it stands in an attribute of StableHLO.
static std::string printDims(Attribute dims) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(dims))
    llvm::interleaveComma(array.asArrayRef(), os);
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// `compare LT, %a, %b, FLOAT : ...`
static ParseResult readCompare(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  StringRef direction, type;
  if (reader.word().empty())
    return success();
  if (parser.parseKeyword(&direction))
    return failure();
  reader.set("comparison_direction",
             reader.makeOpaque("comparison_direction " + direction));
  while (succeeded(parser.parseOptionalComma())) {
    if (*reader.here() == '%') {
      if (reader.readOperand())
        return failure();
      continue;
    }
    if (parser.parseKeyword(&type))
      return failure();
    reader.set("compare_type", reader.makeOpaque("comparison_type " + type));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Slices and tuples
//===----------------------------------------------------------------------===//

/// `[start:limit:stride, ...]`, or `[index]` of a tuple.
static ParseResult readRanges(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  SmallVector<int64_t> starts, limits, strides;
  if (parser.parseLSquare())
    return failure();
  while (failed(parser.parseOptionalRSquare())) {
    if (!starts.empty() && parser.parseComma())
      return failure();
    int64_t &stride = strides.emplace_back(1);
    if (parser.parseInteger(starts.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limits.emplace_back()))
      return failure();
    if (succeeded(parser.parseOptionalColon()) && parser.parseInteger(stride))
      return failure();
  }
  Builder &builder = reader.getBuilder();
  reader.set("start_indices", builder.getDenseI64ArrayAttr(starts));
  reader.set("limit_indices", builder.getDenseI64ArrayAttr(limits));
  reader.set("strides", builder.getDenseI64ArrayAttr(strides));
  return success();
}

static ParseResult readSlice(OpReader &reader) {
  if (*reader.here() != '%')
    return success();
  if (reader.readOperand())
    return failure();
  return *reader.here() == '[' ? readRanges(reader) : success();
}

static ParseResult readTupleElement(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  int64_t index;
  if (*reader.here() != '%')
    return success();
  if (reader.readOperand() || parser.parseLSquare() ||
      parser.parseInteger(index) || parser.parseRSquare())
    return failure();
  reader.set("index", reader.getBuilder().getI32IntegerAttr(index));
  return success();
}

/// `tuple %a, %b : tuple<...>`: the operands have the elements' types.
static ParseResult finishTuple(OpReader &reader) {
  if (reader.types.size() != 1 || reader.sawArrow)
    return success();
  auto tuple = dyn_cast<TupleType>(reader.types.front());
  if (!tuple)
    return success();
  reader.results.assign(1, tuple);
  reader.types.assign(tuple.begin(), tuple.end());
  reader.sawArrow = true;
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise ops with operands of several types
//===----------------------------------------------------------------------===//

/// `select %p, %a, %b : tensor<i1>, tensor<4xf32>`: the choices share a type.
static ParseResult finishSelect(OpReader &reader) {
  if (reader.operands.size() == 3 && reader.types.size() == 2)
    reader.types.push_back(reader.types.back());
  return success();
}

/// `complex %a, %b : tensor<complex<f32>>`: operands of the parts' type.
static ParseResult finishComplex(OpReader &reader) {
  if (reader.types.size() != 1 || reader.sawArrow)
    return success();
  auto shaped = dyn_cast<ShapedType>(reader.types.front());
  auto complex =
      shaped ? dyn_cast<ComplexType>(shaped.getElementType()) : ComplexType();
  if (!complex)
    return success();
  reader.results.assign(1, shaped);
  reader.types.assign(2, shaped.clone(complex.getElementType()));
  reader.sawArrow = true;
  return success();
}

/// `reduce_precision %x, format = e5m10 : ...`
static ParseResult finishReducePrecision(OpReader &reader) {
  NamedAttrList &attributes = reader.getState().attributes;
  auto format = dyn_cast_or_null<StringAttr>(attributes.get("format"));
  if (!format)
    return success();
  StringRef text = format.getValue();
  int32_t exponent, mantissa;
  if (!text.consume_front("e") || text.consumeInteger(10, exponent) ||
      !text.consume_front("m") || text.getAsInteger(10, mantissa))
    return reader.emitUnreadable("expects a format such as e5m10, got '" +
                                 format.getValue() + "'");
  attributes.erase("format");
  Builder &builder = reader.getBuilder();
  reader.set("exponent_bits", builder.getI32IntegerAttr(exponent));
  reader.set("mantissa_bits", builder.getI32IntegerAttr(mantissa));
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`
static ParseResult finishDotGeneral(OpReader &reader) {
  NamedAttrList &attributes = reader.getState().attributes;
  std::string text;
  for (StringRef part : {"batching", "contracting"}) {
    auto pair =
        dyn_cast_or_null<ArrayAttr>(attributes.erase((part + "_dims").str()));
    if (!pair || pair.size() != 2)
      continue;
    for (auto [side, dims] : llvm::zip(ArrayRef<StringRef>{"lhs", "rhs"}, pair))
      if (auto list = dyn_cast<DenseI64ArrayAttr>(dims); list && !list.empty())
        text += (Twine(text.empty() ? "" : ", ") + side + "_" + part +
                 "_dimensions = " + printDims(dims))
                    .str();
  }
  if (!attributes.get("dot_dimension_numbers"))
    reader.set("dot_dimension_numbers", reader.makeOpaque("dot<" + text + ">"));
  return success();
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// `[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]`, kept as text.
static ParseResult readDimNumbers(OpReader &reader, std::string &text) {
  OpAsmParser &parser = reader.getParser();
  StringRef lhs, rhs, result;
  if (parser.parseEqual() || reader.readRaw(lhs) || parser.parseKeyword("x") ||
      reader.readRaw(rhs) || parser.parseArrow() || reader.readRaw(result))
    return failure();
  text = (lhs + "x" + rhs + "->" + result).str();
  return success();
}

/// `[[1, 1], [0, 0]]` as a tensor<2x2xi64>.
static Attribute makePadding(Builder &builder, Attribute value) {
  SmallVector<int64_t> numbers;
  auto rows = dyn_cast<ArrayAttr>(value);
  if (!rows)
    return value;
  for (Attribute row : rows) {
    auto pair = dyn_cast<DenseI64ArrayAttr>(row);
    if (!pair || pair.size() != 2)
      return value;
    llvm::append_range(numbers, pair.asArrayRef());
  }
  auto type =
      RankedTensorType::get({int64_t(rows.size()), 2}, builder.getI64Type());
  return DenseIntElementsAttr::get(type, numbers);
}

/// Window reversal is printed as numbers and kept as booleans.
static Attribute makeBooleans(Builder &builder, Attribute value) {
  SmallVector<bool> flags;
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(value)) {
    for (int64_t number : numbers.asArrayRef())
      flags.push_back(number != 0);
  } else if (auto words = dyn_cast<ArrayAttr>(value)) {
    for (Attribute word : words)
      flags.push_back(isa<BoolAttr>(word) && cast<BoolAttr>(word).getValue());
  }
  return builder.getDenseBoolArrayAttr(flags);
}

static void setWindow(OpReader &reader, DictionaryAttr window) {
  Builder &builder = reader.getBuilder();
  for (NamedAttribute entry : window) {
    StringRef key = entry.getName();
    Attribute value = entry.getValue();
    if (key == "stride")
      reader.set("window_strides", value);
    else if (key == "pad")
      reader.set("padding", makePadding(builder, value));
    else if (key == "lhs_dilate")
      reader.set("lhs_dilation", value);
    else if (key == "rhs_dilate")
      reader.set("rhs_dilation", value);
    else if (key == "reverse")
      reader.set("window_reversal", makeBooleans(builder, value));
    else
      reader.set(key, value);
  }
}

/// `convolution(%a, %b) dim_numbers = ..., window = {...} {...} : ...`
static ParseResult readConvolution(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  if (*reader.here() != '(')
    return success();
  if (reader.readGroup())
    return failure();
  (void)parser.parseOptionalComma();
  if (!reader.consume("dim_numbers"))
    return success();
  std::string text;
  if (readDimNumbers(reader, text))
    return failure();
  reader.set("dimension_numbers", reader.makeOpaque("conv<" + text + ">"));
  (void)parser.parseOptionalComma();
  if (!reader.consume("window"))
    return success();
  Attribute window;
  if (parser.parseEqual() || reader.readValue(window))
    return failure();
  if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(window))
    setWindow(reader, dictionary);
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// `custom_call @target(%a) {...} : ...`
static ParseResult readCustomCall(OpReader &reader) {
  StringAttr target;
  if (*reader.here() != '@')
    return success();
  if (reader.getParser().parseSymbolName(target))
    return failure();
  reader.set("call_target_name", target);
  return success();
}

/// `composite "name" %a {...} : ...`
static ParseResult readComposite(OpReader &reader) {
  std::string name;
  if (*reader.here() != '"')
    return success();
  if (reader.getParser().parseString(&name))
    return failure();
  reader.set("name", reader.getBuilder().getStringAttr(name));
  return success();
}

void mlir::es::addHloForms(FormTable &table) {
  table["compare"] = {readCompare};
  table["slice"] = {readSlice};
  table["get_tuple_element"] = {readTupleElement};
  table["tuple"] = {nullptr, finishTuple};
  table["select"] = {nullptr, finishSelect};
  table["complex"] = {nullptr, finishComplex};
  table["reduce_precision"] = {nullptr, finishReducePrecision};
  table["dot_general"] = {nullptr, finishDotGeneral};
  table["convolution"] = {readConvolution};
  table["dynamic_conv"] = {readConvolution};
  table["custom_call"] = {readCustomCall};
  table["composite"] = {readComposite};
}
