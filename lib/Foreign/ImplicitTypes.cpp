//===- ImplicitTypes.cpp - Results whose types are not written ------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `torch.constant.int 1` has the type !torch.int, which it does not print; a
// load has the type of an element of the memory that it names.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

using namespace mlir;
using namespace mlir::es;

template <const char *const &type>
static ParseResult finishLiteral(OpReader &reader) {
  if (reader.sawArrow || reader.getParser().getNumResults() != 1)
    return success();
  MLIRContext *context = reader.getParser().getContext();
  reader.results.assign(
      1, OpaqueType::get(StringAttr::get(context, reader.getDialect()), type));
  reader.sawArrow = true;
  return success();
}

static constexpr const char *intType = "int";
static constexpr const char *floatType = "float";
static constexpr const char *boolType = "bool";
static constexpr const char *stringType = "str";
static constexpr const char *noneType = "none";
static constexpr const char *deviceType = "Device";
static constexpr const char *numberType = "number";
static constexpr const char *linearType = "LinearParams";

/// `krnl.define_loops 2` makes as many loops.
static ParseResult finishLoops(OpReader &reader) {
  if (reader.sawTypes || reader.sawArrow)
    return success();
  MLIRContext *context = reader.getParser().getContext();
  reader.results.assign(
      reader.getParser().getNumResults(),
      OpaqueType::get(StringAttr::get(context, reader.getDialect()), "loop"));
  reader.sawArrow = true;
  return success();
}

/// `load %m[%i] : memref<4xf32>`: the type is that of the memory.
static ParseResult finishLoad(OpReader &reader) {
  if (reader.sawArrow || reader.types.size() != 1)
    return success();
  auto memory = dyn_cast<MemRefType>(reader.types.front());
  if (!memory)
    return success();
  reader.results.assign(1, memory.getElementType());
  reader.sawArrow = reader.lookupOperands = true;
  return success();
}

/// `tensor.barrier join(%a, %b : t, u) => %fence : !hal.fence`: the results are
/// what is joined.
static ParseResult finishBarrier(OpReader &reader) {
  if (reader.sawArrow)
    return success();
  for (const OpReader::Operand &operand : reader.operands)
    if (operand.type)
      reader.results.push_back(operand.type);
  reader.sawArrow = true;
  return success();
}

/// `tensor.alias %a : t to %storage : u`: the result is %a.
static ParseResult finishAlias(OpReader &reader) {
  if (reader.types.empty())
    return success();
  reader.results.assign(1, reader.types.front());
  reader.sawArrow = reader.lookupOperands = true;
  return success();
}

void mlir::es::addImplicitTypeForms(FormTable &table) {
  table["tensor.alias"] = {nullptr, finishAlias};
  table["define_loops"] = {nullptr, finishLoops};
  table["load"] = {nullptr, finishLoad};
  table["tensor.barrier"] = {nullptr, finishBarrier};
}

void mlir::es::addLiteralForms(FormTable &table) {
  table["constant.int"] = {nullptr, finishLiteral<intType>};
  table["constant.float"] = {nullptr, finishLiteral<floatType>};
  table["constant.bool"] = {nullptr, finishLiteral<boolType>};
  table["constant.str"] = {nullptr, finishLiteral<stringType>};
  table["constant.none"] = {nullptr, finishLiteral<noneType>};
  table["constant.device"] = {nullptr, finishLiteral<deviceType>};
  table["linear_params.create"] = {nullptr, finishLiteral<linearType>};
  table["constant.number"] = {nullptr, finishLiteral<numberType>};
}
