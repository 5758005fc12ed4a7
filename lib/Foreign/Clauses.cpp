//===- Clauses.cpp - The attribute behind a keyword -----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clauses.h"
#include "OpReader.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

namespace {
enum class Kind {
  /// The value as it is.
  Plain,
  /// `#dialect<mnemonic WORD>`, or an array of these.
  Enum,
  /// `<text>` or `[text]`, as `#dialect.mnemonic<...>`.
  Raw,
  /// `{text}`, as `#dialect<mnemonic{...}>`.
  Text,
};

struct Clause {
  const char *op;
  const char *keyword;
  const char *attribute;
  Kind kind = Kind::Plain;
  const char *mnemonic = "";
};
} // namespace

static constexpr Clause hloClauses[] = {
    {"iota", "dim", "iota_dimension"},
    {"dynamic_iota", "dim", "iota_dimension"},
    {"broadcast", "sizes", "broadcast_sizes"},
    {"broadcast_in_dim", "dims", "broadcast_dimensions"},
    {"dynamic_broadcast_in_dim", "dims", "broadcast_dimensions"},
    {"transpose", "dims", "permutation"},
    {"reverse", "dims", "dimensions"},
    {"concatenate", "dim", "dimension"},
    {"get_dimension_size", "dim", "dimension"},
    {"set_dimension_size", "dim", "dimension"},
    {"torch_index_select", "dim", "dim"},
    {"dynamic_slice", "sizes", "slice_sizes"},
    {"pad", "low", "edge_padding_low"},
    {"pad", "high", "edge_padding_high"},
    {"pad", "interior", "interior_padding"},
    {"reduce", "dimensions", "dimensions"},
    {"dot", "precision", "precision_config", Kind::Enum, "precision"},
    {"dot_general", "precision", "precision_config", Kind::Enum, "precision"},
    {"dot_general", "algorithm", "algorithm", Kind::Raw, "dot_algorithm"},
    {"einsum", "config", "einsum_config"},
    {"unary_einsum", "config", "einsum_config"},
    {"rng", "distribution", "rng_distribution", Kind::Enum, "rng_distribution"},
    {"rng_bit_generator", "algorithm", "rng_algorithm", Kind::Enum,
     "rng_algorithm"},
    {"fft", "type", "fft_type", Kind::Enum, "fft_type"},
    {"fft", "length", "fft_length"},
    {"triangular_solve", "transpose_a", "transpose_a", Kind::Enum, "transpose"},
};

static constexpr Clause sdyClauses[] = {
    {"mesh", "mesh", "mesh", Kind::Raw, "mesh"},
    {"manual_computation", "in_shardings", "in_shardings", Kind::Raw,
     "sharding_per_value"},
    {"manual_computation", "out_shardings", "out_shardings", Kind::Raw,
     "sharding_per_value"},
    {"manual_computation", "manual_axes", "manual_axes", Kind::Text,
     "manual_axes"},
    {"named_computation", "in_shardings", "in_shardings", Kind::Raw,
     "sharding_per_value"},
    {"named_computation", "out_shardings", "out_shardings", Kind::Raw,
     "sharding_per_value"},
    {"data_flow_edge", "sharding", "sharding", Kind::Raw, "sharding"},
    {"", "out_sharding", "out_sharding", Kind::Raw, "sharding"},
};

static bool isHlo(StringRef dialect) {
  return dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo";
}

static const Clause *findClause(StringRef dialect, StringRef op,
                                StringRef keyword) {
  ArrayRef<Clause> clauses = isHlo(dialect)     ? ArrayRef(hloClauses)
                             : dialect == "sdy" ? ArrayRef(sdyClauses)
                                                : ArrayRef<Clause>();
  for (const Clause &clause : clauses)
    if (keyword == clause.keyword && (op == clause.op || !*clause.op))
      return &clause;
  return nullptr;
}

/// `WORD` becomes `#dialect<mnemonic WORD>`, in lists too.
static Attribute makeEnum(OpReader &reader, StringRef mnemonic,
                          Attribute value) {
  if (auto word = dyn_cast<StringAttr>(value))
    return reader.makeOpaque(mnemonic + " " + word.getValue());
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list)
    return value;
  SmallVector<Attribute> elements;
  for (Attribute element : list)
    elements.push_back(makeEnum(reader, mnemonic, element));
  return reader.getBuilder().getArrayAttr(elements);
}

static Attribute convert(OpReader &reader, const Clause &clause,
                         Attribute value) {
  Builder &builder = reader.getBuilder();
  switch (clause.kind) {
  case Kind::Plain:
    return value;
  case Kind::Enum:
    // An empty list of integers is an empty list of words as well.
    if (isa<DenseI64ArrayAttr>(value))
      return builder.getArrayAttr({});
    return makeEnum(reader, clause.mnemonic, value);
  case Kind::Raw:
    if (auto text = dyn_cast<StringAttr>(value)) {
      StringRef body = text.getValue();
      if (body.consume_front("<"))
        body.consume_back(">");
      return reader.makeOpaque(clause.mnemonic + ("<" + body) + ">");
    }
    return value;
  case Kind::Text:
    if (auto text = dyn_cast<StringAttr>(value))
      return reader.makeOpaque(clause.mnemonic + text.getValue());
    return value;
  }
  llvm_unreachable("every kind of clause is converted");
}

bool mlir::es::isTextClause(OpReader &reader, StringRef key) {
  const Clause *clause = findClause(reader.getDialect(), reader.getName(), key);
  return clause && (clause->kind == Kind::Raw || clause->kind == Kind::Text);
}

void mlir::es::setClause(OpReader &reader, StringRef key, Attribute value) {
  const Clause *clause = findClause(reader.getDialect(), reader.getName(), key);
  if (clause)
    return reader.set(clause->attribute, convert(reader, *clause, value));
  reader.set(key, value);
}

//===----------------------------------------------------------------------===//
// Attributes without a keyword
//===----------------------------------------------------------------------===//

/// The op's first positional attribute, by the name of the op.
static StringRef getFirstName(StringRef op) {
  static const llvm::StringMap<StringRef> names = {
      {"stablehlo.composite", "name"},
      {"stablehlo.trace", "tag"},
      {"mhlo.trace", "tag"},
      {"torch.operator", "name"},
      {"torch.attr", "name"},
      {"torch.method", "name"},
      {"torch.slot", "name"},
      {"torch.prim.GetAttr", "name"},
      {"torch.prim.SetAttr", "name"},
      {"torch.prim.CallMethod", "name"},
      {"torch.symbolic_int", "symbol_name"},
      {"torch.bind_symbolic_shape", "shape_expressions"},
      {"torch.class_type", "sym_name"},
      {"torch.global_slot", "sym_name"},
      {"torch.global_slot.get", "slot"},
      {"torch.global_slot.set", "slot"},
      {"util.global.load", "global"},
      {"util.global.store", "global"},
      {"util.global.address", "global"},
      {"util.call", "callee"},
      {"util.buffer.constant", "value"},
      {"flow.dispatch", "entry_points"},
      {"hal.tensor.import", "name"},
      {"hal.tensor.export", "name"},
      {"flow.tensor.trace", "key"},
      {"sdy.mesh", "sym_name"},
      {"sdy.sharding_constraint", "sharding"},
      {"sdy.reshard", "sharding"},
      {"sdy.named_computation", "name"},
      {"mpmd.named_computation", "origin"},
      {"enzyme.autodiff", "fn"},
      {"enzyme.fwddiff", "fn"},
      {"enzyme.batch", "fn"},
      {"enzymexla.jit_call", "fn"},
      {"enzymexla.kernel_call", "fn"},
      {"byre.compute", "callee"},
      {"ttcore.device", "sym_name"},
      {"ttcore.global", "sym_name"},
      {"ttcore.get_global", "symbol"},
      {"ttcore.load_cached", "callee"},
      {"krnl.call", "funcName"},
      {"onnx.Custom", "function_name"},
  };
  return names.lookup(op);
}

StringRef mlir::es::getPositionalName(OpReader &reader, Attribute value,
                                      unsigned index) {
  if (index == 0) {
    StringRef name = getFirstName(reader.getState().name.getStringRef());
    if (!name.empty())
      return name;
  }
  if (isa<SymbolRefAttr>(value))
    return "symbol";
  return isa<TypeAttr>(value) ? "type" : "value";
}

void OpReader::addPositional(Attribute value) {
  if (textOnly || !value)
    return;
  StringRef key = getPositionalName(*this, value, numPositional++);
  std::string unique = key.str();
  for (unsigned i = 1; state.attributes.get(unique); ++i)
    unique = (key + Twine(i)).str();
  if (unique == "sym_name")
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(value))
      value = symbol.getAttr();
  if (auto text = dyn_cast<StringAttr>(value)) {
    StringRef inner = text.getValue();
    if (dialect == "sdy" && unique == "sharding")
      value = makeOpaque("sharding" + inner);
    // `named_computation<"name">`
    else if (inner.consume_front("<\"") && inner.consume_back("\">") &&
             !inner.contains('"'))
      value = getBuilder().getStringAttr(inner);
  }
  set(unique, value);
}

Attribute OpReader::makeOpaque(const Twine &text) {
  return OpaqueAttr::get(getBuilder().getStringAttr(dialect), text.str(),
                         getBuilder().getNoneType());
}
