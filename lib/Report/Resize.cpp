//===- Resize.cpp - A function at another size of a dimension -------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Resize.h"
#include "FunctionBuilder.h"
#include "es/Foreign/Types.h"
#include "es/OpModel/CountedLoops.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/IR/IRMapping.h"
#include <numeric>

using namespace mlir;
using namespace mlir::es;

static constexpr unsigned kMostRounds = 100;

using Factors = SmallVector<Extent::Factor, 1>;

bool Extent::grows() const {
  return llvm::any_of(factors, [](const Factor &f) { return f.grows; });
}

int64_t Extent::getProduct() const {
  int64_t product = 1;
  for (const Factor &factor : factors)
    product *= factor.size;
  return product;
}

std::optional<int64_t> Extent::getSize(int64_t from, int64_t to) const {
  int64_t size = 1;
  for (const Factor &factor : factors) {
    int64_t scaled = factor.size;
    if (factor.grows) {
      if (__builtin_mul_overflow(scaled, to, &scaled) || scaled % from != 0)
        return std::nullopt;
      scaled /= from;
    }
    if (__builtin_mul_overflow(size, scaled, &size))
      return std::nullopt;
  }
  if (__builtin_add_overflow(size, fixed, &size) || size < 0)
    return std::nullopt;
  return size;
}

static ShapedType getShaped(Value value) {
  ShapedType type = getCarriedShape(value.getType());
  return type && type.hasRank() ? type : ShapedType();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Adds where the factors of a product begin, counted in elements from the
/// last. False if that is more than can be counted.
static bool addCuts(ArrayRef<Extent::Factor> factors,
                    SmallVectorImpl<int64_t> &cuts) {
  int64_t product = 1;
  for (const Extent::Factor &factor : llvm::reverse(factors)) {
    if (__builtin_mul_overflow(product, factor.size, &product) || product < 1)
      return false;
    cuts.push_back(product);
  }
  return true;
}

/// `factors`, cut at each of `cuts` besides. What grows of a factor that is cut
/// is its first part.
static Factors cut(ArrayRef<Extent::Factor> factors, ArrayRef<int64_t> cuts) {
  Factors result;
  int64_t product = 1;
  size_t next = 0;
  for (const Extent::Factor &factor : llvm::reverse(factors)) {
    int64_t end = product * factor.size;
    while (next < cuts.size() && cuts[next] <= end) {
      bool isFirst = cuts[next] == end;
      if (cuts[next] > product)
        result.push_back({cuts[next] / product, isFirst && factor.grows});
      product = cuts[next++];
    }
  }
  std::reverse(result.begin(), result.end());
  return result;
}

/// Cuts two products of equal size alike and lets grow in each what grows in
/// the other. Nothing if they cannot be cut alike.
static std::optional<bool> unify(Factors &a, Factors &b) {
  auto isOne = [](const Extent::Factor &factor) { return factor.size == 1; };
  llvm::erase_if(a, isOne);
  llvm::erase_if(b, isOne);
  SmallVector<int64_t> cuts;
  if (!addCuts(a, cuts) || !addCuts(b, cuts))
    return std::nullopt;
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  for (size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i] % cuts[i - 1] != 0)
      return std::nullopt;
  Factors newA = cut(a, cuts), newB = cut(b, cuts);
  bool changed = newA.size() != a.size() || newB.size() != b.size();
  for (auto [left, right] : llvm::zip(newA, newB)) {
    changed |= left.grows != right.grows;
    left.grows = right.grows = left.grows || right.grows;
  }
  a = std::move(newA);
  b = std::move(newB);
  return changed;
}

//===----------------------------------------------------------------------===//
// Reading the function
//===----------------------------------------------------------------------===//

Resizer::Resizer(FunctionOpInterface func) : func(func) {
  func.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto integers = evaluateIntegers(op, known))
      known[op->getResult(0)] = *integers;
    addOp(op);
    // Bodies of structured ops are about elements.
    OpClass opClass = getOpFacts(op).opClass;
    return opClass == OpClass::ControlFlow ? WalkResult::advance()
                                           : WalkResult::skip();
  });
}

void Resizer::tieAll(Value a, Value b) {
  ShapedType left = getShaped(a), right = getShaped(b);
  if (!left || !right || left.getRank() != right.getRank())
    return;
  for (unsigned dim = 0, e = left.getRank(); dim < e; ++dim)
    if (left.getDimSize(dim) == right.getDimSize(dim))
      ties.push_back({{a, dim}, {b, dim}, DimensionTie::Same});
}

void Resizer::addControlFlow(Operation *op) {
  if (std::optional<CarryingLoop> loop = getCarryingLoop(op)) {
    for (unsigned i = 0, e = loop->size(); i < e; ++i) {
      Value argument = loop->getArgument(i);
      tieAll(loop->getInit(i).get(), argument);
      tieAll(loop->getYield(i).get(), argument);
      if (i < op->getNumResults())
        tieAll(op->getResult(i), argument);
      // A `while` has its condition in a region of its own.
      for (Region &region : op->getRegions())
        if (&region != loop->body && i < region.getNumArguments())
          tieAll(region.getArgument(i), argument);
    }
    return;
  }
  if (isBranchOp(op)) {
    for (Region &region : op->getRegions())
      if (region.hasOneBlock() && !region.front().empty() &&
          region.front().back().getNumOperands() == op->getNumResults())
        for (auto [yielded, result] :
             llvm::zip(region.front().back().getOperands(), op->getResults()))
          tieAll(yielded, result);
    return;
  }
  opaque.push_back(op);
}

void Resizer::addOp(Operation *op) {
  OpFacts facts = getOpFacts(op);
  if (facts.opClass == OpClass::ControlFlow)
    return addControlFlow(op);
  if (facts.opClass == OpClass::Call) {
    opaque.push_back(op);
    return;
  }
  DimensionTies found = getDimensionTies(op, known);
  if (op->getName().stripDialect().contains("slice") &&
      op->getNumResults() == 1 && op->getNumOperands() > 0)
    slices.push_back(op);
  if (!found.isExact)
    guessed.push_back(op);
  size_t first = offsets.size();
  for (const DimensionTie &tie : found.ties) {
    if (tie.kind != DimensionTie::Offset) {
      ties.push_back(tie);
      continue;
    }
    auto it = std::find_if(
        offsets.begin() + first, offsets.end(), [&](const OffsetTies &other) {
          return other.to.value == tie.to.value && other.to.dim == tie.to.dim;
        });
    if (it == offsets.end())
      it = &offsets.emplace_back(OffsetTies{tie.to, {}});
    it->from.push_back(tie.from);
  }
}

//===----------------------------------------------------------------------===//
// Solving
//===----------------------------------------------------------------------===//

Resizer::Extents &Resizer::getExtents(Value value) {
  auto [it, inserted] = extents.try_emplace(value);
  if (inserted)
    for (int64_t size : getShaped(value).getShape())
      it->second.push_back({{{size, false}}, 0});
  return it->second;
}

bool Resizer::grows(Value value, unsigned dim) const {
  auto it = extents.find(value);
  return it != extents.end() && it->second[dim].grows();
}

bool Resizer::grows(Value value) const {
  auto it = extents.find(value);
  return it != extents.end() &&
         llvm::any_of(it->second, [](const Extent &e) { return e.grows(); });
}

bool Resizer::sync(const DimensionTie &tie) {
  if (tie.kind == DimensionTie::Reshape)
    return syncReshape(tie.from.value, tie.to.value);
  bool from = grows(tie.from.value, tie.from.dim),
       to = grows(tie.to.value, tie.to.dim);
  if (!from && (!to || tie.kind == DimensionTie::Scale))
    return false;
  // Values that a map is given must not move while others are added.
  getExtents(tie.from.value);
  Extent &b = getExtents(tie.to.value)[tie.to.dim];
  Extent &a = extents.find(tie.from.value)->second[tie.from.dim];
  if (tie.kind == DimensionTie::Scale) {
    if (to)
      return false;
    b = {{{b.getSize(), true}}, 0};
    return true;
  }
  if (from != to && (a.fixed || b.fixed)) {
    (from ? b : a) = from ? a : b;
    return true;
  }
  if (a.fixed || b.fixed)
    return false;
  if (std::optional<bool> changed = unify(a.factors, b.factors))
    return *changed;
  if (from == to)
    return false;
  (from ? b : a) = {{{a.getSize(), true}}, 0};
  return true;
}

/// What grows of the parts grows in the whole, or in the part that is taken.
bool Resizer::syncOffsets(const OffsetTies &offset) {
  int64_t growing = 0;
  for (DimensionRef from : offset.from)
    if (grows(from.value, from.dim))
      growing += getExtents(from.value)[from.dim].getProduct();
  if (growing == 0)
    return false;
  Extent &to = getExtents(offset.to.value)[offset.to.dim];
  Extent wanted = {{{growing, true}}, to.getSize() - growing};
  if (to.grows() && to.getProduct() >= growing)
    return false;
  to = wanted;
  return true;
}

bool Resizer::syncReshape(Value from, Value to) {
  if (!grows(from) && !grows(to))
    return false;
  if (!getShaped(from).hasStaticShape() || !getShaped(to).hasStaticShape()) {
    unknown = to;
    return false;
  }
  getExtents(from);
  Extents &b = getExtents(to), &a = extents.find(from)->second;
  auto isOffset = [](const Extent &extent) { return extent.fixed != 0; };
  if (llvm::any_of(a, isOffset) || llvm::any_of(b, isOffset)) {
    // Only dimensions of one element come or go.
    auto isLong = [](const Extent &extent) { return extent.getSize() != 1; };
    SmallVector<Extent *> left, right;
    for (Extent &extent : a)
      if (isLong(extent))
        left.push_back(&extent);
    for (Extent &extent : b)
      if (isLong(extent))
        right.push_back(&extent);
    bool changed = false;
    if (left.size() != right.size() ||
        !llvm::all_of(llvm::zip(left, right), [](auto pair) {
          return std::get<0>(pair)->getSize() == std::get<1>(pair)->getSize();
        })) {
      unknown = to;
      return false;
    }
    for (auto [x, y] : llvm::zip(left, right))
      if (x->grows() != y->grows()) {
        (x->grows() ? *y : *x) = x->grows() ? *x : *y;
        changed = true;
      }
    return changed;
  }
  auto flatten = [](const Extents &dims) {
    Factors all;
    for (const Extent &extent : dims)
      llvm::append_range(all, extent.factors);
    return all;
  };
  Factors left = flatten(a), right = flatten(b);
  std::optional<bool> changed = unify(left, right);
  if (!changed)
    unknown = to;
  if (!changed.value_or(false))
    return false;
  auto split = [](Extents &dims, ArrayRef<Extent::Factor> factors) {
    // From the last: the leading ones of several dimensions of one element are
    // left with nothing.
    for (Extent &extent : llvm::reverse(dims)) {
      int64_t size = extent.getSize(), product = 1;
      extent.factors.clear();
      while (product < size) {
        extent.factors.insert(extent.factors.begin(), factors.back());
        product *= factors.back().size;
        factors = factors.drop_back();
      }
      if (extent.factors.empty())
        extent.factors.push_back({size, false});
    }
  };
  split(a, left);
  split(b, right);
  return true;
}

bool Resizer::fail(Operation *op, const llvm::Twine &why) {
  reason = (op->getName().getStringRef() + " at " +
            printLocation(op->getLoc()) + " " + why)
               .str();
  return false;
}

/// What an op leaves out of a dimension that grows is left to other iterations
/// of a loop around it, or of one that was unrolled: there would be more.
bool Resizer::checkOp(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return true;
  OpFacts facts = getOpFacts(op);
  bool takes = facts.opClass == OpClass::DataMovement ||
               facts.results.front().kind == ResultKind::View ||
               !getShaped(op->getResult(0));
  Value from = op->getOperand(0);
  if (!takes || !grows(from) || grows(op->getResult(0)))
    return true;
  if (op->getParentOp() != func)
    return fail(op, "takes a part of it in a loop");
  const Extents &dims = extents.find(from)->second;
  auto isSmall = [&](const Extent &extent) {
    return extent.grows() && ++taken[from] >= extent.getSize();
  };
  if (llvm::any_of(dims, isSmall))
    return fail(op, "is one of many that take it apart");
  return true;
}

/// Of an op that nothing describes only sizes are known.
bool Resizer::checkGuess(Operation *op) {
  auto growsHere = [&](Value value) { return grows(value); };
  bool fromOperands = llvm::any_of(op->getOperands(), growsHere);
  // What a body reads wherever data says.
  bool readsAnywhere = false;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      readsAnywhere |= llvm::any_of(inner->getOperands(), [&](Value v) {
        return grows(v) && !region.isAncestor(v.getParentRegion());
      });
    });
  // Of what reads its operands in a way of its own sizes say nothing.
  OpClass opClass = getOpFacts(op).opClass;
  bool isOpaque = opClass == OpClass::Opaque ||
                  opClass == OpClass::Materializing ||
                  opClass == OpClass::Contraction;
  if (readsAnywhere || (isOpaque && fromOperands))
    return fail(op, "is not described");
  auto isAmbiguous = [&](Value value) {
    if (!grows(value))
      return false;
    ShapedType type = getShaped(value);
    for (unsigned i = 0, e = type.getRank(); i < e; ++i)
      for (unsigned j = 0; j < i; ++j)
        if (type.getDimSize(i) == type.getDimSize(j) &&
            grows(value, i) != grows(value, j))
          return true;
    return false;
  };
  if (llvm::any_of(op->getOperands(), isAmbiguous) ||
      llvm::any_of(op->getResults(), isAmbiguous))
    return fail(op, "has several dimensions of its size");
  if (fromOperands || llvm::any_of(op->getResults(), growsHere)) {
    exact = false;
    fail(op, "is not described, and equal sizes need not be one dimension");
  }
  return true;
}

bool Resizer::grow(ArrayRef<std::pair<BlockArgument, unsigned>> seeds) {
  extents.clear();
  unknown = Value();
  exact = true;
  for (auto [argument, dim] : seeds)
    getExtents(argument)[dim].factors.front().grows = true;
  // Ties are in program order and most run forward: a few rounds do. What has
  // not settled after many has ties that contradict each other.
  bool changed = true;
  for (unsigned round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    for (const DimensionTie &tie : ties)
      changed |= sync(tie);
    for (const OffsetTies &offset : offsets)
      changed |= syncOffsets(offset);
  }
  if (changed) {
    reason = "its ties do not settle";
    return false;
  }
  if (unknown)
    return fail(unknown.getDefiningOp(), "merges what grows in another way");
  for (Operation *op : opaque)
    if (llvm::any_of(op->getOperands(), [&](Value v) { return grows(v); }))
      return fail(op, "is not described");
  for (Operation *op : guessed)
    if (!checkGuess(op))
      return false;
  taken.clear();
  bool isKnown = true;
  func.getFunctionBody().walk([&](Operation *op) {
    isKnown = isKnown && checkOp(op);
    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  return isKnown;
}

/// What an op takes of a dimension that does not grow must be there: of a table
/// of positions.
bool Resizer::checkSlices(int64_t from, int64_t to) {
  for (Operation *op : slices) {
    Value whole = op->getOperand(0), part = op->getResult(0);
    if (!grows(part) || getRank(whole) != getRank(part))
      continue;
    const Extents &parts = getExtents(part);
    for (auto [dim, size] : llvm::enumerate(getShaped(whole).getShape())) {
      std::optional<int64_t> wanted = parts[dim].getSize(from, to);
      if (parts[dim].grows() && !grows(whole, dim) && wanted && *wanted > size)
        return fail(op, "takes " + llvm::Twine(*wanted) + " of " +
                            llvm::Twine(size));
    }
  }
  return true;
}

/// A factor of a dimension would be no whole number, or the whole too large.
bool Resizer::failParts(Value value, const Extent &extent, int64_t from) {
  int64_t multiple = 1;
  for (const Extent::Factor &factor : extent.factors)
    if (factor.grows)
      multiple = std::max(multiple, from / std::gcd(from, factor.size));
  reason = "its dimensions would be too large";
  if (multiple > 1)
    reason = "a reshape of it needs a multiple of " + std::to_string(multiple);
  reason += ", at " + printLocation(value.getLoc());
  return false;
}

bool Resizer::setShapes(FunctionOpInterface target, int64_t from, int64_t to,
                        function_ref<Value(Value)> getValue) {
  if (!checkSlices(from, to))
    return false;
  SmallVector<std::pair<Value, Type>> types;
  for (const auto &[value, dims] : extents) {
    if (!grows(value))
      continue;
    SmallVector<int64_t> shape;
    for (auto [extent, size] : llvm::zip(dims, getShaped(value).getShape())) {
      std::optional<int64_t> resized =
          extent.grows() ? extent.getSize(from, to) : std::optional(size);
      if (!resized)
        return failParts(value, extent, from);
      shape.push_back(*resized);
    }
    if (Type type = withForeignShape(value.getType(), shape))
      types.push_back({getValue(value), type});
  }
  for (auto [value, type] : types)
    value.setType(type);
  SmallVector<Type> results(target.getResultTypes());
  for (Block &block : target.getFunctionBody())
    if (!block.empty() && block.back().hasTrait<OpTrait::ReturnLike>() &&
        block.back().getNumOperands() == results.size())
      results.assign(block.back().operand_type_begin(),
                     block.back().operand_type_end());
  target.setType(target.cloneTypeWith(
      target.getFunctionBody().getArgumentTypes(), results));
  return true;
}

bool Resizer::resize(int64_t from, int64_t to) {
  return setShapes(func, from, to, [](Value value) { return value; });
}

FunctionOpInterface Resizer::cloneAt(int64_t scale) {
  IRMapping mapping;
  Operation *copy = func->clone(mapping);
  std::string name = (func.getName() + "_resized").str();
  while (SymbolTable::lookupSymbolIn(func->getParentOp(), name))
    name += "_";
  SymbolTable::setSymbolName(copy, name);
  func->getBlock()->getOperations().insertAfter(func->getIterator(), copy);
  auto resized = cast<FunctionOpInterface>(copy);
  // Multiples of sizes are whole numbers, but may be too large.
  if (!setShapes(resized, 1, scale,
                 [&](Value value) { return mapping.lookup(value); })) {
    resized->erase();
    return nullptr;
  }
  return resized;
}
