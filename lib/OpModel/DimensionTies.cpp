//===- DimensionTies.cpp - Which dimensions run together ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/DimensionTies.h"
#include "es/OpModel/Attributes.h"
#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"
#include "es/OpModel/Sharding.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::es;

static ArrayRef<int64_t> getShape(Value value) {
  ShapedType type = getCarriedShape(value.getType());
  return type && type.hasRank() ? type.getShape() : ArrayRef<int64_t>();
}

static std::optional<int64_t> countElements(Value value) {
  ShapedType type = getCarriedShape(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  return type.getNumElements();
}

/// The operands with a shape; those of lists, too.
static SmallVector<Value> getShapedOperands(Operation *op) {
  SmallVector<Value> values;
  for (Value operand : op->getOperands()) {
    Operation *list = operand.getDefiningOp();
    if (list && !getCarriedShape(operand.getType()) &&
        list->getNumOperands() > 0) {
      llvm::copy_if(list->getOperands(), std::back_inserter(values), getRank);
      continue;
    }
    if (getRank(operand) > 0)
      values.push_back(operand);
  }
  return values;
}

namespace {
class TieBuilder {
public:
  TieBuilder(Operation *op, const KnownIntegers &known)
      : op(op), known(known) {}
  DimensionTies build();

private:
  using Kind = DimensionTie::Kind;
  void tie(Value from, int64_t fromDim, Value to, int64_t toDim,
           Kind kind = Kind::Same);
  bool addStableHLO();
  void addStructured(linalg::LinalgOp linalg);
  bool addPermutation(Value from, Value to);
  bool addMovement(Value from, Value to);
  bool addProduct();
  bool addLookup();
  bool addIndex();
  bool addAttention();
  bool addConvolution();
  bool addNormalization();
  void addElementwise();
  void addByPosition(Value from, Value to);
  void addBySize(Value from, Value to);

  Operation *op;
  const KnownIntegers &known;
  DimensionTies result;
};
} // namespace

void TieBuilder::tie(Value from, int64_t fromDim, Value to, int64_t toDim,
                     Kind kind) {
  if (fromDim < 0 || toDim < 0 || fromDim >= getRank(from) ||
      toDim >= getRank(to))
    return;
  if (kind == Kind::Same && getShape(from)[fromDim] != getShape(to)[toDim])
    return;
  result.ties.push_back(
      {{from, unsigned(fromDim)}, {to, unsigned(toDim)}, kind});
}

/// How a dimension runs that is not as long as before, of ops that keep the
/// number of dimensions. Most of a dimension is all but a few elements of it;
/// an even part is one of several.
static std::optional<DimensionTie::Kind>
getKindOfPart(Operation *op, int64_t whole, int64_t part) {
  StringRef name = op->getName().stripDialect();
  if (name == "reduce_window" || name.contains_insensitive("pool"))
    return DimensionTie::Scale;
  OpFacts facts = getOpFacts(op);
  bool moves = facts.opClass == OpClass::DataMovement ||
               facts.results.front().kind == ResultKind::View;
  if (!moves)
    return std::nullopt;
  // Repeated or enlarged, if nothing is put beside it.
  bool isRepeated = part > whole && part % whole == 0 &&
                    getShapedOperands(op).size() == 1 &&
                    !name.contains_insensitive("pad");
  if (isRepeated)
    return DimensionTie::Scale;
  if (part > whole / 2)
    return DimensionTie::Offset;
  if (whole % part == 0)
    return DimensionTie::Scale;
  return std::nullopt;
}

/// What is known of StableHLO, and parts of a dimension besides.
bool TieBuilder::addStableHLO() {
  bool any = false;
  for (OpResult to : op->getResults()) {
    std::optional<DimensionSources> sources =
        getDimensionSources(op, to.getResultNumber());
    if (!sources)
      return any;
    any = true;
    if (op->getName().stripDialect() == "reshape") {
      result.ties.push_back(
          {{op->getOperand(0), 0}, {to, 0}, DimensionTie::Reshape});
      return true;
    }
    for (auto [dim, list] : llvm::enumerate(sources->dimensions))
      for (auto [operand, from] : list)
        tie(op->getOperand(operand), from, to, dim);
    for (auto [left, right] : sources->contracted)
      tie(op->getOperand(left.first), left.second, op->getOperand(right.first),
          right.second);
    StringRef name = op->getName().stripDialect();
    if (name == "gather") {
      Attribute numbers = op->getAttr("dimension_numbers");
      for (auto [table, index] :
           llvm::zip(getIntegerList(numbers, "operand_batching_dims"),
                     getIntegerList(numbers, "start_indices_batching_dims")))
        tie(op->getOperand(0), table, op->getOperand(1), index);
    }
    if (name == "slice" || name == "pad" || name == "concatenate" ||
        name == "reduce_window" || name == "dynamic_slice")
      addByPosition(op->getOperand(0), to);
    if (name == "concatenate")
      for (Value operand : op->getOperands().drop_front())
        addByPosition(operand, to);
    if (name == "convolution")
      for (int64_t dim = 0, e = getRank(to); dim < e; ++dim)
        if (sources->dimensions[dim].empty())
          tie(op->getOperand(0), dim, to, dim, DimensionTie::Scale);
  }
  return any;
}

/// All operands are seen through maps from the same iterations. A dimension
/// that is a sum of iterations, as in a convolution, runs with each that is
/// not summed over.
void TieBuilder::addStructured(linalg::LinalgOp linalg) {
  SmallVector<utils::IteratorType> iterators = linalg.getIteratorTypesArray();
  struct Seen {
    DimensionRef ref;
    bool isWhole;
  };
  SmallVector<SmallVector<Seen, 4>> seen(iterators.size());
  auto add = [&](AffineMap map, Value value) {
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      bool isWhole = isa<AffineDimExpr>(expr);
      expr.walk([&, dim = dim](AffineExpr part) {
        auto iteration = dyn_cast<AffineDimExpr>(part);
        if (!iteration || int64_t(dim) >= getRank(value))
          return;
        unsigned position = iteration.getPosition();
        if (isWhole || iterators[position] == utils::IteratorType::parallel)
          seen[position].push_back({{value, unsigned(dim)}, isWhole});
      });
    }
  };
  for (OpOperand &operand : op->getOpOperands())
    if (getRank(operand.get()) > 0)
      add(linalg.getMatchingIndexingMap(&operand), operand.get());
  for (OpResult to : op->getResults())
    add(linalg.getIndexingMapMatchingResult(to), to);
  // Tables that the body reads: by the iteration, or where data says.
  op->getRegion(0).walk([&](tensor::ExtractOp extract) {
    for (auto [dim, index] : llvm::enumerate(extract.getIndices()))
      if (auto iteration = index.getDefiningOp<linalg::IndexOp>())
        seen[iteration.getDim()].push_back(
            {{extract.getTensor(), unsigned(dim)}, /*isWhole=*/true});
      else
        result.isExact &= matchPattern(index, m_Constant());
  });
  for (ArrayRef<Seen> list : seen)
    for (size_t i = 1; i < list.size(); ++i) {
      const Seen &first = list.front(), &other = list[i];
      bool isSame = first.isWhole == other.isWhole;
      result.ties.push_back(
          {first.ref, other.ref,
           isSame ? DimensionTie::Same : DimensionTie::Scale});
      if (!isSame)
        result.ties.push_back({other.ref, first.ref, DimensionTie::Scale});
    }
}

static std::optional<SmallVector<int64_t, 4>> getPermutation(Operation *op) {
  auto first = op->getAttrOfType<IntegerAttr>("dim0"),
       second = op->getAttrOfType<IntegerAttr>("dim1");
  if (first && second && op->getNumResults() == 1) {
    int64_t rank = getRank(op->getResult(0));
    SmallVector<int64_t, 4> dims = llvm::to_vector<4>(llvm::seq(rank));
    int64_t a = first.getInt(), b = second.getInt();
    a += a < 0 ? rank : 0;
    b += b < 0 ? rank : 0;
    if (a < 0 || b < 0 || a >= rank || b >= rank)
      return std::nullopt;
    std::swap(dims[a], dims[b]);
    return dims;
  }
  for (StringRef name : {"permutation", "perms", "perm"})
    if (auto dims = getIntegers(op->getAttr(name)))
      return dims;
  return std::nullopt;
}

/// No dimension is as long as that by itself.
static constexpr int64_t kDistinct = 1000003;

/// The result's shape if the dimensions of the operand were all different.
static std::optional<Integers> inferFromDistinct(Operation *op, Value from,
                                                 const KnownIntegers &known) {
  Integers distinct;
  for (int64_t dim = 0, e = getRank(from); dim < e; ++dim)
    distinct.push_back(kDistinct + dim);
  Type old = from.getType();
  ShapedType shaped = getCarriedShape(old);
  from.setType(RankedTensorType::get(distinct, shaped.getElementType()));
  SmallVector<std::optional<Integers>> shapes = inferShapes(op, known);
  from.setType(old);
  return shapes.empty() ? std::nullopt : shapes.front();
}

/// Transposes, be their order an attribute or an operand.
bool TieBuilder::addPermutation(Value from, Value to) {
  if (auto dims = getPermutation(op);
      dims && int64_t(dims->size()) == getRank(to)) {
    for (auto [dim, source] : llvm::enumerate(*dims))
      tie(from, source, to, dim);
    return true;
  }
  // Upstream ops infer their shapes otherwise, and none of them is one.
  if (op->isRegistered() || getShapedOperands(op).size() != 1)
    return false;
  std::optional<Integers> inferred = inferFromDistinct(op, from, known);
  if (!inferred || int64_t(inferred->size()) != getRank(to))
    return false;
  // Of a reshape only some are found again.
  SmallVector<bool> isFound(getRank(from), false);
  for (int64_t size : *inferred)
    if (size >= kDistinct && size - kDistinct < getRank(from))
      isFound[size - kDistinct] = true;
  bool isMissing = false;
  for (auto [found, size] : llvm::zip(isFound, getShape(from)))
    isMissing |= !found && size != 1;
  if (llvm::none_of(isFound, [](bool found) { return found; }) ||
      (isMissing && countElements(from) == countElements(to)))
    return false;
  for (auto [dim, size] : llvm::enumerate(*inferred))
    if (size >= kDistinct)
      tie(from, size - kDistinct, to, dim);
  return true;
}

/// One operand whose elements are all in the result, in order or not.
bool TieBuilder::addMovement(Value from, Value to) {
  if (addPermutation(from, to))
    return true;
  std::optional<int64_t> elements = countElements(from);
  bool isView = getOpFacts(op).results.front().kind == ResultKind::View ||
                op->getName().stripDialect().contains_insensitive("reshape");
  if (!isView || !elements || elements != countElements(to))
    return false;
  result.ties.push_back({{from, 0}, {to, 0}, DimensionTie::Reshape});
  return true;
}

/// `[..., m, k] x [..., k, n]`, or `[n, k]` on the right.
bool TieBuilder::addProduct() {
  RoleFacts facts = getRoleFacts(op);
  unsigned last = std::max(facts.data, facts.weight);
  if (facts.use != RoleUse::Contraction || last >= op->getNumOperands())
    return false;
  Value left = op->getOperand(facts.data), right = op->getOperand(facts.weight),
        to = op->getResult(0);
  int64_t l = getRank(left), r = getRank(right), rank = getRank(to);
  if (l < 2 || r < 2 || rank < l)
    return false;
  StringRef name = op->getName().stripDialect();
  bool fits = getShape(left)[l - 1] == getShape(right)[r - 2] &&
              getShape(right)[r - 1] == getShape(to)[rank - 1];
  bool isTurned =
      !fits || name.ends_with("linear") || name == "fully_connected";
  int64_t summed = isTurned ? r - 1 : r - 2, kept = isTurned ? r - 2 : r - 1;
  if (getShape(left)[l - 1] != getShape(right)[summed] ||
      getShape(right)[kept] != getShape(to)[rank - 1])
    return false;
  tie(left, l - 1, right, summed);
  tie(right, kept, to, rank - 1);
  for (int64_t dim = 0; dim < l - 1; ++dim)
    tie(left, dim, to, rank - l + dim);
  for (int64_t dim = 0; dim < r - 2; ++dim)
    tie(right, dim, to, rank - r + dim);
  // A bias.
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (index != facts.data && index != facts.weight && getRank(operand) > 0)
      for (int64_t dim = 1; dim <= std::min(rank, getRank(operand)); ++dim)
        tie(operand, getRank(operand) - dim, to, rank - dim);
  return true;
}

/// The dimensions of the indices, and those of a row.
bool TieBuilder::addLookup() {
  RoleFacts facts = getRoleFacts(op);
  if (facts.use != RoleUse::Lookup)
    return false;
  Value indices = op->getOperand(facts.data),
        table = op->getOperand(facts.weight), to = op->getResult(0);
  int64_t rank = getRank(to);
  // tosa.gather has tables side by side, and one more dimension of the table.
  int64_t rows = rank - getRank(indices);
  for (int64_t dim = 0; dim < getRank(indices); ++dim)
    tie(indices, dim, to, dim);
  for (int64_t dim = 1; dim <= std::min(rows, getRank(table)); ++dim)
    tie(table, getRank(table) - dim, to, rank - dim);
  if (op->getName().getStringRef() == "tosa.gather")
    tie(table, 0, to, 0);
  return true;
}

/// The dimensions of all indices, as they are broadcast, stand first where each
/// leading dimension of the table has some; behind them, those of a row.
bool TieBuilder::addIndex() {
  if (op->getName().getStringRef() != "torch.aten.index.Tensor" ||
      op->getNumOperands() < 2)
    return false;
  // A list, in which dimensions without an index are none, or one by one.
  OperandRange indices = op->getOperands().drop_front();
  if (Operation *list = indices.front().getDefiningOp();
      list && !getCarriedShape(indices.front().getType()))
    indices = list->getOperands();
  else if (auto names = op->getAttrOfType<ArrayAttr>("arguments"))
    for (auto [at, name] : llvm::enumerate(names.getValue().drop_front()))
      if (auto text = dyn_cast<StringAttr>(name);
          !text || text.getValue() != "indices." + std::to_string(at))
        return false;
  Value table = op->getOperand(0), to = op->getResult(0);
  int64_t most = 0, count = indices.size();
  for (Value index : indices) {
    if (!getCarriedShape(index.getType()))
      return false;
    most = std::max(most, getRank(index));
  }
  int64_t rest = getRank(table) - count;
  if (rest < 0 || getRank(to) != most + rest)
    return false;
  for (Value index : indices)
    for (int64_t dim = 1; dim <= getRank(index); ++dim)
      tie(index, getRank(index) - dim, to, most - dim);
  for (int64_t dim = 0; dim < rest; ++dim)
    tie(table, count + dim, to, most + dim);
  return true;
}

/// Queries, keys, values, and what is added to the scores: the result is as the
/// queries, with the features of the values.
bool TieBuilder::addAttention() {
  if (!op->getName().stripDialect().ends_with("scaled_dot_product_attention") ||
      op->getNumOperands() < 3)
    return false;
  Value query = op->getOperand(0), key = op->getOperand(1),
        value = op->getOperand(2), to = op->getResult(0);
  int64_t rank = getRank(to);
  if (rank < 3 || getRank(query) != rank || getRank(key) != rank ||
      getRank(value) != rank)
    return false;
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    tie(query, dim, to, dim);
  for (int64_t dim = 0; dim < rank - 2; ++dim) {
    tie(key, dim, to, dim);
    tie(value, dim, to, dim);
  }
  tie(key, rank - 2, value, rank - 2);
  tie(query, rank - 1, key, rank - 1);
  tie(value, rank - 1, to, rank - 1);
  for (Value mask : op->getOperands().drop_front(3)) {
    int64_t extra = rank - getRank(mask);
    if (getRank(mask) < 2 || extra < 0)
      continue;
    for (int64_t dim = 0; dim < getRank(mask) - 1; ++dim)
      tie(mask, dim, to, dim + extra);
    tie(mask, getRank(mask) - 1, key, rank - 2);
  }
  return true;
}

/// The batch; features, which stand second or, in TOSA, last; and the extents
/// in space.
bool TieBuilder::addConvolution() {
  RoleFacts facts = getRoleFacts(op);
  if (facts.use != RoleUse::Convolution)
    return false;
  Value data = op->getOperand(facts.data),
        filter = op->getOperand(facts.weight), to = op->getResult(0);
  int64_t rank = getRank(to);
  if (rank < 3 || getRank(data) != rank || getRank(filter) != rank)
    return false;
  bool isLast = op->getName().getDialectNamespace() == "tosa";
  int64_t feature = isLast ? rank - 1 : 1;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim == 0)
      tie(data, dim, to, dim);
    else if (dim != feature)
      tie(data, dim, to, dim, DimensionTie::Scale);
  // `[out, in, ...]`, of transposed ones `[in, out, ...]`.
  int64_t in = isLast ? rank - 1 : 1, out = 0;
  if (!isLast && op->getName().stripDialect().contains_insensitive("transpose"))
    std::swap(in, out);
  tie(filter, out, to, feature);
  tie(data, feature, filter, in);
  return true;
}

/// The result is as the first operand; vectors run with the features, which
/// stand second, or with the last dimensions.
bool TieBuilder::addNormalization() {
  if (getRoleFacts(op).use != RoleUse::Normalization)
    return false;
  Value from = op->getOperand(0);
  StringRef name = op->getName().stripDialect();
  bool isLast = name.contains_insensitive("layer") ||
                name.contains_insensitive("rms") ||
                op->getName().getDialectNamespace() == "tosa";
  for (OpResult to : op->getResults())
    if (getShape(from) == getShape(to))
      addByPosition(from, to);
  SmallVector<Value> operands = getShapedOperands(op);
  for (Value vector : ArrayRef(operands).drop_front())
    for (int64_t dim = 0, rank = getRank(vector); dim < rank; ++dim)
      tie(vector, dim, from, isLast ? getRank(from) - rank + dim : 1);
  return true;
}

/// As NumPy broadcasts: dimensions that are as long, from the last on.
void TieBuilder::addElementwise() {
  for (OpResult to : op->getResults())
    for (Value from : getShapedOperands(op))
      for (int64_t dim = 1; dim <= std::min(getRank(from), getRank(to)); ++dim)
        tie(from, getRank(from) - dim, to, getRank(to) - dim);
}

/// As many dimensions: each is the same, or a part of it.
void TieBuilder::addByPosition(Value from, Value to) {
  for (int64_t dim = 0, e = getRank(to); dim < e && dim < getRank(from);
       ++dim) {
    int64_t whole = getShape(from)[dim], part = getShape(to)[dim];
    if (whole == part)
      tie(from, dim, to, dim);
    // With as many elements, dimensions have changed places.
    else if (whole > 1 && part > 1 && countElements(from) != countElements(to))
      if (auto kind = getKindOfPart(op, whole, part))
        tie(from, dim, to, dim, *kind);
  }
}

/// Other numbers of dimensions: each is the next one that is as long.
void TieBuilder::addBySize(Value from, Value to) {
  int64_t next = 0;
  for (int64_t dim = 0, e = getRank(to); dim < e; ++dim)
    for (int64_t source = next; source < getRank(from); ++source)
      if (getShape(from)[source] == getShape(to)[dim]) {
        tie(from, source, to, dim);
        next = source + 1;
        break;
      }
}

DimensionTies TieBuilder::build() {
  if (op->getNumResults() == 0 ||
      llvm::all_of(op->getResults(), [](Value v) { return getRank(v) == 0; }))
    return result;
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
    addStructured(linalg);
    return result;
  }
  if (addStableHLO())
    return result;
  SmallVector<Value> operands = getShapedOperands(op);
  OpFacts facts = getOpFacts(op);
  if (operands.empty())
    return result;
  StringRef name = op->getName().stripDialect();
  bool isBroadcast = name == "aten.expand" || name == "aten.broadcast_to" ||
                     name == "Expand" || name == "aten.expand_as";
  if (isBroadcast || facts.opClass == OpClass::Elementwise ||
      facts.opClass == OpClass::ElementwiseCostly) {
    addElementwise();
    return result;
  }
  if (addProduct() || addLookup() || addIndex() || addAttention() ||
      addConvolution())
    return result;
  if (op->getNumResults() == 1 && operands.size() == 1 &&
      addMovement(operands.front(), op->getResult(0)))
    return result;
  if (addNormalization())
    return result;
  for (OpResult to : op->getResults())
    for (Value from : operands) {
      if (getRank(from) == getRank(to)) {
        // Not a transpose: that has as many elements.
        result.isExact &= getShape(from) == getShape(to) ||
                          countElements(from) != countElements(to);
        addByPosition(from, to);
      } else {
        result.isExact = false;
        addBySize(from, to);
      }
    }
  return result;
}

DimensionTies mlir::es::getDimensionTies(Operation *op,
                                         const KnownIntegers &known) {
  return TieBuilder(op, known).build();
}
