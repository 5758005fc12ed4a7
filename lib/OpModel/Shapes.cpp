//===- Shapes.cpp - What shapes follow from other shapes ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function for each kind of StableHLO op, found by name, and broadcasting
// of elementwise ops for the torch dialect and ONNX; their other operators are
// in NumpyShapes.cpp.
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/Shapes.h"
#include "AtenShapes.h"
#include "es/OpModel/Attributes.h"
#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::es;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

namespace {
/// An op whose shapes are asked for.
struct Query {
  Operation *op;
  const KnownIntegers &known;

  /// The shape of operand `index`, or nothing if it has no rank.
  std::optional<Integers> shapeOf(unsigned index) const {
    if (index >= op->getNumOperands())
      return std::nullopt;
    ShapedType type = getCarriedShape(op->getOperand(index).getType());
    if (!type || !type.hasRank())
      return std::nullopt;
    return Integers(type.getShape());
  }
  std::optional<Integers> integersOf(unsigned index) const {
    if (index >= op->getNumOperands())
      return std::nullopt;
    auto it = known.find(op->getOperand(index));
    if (it == known.end())
      return std::nullopt;
    return it->second;
  }
  std::optional<Integers> attribute(StringRef name) const {
    return getIntegers(op->getAttr(name));
  }
};
} // namespace

using Shape = std::optional<Integers>;

static bool isIndex(int64_t index, const Integers &shape) {
  return index >= 0 && uint64_t(index) < shape.size();
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// All operands have the result's shape, or are scalars.
static Shape inferElementwise(const Query &query) {
  Shape merged;
  for (unsigned i = 0, e = query.op->getNumOperands(); i < e; ++i) {
    Shape shape = query.shapeOf(i);
    if (!shape || (merged && shape->size() < merged->size()))
      continue;
    if (!merged || shape->size() > merged->size()) {
      merged = shape;
      continue;
    }
    for (auto [size, other] : llvm::zip(*merged, *shape))
      if (size == kDynamic)
        size = other;
  }
  return merged;
}

/// Operands are broadcast from the right, as NumPy does. What only an operand
/// of lower rank tells is left open: a scale of a channel stands elsewhere.
static Shape inferBroadcast(const Query &query) {
  SmallVector<Integers> shapes;
  size_t rank = 0;
  for (unsigned i = 0, e = query.op->getNumOperands(); i < e; ++i) {
    if (!isMemoryType(query.op->getOperand(i).getType()))
      continue;
    Shape shape = query.shapeOf(i);
    if (!shape)
      return std::nullopt;
    rank = std::max(rank, shape->size());
    shapes.push_back(std::move(*shape));
  }
  Integers result(rank, 1);
  for (const Integers &shape : shapes)
    if (shape.size() == rank)
      for (auto [joined, size] : llvm::zip(result, shape))
        // A dynamic size may be 1, so that another size than 1 wins.
        if (joined == 1 || (joined == kDynamic && size != 1))
          joined = size;
  for (const Integers &shape : shapes)
    for (auto [dim, size] : llvm::enumerate(shape))
      if (int64_t &joined = result[dim + rank - shape.size()];
          shape.size() < rank && joined == 1 && size != 1)
        joined = kDynamic;
  return result;
}

//===----------------------------------------------------------------------===//
// Products, reductions
//===----------------------------------------------------------------------===//

static Shape inferDotGeneral(const Query &query) {
  Shape lhs = query.shapeOf(0), rhs = query.shapeOf(1);
  Attribute numbers = query.op->getAttr("dot_dimension_numbers");
  if (!lhs || !rhs || !numbers)
    return std::nullopt;
  Integers batchL = getIntegerList(numbers, "lhs_batching_dimensions");
  Integers batchR = getIntegerList(numbers, "rhs_batching_dimensions");
  Integers sumL = getIntegerList(numbers, "lhs_contracting_dimensions");
  Integers sumR = getIntegerList(numbers, "rhs_contracting_dimensions");
  Integers result;
  for (auto [l, r] : llvm::zip(batchL, batchR)) {
    if (!isIndex(l, *lhs) || !isIndex(r, *rhs))
      return std::nullopt;
    result.push_back((*lhs)[l] == kDynamic ? (*rhs)[r] : (*lhs)[l]);
  }
  for (auto [dim, size] : llvm::enumerate(*lhs))
    if (!llvm::is_contained(batchL, dim) && !llvm::is_contained(sumL, dim))
      result.push_back(size);
  for (auto [dim, size] : llvm::enumerate(*rhs))
    if (!llvm::is_contained(batchR, dim) && !llvm::is_contained(sumR, dim))
      result.push_back(size);
  return result;
}

static Shape inferDot(const Query &query) {
  Shape lhs = query.shapeOf(0), rhs = query.shapeOf(1);
  if (!lhs || !rhs || lhs->empty() || rhs->empty())
    return std::nullopt;
  Integers result(lhs->begin(), lhs->end() - 1);
  result.append(rhs->begin() + 1, rhs->end());
  return result;
}

static Shape inferReduce(const Query &query) {
  Shape shape = query.shapeOf(0);
  Shape dimensions = query.attribute("dimensions");
  if (!shape || !dimensions)
    return std::nullopt;
  Integers result;
  for (auto [dim, size] : llvm::enumerate(*shape))
    if (!llvm::is_contained(*dimensions, dim))
      result.push_back(size);
  return result;
}

/// Sizes that convolutions and windows pass through where they change nothing
/// are told by the result's type; the batch and the features follow here.
static Shape inferConvolution(const Query &query) {
  Shape lhs = query.shapeOf(0);
  auto opaque = query.op->getAttrOfType<OpaqueAttr>("dimension_numbers");
  ShapedType type = getCarriedShape(query.op->getResult(0).getType());
  if (!lhs || !opaque || !type || !type.hasRank())
    return std::nullopt;
  // `conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`
  StringRef text = opaque.getAttrData();
  auto [in, out] = text.split("->");
  auto findBatch = [](StringRef list) -> int64_t {
    SmallVector<StringRef> parts;
    list.split('[').second.split(']').first.split(parts, ',');
    for (auto [dim, part] : llvm::enumerate(parts))
      if (part.trim() == "b")
        return dim;
    return -1;
  };
  int64_t from = findBatch(in), to = findBatch(out);
  Integers result(type.getShape());
  if (!isIndex(from, *lhs) || !isIndex(to, result))
    return std::nullopt;
  if (result[to] == kDynamic)
    result[to] = (*lhs)[from];
  return result;
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

static Shape inferTranspose(const Query &query) {
  Shape shape = query.shapeOf(0);
  Shape permutation = query.attribute("permutation");
  if (!shape || !permutation)
    return std::nullopt;
  Integers result;
  for (int64_t dim : *permutation) {
    if (!isIndex(dim, *shape))
      return std::nullopt;
    result.push_back((*shape)[dim]);
  }
  return result;
}

/// One dynamic size follows from the number of elements.
static Shape inferReshape(const Query &query) {
  Shape shape = query.shapeOf(0);
  ShapedType type = getCarriedShape(query.op->getResult(0).getType());
  if (!shape || llvm::is_contained(*shape, kDynamic) || !type ||
      !type.hasRank() || llvm::count(type.getShape(), kDynamic) != 1)
    return std::nullopt;
  int64_t elements = 1, stated = 1;
  for (int64_t size : *shape)
    if (__builtin_mul_overflow(elements, size, &elements))
      return std::nullopt;
  Integers result(type.getShape());
  for (int64_t size : result)
    if (size != kDynamic && __builtin_mul_overflow(stated, size, &stated))
      return std::nullopt;
  if (stated == 0 || elements % stated)
    return std::nullopt;
  *llvm::find(result, kDynamic) = elements / stated;
  return result;
}

static Shape inferConcatenate(const Query &query) {
  Shape result = query.shapeOf(0);
  Shape dimension = query.attribute("dimension");
  if (!result || !dimension || dimension->size() != 1 ||
      !isIndex(dimension->front(), *result))
    return std::nullopt;
  for (unsigned i = 1, e = query.op->getNumOperands(); i < e; ++i) {
    Shape shape = query.shapeOf(i);
    if (!shape || shape->size() != result->size())
      return std::nullopt;
    for (auto [dim, size] : llvm::enumerate(*shape)) {
      int64_t &joined = (*result)[dim];
      if (int64_t(dim) != dimension->front())
        joined = joined == kDynamic ? size : joined;
      else if (joined == kDynamic || size == kDynamic)
        joined = kDynamic;
      else
        joined += size;
    }
  }
  return result;
}

static Shape inferPad(const Query &query, const Shape &low, const Shape &high,
                      const Shape &interior) {
  Shape result = query.shapeOf(0);
  if (!result || !low || !high || !interior || low->size() != result->size() ||
      high->size() != result->size() || interior->size() != result->size())
    return std::nullopt;
  for (auto [dim, size] : llvm::enumerate(*result))
    if (size != kDynamic)
      size += (*low)[dim] + (*high)[dim] +
              std::max<int64_t>(size - 1, 0) * (*interior)[dim];
  return result;
}

/// Dimensions of the operand keep their size unless they are broadcast.
static Shape inferBroadcastInDim(const Query &query) {
  Shape shape = query.shapeOf(0);
  Shape dimensions = query.attribute("broadcast_dimensions");
  ShapedType type = getCarriedShape(query.op->getResult(0).getType());
  if (!shape || !dimensions || !type || !type.hasRank())
    return std::nullopt;
  Integers result(type.getShape());
  for (auto [size, dim] : llvm::zip(*shape, *dimensions))
    if (isIndex(dim, result) && result[dim] == kDynamic && size != 1)
      result[dim] = size;
  return result;
}

static Shape inferRealDynamicSlice(const Query &query) {
  Shape start = query.integersOf(1), limit = query.integersOf(2),
        stride = query.integersOf(3);
  if (!start || !limit || !stride)
    return std::nullopt;
  Integers result;
  for (auto [from, to, step] : llvm::zip(*start, *limit, *stride)) {
    if (step < 1)
      return std::nullopt;
    result.push_back(std::max<int64_t>(to - from + step - 1, 0) / step);
  }
  return result;
}

/// Batch dimensions come from the indices, the others from the slice sizes.
static Shape inferGather(const Query &query, Shape sizes) {
  Shape indices = query.shapeOf(1);
  Attribute numbers = query.op->getAttr("dimension_numbers");
  if (!sizes || !indices || !numbers)
    return std::nullopt;
  Integers offsets = getIntegerList(numbers, "offset_dims");
  Integers hidden = getIntegerList(numbers, "collapsed_slice_dims");
  hidden.append(getIntegerList(numbers, "operand_batching_dims"));
  int64_t vector = indices->size();
  if (auto opaque = dyn_cast<OpaqueAttr>(numbers)) {
    auto [front, rest] = opaque.getAttrData().split("index_vector_dim = ");
    rest.take_while(llvm::isDigit).getAsInteger(10, vector);
    if (rest.empty())
      vector = 0;
  }
  SmallVector<int64_t> batch, kept;
  for (auto [dim, size] : llvm::enumerate(*indices))
    if (int64_t(dim) != vector)
      batch.push_back(size);
  for (auto [dim, size] : llvm::enumerate(*sizes))
    if (!llvm::is_contained(hidden, dim))
      kept.push_back(size);
  if (kept.size() != offsets.size())
    return std::nullopt;
  Integers result;
  size_t nextBatch = 0, nextKept = 0;
  for (size_t dim = 0, e = batch.size() + kept.size(); dim < e; ++dim) {
    bool isOffset = llvm::is_contained(offsets, dim);
    if (isOffset ? nextKept >= kept.size() : nextBatch >= batch.size())
      return std::nullopt;
    result.push_back(isOffset ? kept[nextKept++] : batch[nextBatch++]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

static Shape inferStableHLO(const Query &query, unsigned result) {
  StringRef name = query.op->getName().stripDialect();
  if (name == "dot_general")
    return inferDotGeneral(query);
  if (name == "dot")
    return inferDot(query);
  if (name == "reduce")
    return inferReduce(query);
  if (name == "convolution")
    return inferConvolution(query);
  if (name == "transpose")
    return inferTranspose(query);
  if (name == "reshape")
    return inferReshape(query);
  if (name == "concatenate")
    return inferConcatenate(query);
  if (name == "pad")
    return inferPad(query, query.attribute("edge_padding_low"),
                    query.attribute("edge_padding_high"),
                    query.attribute("interior_padding"));
  if (name == "dynamic_pad")
    return inferPad(query, query.integersOf(2), query.integersOf(3),
                    query.integersOf(4));
  if (name == "broadcast_in_dim")
    return inferBroadcastInDim(query);
  if (name == "dynamic_reshape" || name == "dynamic_broadcast_in_dim")
    return query.integersOf(1);
  if (name == "dynamic_iota")
    return query.integersOf(0);
  if (name == "real_dynamic_slice")
    return inferRealDynamicSlice(query);
  if (name == "gather")
    return inferGather(query, query.attribute("slice_sizes"));
  if (name == "dynamic_gather")
    return inferGather(query, query.integersOf(2));
  if (name == "sort" || name == "optimization_barrier")
    return query.shapeOf(result);
  if (name == "reverse" || name == "dynamic_update_slice" || name == "scatter")
    return query.shapeOf(0);
  if (name.starts_with("broadcast_"))
    return inferBroadcast(query);
  OpClass kind = getOpFacts(query.op).opClass;
  if (kind == OpClass::Elementwise || kind == OpClass::ElementwiseCostly)
    return inferElementwise(query);
  return std::nullopt;
}

SmallVector<std::optional<Integers>>
mlir::es::inferShapes(Operation *op, const KnownIntegers &known) {
  SmallVector<std::optional<Integers>> shapes(op->getNumResults());
  StringRef dialect = op->getName().getDialectNamespace();
  Query query{op, known};
  if (dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo") {
    for (unsigned i = 0, e = shapes.size(); i < e; ++i)
      shapes[i] = inferStableHLO(query, i);
    return shapes;
  }
  if ((dialect != "torch" && dialect != "onnx") || shapes.empty())
    return shapes;
  StringRef name = op->getName().stripDialect();
  if (auto wrapped = op->getAttrOfType<StringAttr>("name");
      wrapped && name == "operator") {
    name = wrapped.getValue();
    name.consume_front("torch.");
    name.consume_front("onnx.");
  }
  if (name.consume_front("aten."))
    name = name.split('.').first;
  if (dialect == "torch")
    for (unsigned i = 0, e = shapes.size(); i < e; ++i)
      shapes[i] = inferAtenShape(op, name, i, known);
  bool isReshape = name == "view" || name == "reshape" || name == "flatten" ||
                   name == "unflatten" || name == "_unsafe_view" ||
                   name == "Reshape" || name == "Flatten";
  // What sizes leave open may follow from the number of elements.
  if (isReshape && (!shapes[0] || ShapedType::isDynamicShape(*shapes[0])))
    if (Shape counted = inferReshape(query))
      shapes[0] = counted;
  if (!shapes[0] && !isReshape)
    shapes[0] = inferOperatorShape(op, name);
  if (shapes[0] || shapes.size() != 1)
    return shapes;
  OpClass kind = getOpFacts(op).opClass;
  if (kind == OpClass::Elementwise || kind == OpClass::ElementwiseCostly)
    shapes[0] = inferBroadcast(query);
  return shapes;
}
