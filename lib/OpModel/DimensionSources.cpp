//===- DimensionSources.cpp - Where dimensions of results come from -------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For StableHLO ops: which dimension of which operand becomes which dimension
// of the result. What is split along one is split along the other.
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/Attributes.h"
#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"
#include "es/OpModel/Sharding.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::es;

using List = SmallVector<int64_t, 4>;

static ArrayRef<int64_t> getShape(Value value) {
  ShapedType type = getCarriedShape(value.getType());
  return type && type.hasRank() ? type.getShape() : ArrayRef<int64_t>();
}

/// Dimension i is dimension i, where the sizes agree.
static void addSame(DimensionSources &sources, Value result, OpOperand &use) {
  ArrayRef<int64_t> from = getShape(use.get()), to = getShape(result);
  if (from.size() != to.size())
    return;
  for (size_t dim = 0; dim < to.size(); ++dim)
    if (from[dim] == to[dim])
      sources.dimensions[dim].push_back({use.getOperandNumber(), dim});
}

static void addDotGeneral(DimensionSources &sources, Operation *op) {
  Attribute numbers = op->getAttr("dot_dimension_numbers");
  size_t next = 0;
  auto add = [&](unsigned operand, int64_t dim) {
    if (next < sources.dimensions.size())
      sources.dimensions[next].push_back({operand, dim});
  };
  List batch[2] = {getIntegerList(numbers, "lhs_batching_dimensions"),
                   getIntegerList(numbers, "rhs_batching_dimensions")};
  List sum[2] = {getIntegerList(numbers, "lhs_contracting_dimensions"),
                 getIntegerList(numbers, "rhs_contracting_dimensions")};
  if (op->getName().stripDialect() == "dot") {
    sum[0].push_back(getShape(op->getOperand(0)).size() - 1);
    sum[1].push_back(0);
  }
  for (auto [l, r] : llvm::zip(batch[0], batch[1])) {
    add(0, l);
    add(1, r);
    ++next;
  }
  for (unsigned operand : {0, 1}) {
    for (size_t dim = 0, e = getShape(op->getOperand(operand)).size(); dim < e;
         ++dim) {
      if (llvm::is_contained(sum[operand], dim))
        sources.summed.push_back({operand, dim});
      else if (!llvm::is_contained(batch[operand], dim)) {
        add(operand, dim);
        ++next;
      }
    }
  }
  for (auto [l, r] : llvm::zip(sum[0], sum[1]))
    sources.contracted.push_back({{{0, l}, {1, r}}});
}

static void addReduce(DimensionSources &sources, Operation *op,
                      unsigned result) {
  std::optional<List> reduced = getIntegers(op->getAttr("dimensions"));
  if (!reduced)
    return;
  size_t next = 0;
  for (size_t dim = 0, e = getShape(op->getOperand(result)).size(); dim < e;
       ++dim) {
    if (llvm::is_contained(*reduced, dim))
      sources.summed.push_back({result, dim});
    else if (next < sources.dimensions.size())
      sources.dimensions[next++].push_back({result, dim});
  }
}

/// The first dimension of each group of dimensions that a reshape splits or
/// merges is the first of the other side.
static void addReshape(DimensionSources &sources, Operation *op) {
  ArrayRef<int64_t> from = getShape(op->getOperand(0)),
                    to = getShape(op->getResult(0));
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    if (from[i] == 1 && to[j] != 1) {
      ++i;
      continue;
    }
    if (to[j] == 1 && from[i] != 1) {
      ++j;
      continue;
    }
    sources.dimensions[j].push_back({0, i});
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < 0 || right < 0 ||
          (left < right ? i == from.size() : j == to.size()))
        return;
      if (left < right ? __builtin_mul_overflow(left, from[i++], &left)
                       : __builtin_mul_overflow(right, to[j++], &right))
        return;
    }
  }
}

static void addMapped(DimensionSources &sources, ArrayRef<int64_t> dims,
                      bool isPermutation, Operation *op) {
  ArrayRef<int64_t> from = getShape(op->getOperand(0)),
                    to = getShape(op->getResult(0));
  for (auto [index, dim] : llvm::enumerate(dims)) {
    size_t source = isPermutation ? dim : index;
    size_t target = isPermutation ? index : dim;
    if (source < from.size() && target < to.size() &&
        from[source] == to[target])
      sources.dimensions[target].push_back({0, source});
  }
}

/// Whole rows keep their dimensions; the indices give the others.
static void addGather(DimensionSources &sources, Operation *op) {
  Attribute numbers = op->getAttr("dimension_numbers");
  List offsets = getIntegerList(numbers, "offset_dims");
  List collapsed = getIntegerList(numbers, "collapsed_slice_dims");
  ArrayRef<int64_t> table = getShape(op->getOperand(0)),
                    indices = getShape(op->getOperand(1)),
                    to = getShape(op->getResult(0));
  for (int64_t dim : collapsed)
    sources.summed.push_back({0, unsigned(dim)});
  size_t kept = 0, batch = 0;
  for (size_t dim = 0; dim < to.size(); ++dim) {
    if (llvm::is_contained(offsets, dim)) {
      while (kept < table.size() && llvm::is_contained(collapsed, kept))
        ++kept;
      if (kept < table.size() && table[kept] == to[dim])
        sources.dimensions[dim].push_back({0, kept});
      ++kept;
    } else {
      if (batch < indices.size() && indices[batch] == to[dim])
        sources.dimensions[dim].push_back({1, batch});
      ++batch;
    }
  }
}

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: batches, and features.
static void addConvolution(DimensionSources &sources, Operation *op) {
  auto opaque = op->getAttrOfType<OpaqueAttr>("dimension_numbers");
  if (!opaque)
    return;
  auto [operands, out] = opaque.getAttrData().split("->");
  auto [lhs, rhs] = operands.split("x[");
  auto find = [](StringRef list, StringRef name) -> std::optional<unsigned> {
    list.consume_front("conv<");
    SmallVector<StringRef> parts;
    list.take_until([](char c) { return c == ']'; })
        .ltrim('[')
        .split(parts, ',');
    for (auto [dim, part] : llvm::enumerate(parts))
      if (part.trim() == name)
        return dim;
    return std::nullopt;
  };
  auto add = [&](std::optional<unsigned> to, unsigned operand,
                 std::optional<unsigned> from) {
    if (to && from && *to < sources.dimensions.size())
      sources.dimensions[*to].push_back({operand, *from});
  };
  add(find(out, "b"), 0, find(lhs, "b"));
  add(find(out, "f"), 1, find(rhs, "o"));
  std::optional<unsigned> in = find(lhs, "f"), filter = find(rhs, "i");
  if (!in || !filter)
    return;
  sources.summed.push_back({0, *in});
  sources.summed.push_back({1, *filter});
  if (getShape(op->getOperand(0))[*in] == getShape(op->getOperand(1))[*filter])
    sources.contracted.push_back({{{0, *in}, {1, *filter}}});
}

static bool keepsDimensions(StringRef name) {
  return name == "slice" || name == "pad" || name == "dynamic_slice" ||
         name == "reverse" || name == "scatter" || name == "reduce_window" ||
         name == "select_and_scatter" || name == "cholesky" ||
         name == "reduce_precision";
}

bool mlir::es::isGenerator(Operation *op) {
  OpFacts facts = getOpFacts(op);
  return op->getNumOperands() == 0 && op->getNumResults() == 1 &&
         (facts.opClass == OpClass::Generator ||
          facts.results.front().kind == ResultKind::Splat);
}

std::optional<DimensionSources> mlir::es::getDimensionSources(Operation *op,
                                                              unsigned index) {
  Value result = op->getResult(index);
  DimensionSources sources;
  sources.dimensions.resize(getShape(result).size());
  StringRef dialect = op->getName().getDialectNamespace();
  StringRef name = op->getName().stripDialect();
  bool isHlo = dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo";
  if (dialect == "sdy" && op->getNumOperands() == 1) {
    addSame(sources, result, op->getOpOperand(0));
    return sources;
  }
  if (!isHlo)
    return std::nullopt;
  // What comes from nothing is split as it is needed.
  if (op->getNumOperands() == 0)
    return isGenerator(op) ? std::optional(sources) : std::nullopt;
  if (name == "dot_general" || name == "dot") {
    addDotGeneral(sources, op);
  } else if (name == "reduce") {
    addReduce(sources, op, index);
  } else if (name == "reshape") {
    addReshape(sources, op);
  } else if (name == "transpose") {
    if (std::optional<List> dims = getIntegers(op->getAttr("permutation")))
      addMapped(sources, *dims, /*isPermutation=*/true, op);
  } else if (name == "broadcast_in_dim") {
    if (std::optional<List> dims =
            getIntegers(op->getAttr("broadcast_dimensions")))
      addMapped(sources, *dims, /*isPermutation=*/false, op);
  } else if (name == "gather") {
    addGather(sources, op);
  } else if (name == "convolution") {
    addConvolution(sources, op);
  } else if (name == "optimization_barrier" || name == "while") {
    if (index < op->getNumOperands())
      addSame(sources, result, op->getOpOperand(index));
  } else if (name == "sort") {
    addSame(sources, result, op->getOpOperand(index));
    // Rows that are sorted are whole.
    auto dimension = op->getAttrOfType<IntegerAttr>("dimension");
    uint64_t sorted = dimension ? dimension.getInt() : 0;
    if (sorted < sources.dimensions.size())
      sources.dimensions[sorted].clear();
  } else if (name == "dynamic_update_slice" || name == "concatenate") {
    for (OpOperand &operand : op->getOpOperands())
      addSame(sources, result, operand);
  } else if (keepsDimensions(name)) {
    addSame(sources, result, op->getOpOperand(0));
  } else {
    OpClass kind = getOpFacts(op).opClass;
    if (kind != OpClass::Elementwise && kind != OpClass::ElementwiseCostly &&
        !name.starts_with("batch_norm"))
      return std::nullopt;
    for (OpOperand &operand : op->getOpOperands())
      addSame(sources, result, operand);
  }
  return sources;
}
