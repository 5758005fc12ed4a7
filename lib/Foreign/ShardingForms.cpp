//===- ShardingForms.cpp - Meshes and collectives of Shardy ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Axes and shardings are kept as the text of the attributes that they are in
// generic form.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

using namespace mlir;
using namespace mlir::es;

/// `mesh @name = <["x"=2]>`
static ParseResult readMesh(OpReader &reader) {
  OpAsmParser &parser = reader.getParser();
  StringAttr symbol;
  StringRef text;
  if (parser.parseSymbolName(symbol) || parser.parseEqual() ||
      reader.readRaw(text))
    return failure();
  reader.set("sym_name", symbol);
  reader.set("mesh", reader.makeOpaque("mesh" + text));
  return success();
}

static constexpr const char gatheringAxes[] = "gathering_axes";
static constexpr const char slicingAxes[] = "slicing_axes";
static constexpr const char scatterAxes[] = "reduce_scatter_axes";
static constexpr const char reductionAxes[] = "reduction_axes";
static constexpr const char params[] = "params";
static constexpr const char axisLists[] = "list_of_axis_ref_lists";
static constexpr const char axisList[] = "axis_ref_list";
static constexpr const char paramList[] = "all_to_all_param_list";

/// `all_gather [{"x"}, {}] %a out_sharding=<...> : type`
template <const char *attribute, const char *mnemonic>
static ParseResult readAxes(OpReader &reader) {
  StringRef text;
  if (!StringRef("[{").contains(*reader.here()))
    return success();
  if (reader.readRaw(text))
    return failure();
  reader.set(attribute, reader.makeOpaque(mnemonic + text));
  return success();
}

void mlir::es::addShardingForms(FormTable &table) {
  table["mesh"] = {readMesh};
  table["all_gather"] = {readAxes<gatheringAxes, axisLists>};
  table["all_slice"] = {readAxes<slicingAxes, axisLists>};
  table["reduce_scatter"] = {readAxes<scatterAxes, axisLists>};
  table["all_reduce"] = {readAxes<reductionAxes, axisList>};
  table["all_to_all"] = {readAxes<params, paramList>};
}
