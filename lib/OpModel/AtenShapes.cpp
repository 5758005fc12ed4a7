//===- AtenShapes.cpp - Shapes that depend on ATen's integers -------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// torch-mlir passes integers as operands (`torch.constant.int`, and lists of
// them), es_opt.from_torch as attributes under the names of the schema, with
// those that are computed as operands. Arguments are read from either.
//
//===----------------------------------------------------------------------===//

#include "AtenShapes.h"

#include "es/OpModel/Attributes.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::es;

using Shape = std::optional<Integers>;
using MaybeInteger = std::optional<int64_t>;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

static Shape getShape(Type type) {
  ShapedType shaped = getCarriedShape(type);
  if (!shaped || !shaped.hasRank())
    return std::nullopt;
  return Integers(shaped.getShape());
}

static StringRef getName(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op->getName().stripDialect() : "";
}

namespace {
/// The arguments of an operator, by position and name in its schema.
class Arguments {
public:
  Arguments(Operation *op, const KnownIntegers &known) : op(op), known(known) {
    if (auto names = op->getAttrOfType<ArrayAttr>("arguments"))
      for (auto [index, name] : llvm::enumerate(names))
        if (auto text = dyn_cast<StringAttr>(name);
            text && index < op->getNumOperands())
          named[text.getValue()] = op->getOperand(index);
  }

  Shape shape(unsigned position) const {
    return position < op->getNumOperands()
               ? getShape(op->getOperand(position).getType())
               : std::nullopt;
  }

  /// Nothing if the argument is there and not known, kDynamic likewise in
  /// lists; `missing` if it is not there.
  MaybeInteger integer(unsigned position, StringRef name,
                       MaybeInteger missing = std::nullopt) const {
    if (Attribute attribute = op->getAttr(name)) {
      Shape value = getIntegers(attribute);
      return value && value->size() == 1 ? MaybeInteger(value->front())
                                         : std::nullopt;
    }
    Value value = find(position, name);
    if (!value || getName(value) == "constant.none")
      return missing;
    return getKnown(value);
  }

  Shape list(unsigned position, StringRef name) const {
    Shape sizes = getIntegers(op->getAttr(name));
    for (auto &entry : named) {
      auto [base, index] = entry.first().split('.');
      size_t at;
      if (base != name || index.getAsInteger(10, at) || at >= kMostSizes)
        continue;
      if (!sizes)
        sizes.emplace();
      if (at >= sizes->size())
        sizes->resize(at + 1, kDynamic);
      (*sizes)[at] = getKnown(entry.second).value_or(kDynamic);
    }
    if (sizes)
      return sizes;
    Value value = find(position, name);
    if (!value || getName(value) != "prim.ListConstruct")
      return std::nullopt;
    sizes.emplace();
    for (Value size : value.getDefiningOp()->getOperands())
      sizes->push_back(getKnown(size).value_or(kDynamic));
    return sizes;
  }

  /// The tensors that stand first: in a list, or side by side.
  SmallVector<Shape, 4> tensors() const {
    ValueRange values = op->getOperands();
    if (!values.empty() && getName(values.front()) == "prim.ListConstruct")
      values = values.front().getDefiningOp()->getOperands();
    SmallVector<Shape, 4> shapes;
    for (Value value : values)
      if (getCarriedShape(value.getType()))
        shapes.push_back(getShape(value.getType()));
    return shapes;
  }

  Operation *getOp() const { return op; }

private:
  static constexpr size_t kMostSizes = 64;

  MaybeInteger getKnown(Value value) const {
    auto it = known.find(value);
    return it != known.end() && it->second.size() == 1
               ? MaybeInteger(it->second.front())
               : std::nullopt;
  }

  Value find(unsigned position, StringRef name) const {
    auto it = named.find(name);
    if (it != named.end())
      return it->second;
    // In the torch dialect every argument is an operand.
    bool byName = op->hasAttr("arguments") || position >= op->getNumOperands();
    return byName ? Value() : op->getOperand(position);
  }

  Operation *op;
  const KnownIntegers &known;
  llvm::StringMap<Value> named;
};
} // namespace

/// A dimension that may count from the end; nothing if there is none.
static MaybeInteger wrap(MaybeInteger dim, size_t rank) {
  if (!dim)
    return std::nullopt;
  if (*dim < 0)
    *dim += rank;
  return *dim >= 0 && uint64_t(*dim) < rank ? dim : std::nullopt;
}

static MaybeInteger multiply(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  return product;
}

//===----------------------------------------------------------------------===//
// Dimensions change places
//===----------------------------------------------------------------------===//

static Shape inferTranspose(const Arguments &arguments) {
  Shape shape = arguments.shape(0);
  if (!shape)
    return std::nullopt;
  MaybeInteger a = wrap(arguments.integer(1, "dim0"), shape->size());
  MaybeInteger b = wrap(arguments.integer(2, "dim1"), shape->size());
  if (!a || !b)
    return std::nullopt;
  std::swap((*shape)[*a], (*shape)[*b]);
  return shape;
}

static Shape inferReverse(const Arguments &arguments) {
  Shape shape = arguments.shape(0);
  if (!shape || shape->size() > 2)
    return std::nullopt;
  std::reverse(shape->begin(), shape->end());
  return shape;
}

static Shape inferPermute(const Arguments &arguments) {
  Shape shape = arguments.shape(0), dims = arguments.list(1, "dims");
  if (!shape || !dims || dims->size() != shape->size())
    return std::nullopt;
  Integers result;
  for (int64_t dim : *dims) {
    MaybeInteger from = wrap(dim, shape->size());
    if (!from)
      return std::nullopt;
    result.push_back((*shape)[*from]);
  }
  return result;
}

static Shape inferUnsqueeze(const Arguments &arguments) {
  Shape shape = arguments.shape(0);
  if (!shape)
    return std::nullopt;
  MaybeInteger dim = wrap(arguments.integer(1, "dim"), shape->size() + 1);
  if (!dim)
    return std::nullopt;
  shape->insert(shape->begin() + *dim, 1);
  return shape;
}

/// `squeeze.dim` and `squeeze.dims`; without, which dimensions go is a matter
/// of sizes, and the type says it.
static Shape inferSqueeze(const Arguments &arguments) {
  Shape shape = arguments.shape(0), dims = arguments.list(1, "dim");
  if (!dims)
    if (MaybeInteger dim = arguments.integer(1, "dim"))
      dims = Integers{*dim};
  if (!shape || !dims)
    return std::nullopt;
  llvm::SmallDenseSet<int64_t> gone;
  for (int64_t size : *dims) {
    MaybeInteger dim = wrap(size, shape->size());
    if (!dim || (*shape)[*dim] == kDynamic)
      return std::nullopt;
    if ((*shape)[*dim] == 1)
      gone.insert(*dim);
  }
  Integers result;
  for (auto [dim, size] : llvm::enumerate(*shape))
    if (!gone.contains(dim))
      result.push_back(size);
  return result;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Bounds count from the end if negative, and are clamped, as in Python.
static Shape inferSlice(const Arguments &arguments) {
  Shape shape = arguments.shape(0);
  if (!shape)
    return std::nullopt;
  MaybeInteger dim = wrap(arguments.integer(1, "dim", 0), shape->size());
  MaybeInteger start = arguments.integer(2, "start", 0);
  MaybeInteger end = arguments.integer(3, "end", INT64_MAX);
  MaybeInteger step = arguments.integer(4, "step", 1);
  if (!dim)
    return std::nullopt;
  int64_t &size = (*shape)[*dim];
  if (size == kDynamic)
    return shape;
  if (!start || !end || !step || *step < 1) {
    size = kDynamic;
    return shape;
  }
  auto clamp = [&](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + size : bound, 0, size);
  };
  int64_t from = clamp(*start), to = std::max(clamp(*end), from);
  size = (to - from + *step - 1) / *step;
  return shape;
}

static Shape inferNarrow(const Arguments &arguments) {
  Shape shape = arguments.shape(0);
  MaybeInteger dim =
      shape ? wrap(arguments.integer(1, "dim"), shape->size()) : std::nullopt;
  if (!dim)
    return std::nullopt;
  (*shape)[*dim] = arguments.integer(3, "length").value_or(kDynamic);
  return shape;
}

static Shape inferSelect(const Arguments &arguments) {
  Shape shape = arguments.shape(0);
  MaybeInteger dim =
      shape ? wrap(arguments.integer(1, "dim"), shape->size()) : std::nullopt;
  if (!dim)
    return std::nullopt;
  shape->erase(shape->begin() + *dim);
  return shape;
}

/// Parts of `size` elements, the last one of what is left; a list says how
/// many.
static Shape inferPart(const Arguments &arguments, unsigned index,
                       bool isCount) {
  Shape shape = arguments.shape(0);
  MaybeInteger dim = shape ? wrap(arguments.integer(2, "dim", 0), shape->size())
                           : std::nullopt;
  if (!dim)
    return std::nullopt;
  int64_t &size = (*shape)[*dim];
  StringRef names[] = {isCount ? "chunks" : "split_size", "split_sizes"};
  for (StringRef name : names)
    if (Shape sizes = arguments.list(1, name); sizes && sizes->size() > 1) {
      size = index < sizes->size() ? (*sizes)[index] : kDynamic;
      return shape;
    }
  MaybeInteger each = arguments.integer(1, names[0]);
  if (size == kDynamic || !each || *each < 1) {
    size = kDynamic;
    return shape;
  }
  if (isCount)
    each = std::max<int64_t>((size + *each - 1) / *each, 1);
  int64_t begin = *each > size ? 0 : *each * index;
  size = std::clamp<int64_t>(size - begin, 0, *each);
  return shape;
}

/// Rows of a table: the indices' shape in place of the dimension.
static Shape inferIndexSelect(const Arguments &arguments) {
  Shape shape = arguments.shape(0);
  MaybeInteger dim =
      shape ? wrap(arguments.integer(1, "dim"), shape->size()) : std::nullopt;
  // The index is the second tensor.
  SmallVector<Shape, 4> tensors = arguments.tensors();
  if (!dim || tensors.size() != 2 || !tensors[1] || tensors[1]->size() != 1)
    return std::nullopt;
  (*shape)[*dim] = tensors[1]->front();
  return shape;
}

static Shape inferEmbedding(const Arguments &arguments) {
  Shape table = arguments.shape(0), indices = arguments.shape(1);
  if (!table || !indices || table->size() != 2)
    return std::nullopt;
  indices->push_back(table->back());
  return indices;
}

//===----------------------------------------------------------------------===//
// Other shapes
//===----------------------------------------------------------------------===//

static Shape inferCat(const Arguments &arguments, bool isStack) {
  SmallVector<Shape, 4> tensors = arguments.tensors();
  if (tensors.empty() || !tensors.front())
    return std::nullopt;
  Integers result = *tensors.front();
  size_t rank = result.size();
  MaybeInteger dim = wrap(arguments.integer(1, "dim", 0), rank + isStack);
  if (!dim)
    return std::nullopt;
  for (const Shape &shape : llvm::drop_begin(tensors)) {
    if (!shape || shape->size() != rank)
      return std::nullopt;
    for (auto [index, size] : llvm::enumerate(*shape)) {
      int64_t &joined = result[index];
      if (isStack || int64_t(index) != *dim)
        joined = joined == kDynamic ? size : joined;
      else
        joined =
            joined == kDynamic || size == kDynamic ? kDynamic : joined + size;
    }
  }
  if (isStack)
    result.insert(result.begin() + *dim, tensors.size());
  return result;
}

/// `view` and `reshape`: one size may be -1.
static Shape inferView(const Arguments &arguments) {
  Shape sizes = arguments.list(1, "size");
  if (!sizes)
    sizes = arguments.list(1, "shape");
  Shape shape = arguments.shape(0);
  if (!sizes || !shape)
    return std::nullopt;
  if (llvm::count(*sizes, -1) != 1)
    return sizes;
  int64_t *open = llvm::find(*sizes, -1);
  *open = 1;
  MaybeInteger stated = multiply(*sizes), elements = multiply(*shape);
  *open = stated && elements && *stated && *elements % *stated == 0
              ? *elements / *stated
              : kDynamic;
  return sizes;
}

static Shape inferFlatten(const Arguments &arguments) {
  Shape shape = arguments.shape(0);
  if (!shape || shape->empty())
    return std::nullopt;
  MaybeInteger first =
      wrap(arguments.integer(1, "start_dim", 0), shape->size());
  MaybeInteger last = wrap(arguments.integer(2, "end_dim", -1), shape->size());
  if (!first || !last || *last < *first)
    return std::nullopt;
  ArrayRef<int64_t> sizes(*shape);
  MaybeInteger merged = multiply(sizes.slice(*first, *last - *first + 1));
  Integers result(sizes.take_front(*first));
  result.push_back(merged.value_or(kDynamic));
  llvm::append_range(result, sizes.drop_front(*last + 1));
  return result;
}

/// -1 keeps the size; new dimensions come first.
static Shape inferExpand(const Arguments &arguments) {
  Shape shape = arguments.shape(0), sizes = arguments.list(1, "size");
  if (!shape || !sizes || sizes->size() < shape->size())
    return std::nullopt;
  size_t added = sizes->size() - shape->size();
  for (auto [dim, size] : llvm::enumerate(*sizes))
    if (size == -1)
      size = dim < added ? kDynamic : (*shape)[dim - added];
  return sizes;
}

static Shape inferRepeat(const Arguments &arguments) {
  Shape shape = arguments.shape(0), times = arguments.list(1, "repeats");
  if (!shape || !times || times->size() < shape->size())
    return std::nullopt;
  size_t added = times->size() - shape->size();
  for (auto [dim, size] : llvm::enumerate(*times))
    if (dim >= added)
      size = multiply({size, (*shape)[dim - added]}).value_or(kDynamic);
  return times;
}

/// `arange(end)`, `arange(start, end)`, `arange(start, end, step)`.
static Shape inferArange(const Arguments &arguments) {
  StringRef overload = arguments.getOp()->getName().getStringRef();
  bool hasStart = overload.contains("arange.start");
  bool hasStep = overload.ends_with("start_step");
  MaybeInteger start = hasStart ? arguments.integer(0, "start", 0) : 0;
  MaybeInteger end = arguments.integer(hasStart ? 1 : 0, "end");
  MaybeInteger step = hasStep ? arguments.integer(2, "step", 1) : 1;
  if (!start || !end || !step || *step == 0)
    return std::nullopt;
  int64_t span = *step > 0 ? *end - *start : *start - *end;
  int64_t each = std::abs(*step);
  return Integers{std::max<int64_t>((span + each - 1) / each, 0)};
}

static Shape inferFill(const Arguments &arguments, bool isMethod) {
  return arguments.list(isMethod ? 1 : 0, "size");
}

/// Reductions over `dim`: one, several, or all dimensions.
static Shape inferReduce(const Arguments &arguments) {
  Shape shape = arguments.shape(0), dims = arguments.list(1, "dim");
  if (!dims)
    if (MaybeInteger dim = arguments.integer(1, "dim"))
      dims = Integers{*dim};
  MaybeInteger keep = arguments.integer(2, "keepdim", 0);
  if (!shape || !dims || !keep || dims->empty())
    return std::nullopt;
  llvm::SmallDenseSet<int64_t> reduced;
  for (int64_t dim : *dims) {
    MaybeInteger at = wrap(dim, shape->size());
    if (!at)
      return std::nullopt;
    reduced.insert(*at);
  }
  Integers result;
  for (auto [dim, size] : llvm::enumerate(*shape)) {
    if (!reduced.contains(dim))
      result.push_back(size);
    else if (*keep)
      result.push_back(1);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

using Rule = Shape (*)(const Arguments &);

static const llvm::StringMap<Rule> &getRules() {
  static const llvm::StringMap<Rule> rules = [] {
    llvm::StringMap<Rule> result;
    auto add = [&](Rule rule, StringRef names) {
      for (StringRef name : llvm::split(names, ' ')) {
        result[name] = rule;
        result[(name + "_copy").str()] = rule;
      }
    };
    add(inferTranspose, "transpose swapaxes swapdims");
    add(inferReverse, "t");
    add(inferPermute, "permute");
    add(inferUnsqueeze, "unsqueeze");
    add(inferSqueeze, "squeeze");
    add(inferSlice, "slice");
    add(inferNarrow, "narrow");
    add(inferSelect, "select");
    add(inferIndexSelect, "index_select");
    add(inferEmbedding, "embedding");
    add([](const Arguments &a) { return inferCat(a, /*isStack=*/false); },
        "cat concat concatenate");
    add([](const Arguments &a) { return inferCat(a, /*isStack=*/true); },
        "stack");
    add(inferView, "view reshape _unsafe_view _reshape_alias");
    add(inferFlatten, "flatten");
    add(inferExpand, "expand broadcast_to");
    add(inferRepeat, "repeat");
    add(inferArange, "arange");
    add([](const Arguments &a) { return inferFill(a, /*isMethod=*/false); },
        "zeros ones full empty rand randn");
    add([](const Arguments &a) { return inferFill(a, /*isMethod=*/true); },
        "new_zeros new_ones new_full new_empty");
    add(inferReduce, "sum mean amax amin prod any all argmax argmin logsumexp");
    return result;
  }();
  return rules;
}

std::optional<Integers> mlir::es::inferAtenShape(Operation *op, StringRef name,
                                                 unsigned result,
                                                 const KnownIntegers &known) {
  Arguments arguments(op, known);
  bool isCount = name == "chunk" || name == "unsafe_chunk";
  if (isCount || name == "split" || name == "split_with_sizes" ||
      name == "unsafe_split" || name == "unsafe_split_with_sizes")
    return inferPart(arguments, result, isCount);
  auto it = getRules().find(name);
  return it == getRules().end() ? std::nullopt : it->second(arguments);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

std::optional<int64_t>
mlir::es::evaluateTorchInteger(Operation *op, const KnownIntegers &known) {
  StringRef name = op->getName().stripDialect();
  if (name == "constant.int" || name == "constant.bool") {
    Shape value = getIntegers(op->getAttr("value"));
    if (auto flag = op->getAttrOfType<BoolAttr>("value"))
      return flag.getValue();
    return value && value->size() == 1 ? MaybeInteger(value->front())
                                       : std::nullopt;
  }
  Arguments arguments(op, known);
  if (name == "aten.size.int" || name == "aten.sym_size.int") {
    Shape shape = arguments.shape(0);
    MaybeInteger dim =
        shape ? wrap(arguments.integer(1, "dim"), shape->size()) : std::nullopt;
    return dim && (*shape)[*dim] != kDynamic ? MaybeInteger((*shape)[*dim])
                                             : std::nullopt;
  }
  name.consume_front("aten.");
  name.consume_front("python.");
  name.consume_back(".int");
  MaybeInteger a = arguments.integer(0, "arg0"),
               b = arguments.integer(1, "arg1");
  int64_t value;
  if (!a || !b)
    return std::nullopt;
  bool isDivision = name == "floordiv" || name == "mod";
  if (isDivision && (*b == 0 || (*a == INT64_MIN && *b == -1)))
    return std::nullopt;
  if (name == "floordiv")
    return *a / *b - ((*a % *b != 0) && ((*a < 0) != (*b < 0)));
  if (name == "mod")
    return (*a % *b + *b) % *b;
  bool overflows = true;
  if (name == "add")
    overflows = __builtin_add_overflow(*a, *b, &value);
  else if (name == "sub")
    overflows = __builtin_sub_overflow(*a, *b, &value);
  else if (name == "mul")
    overflows = __builtin_mul_overflow(*a, *b, &value);
  return overflows ? std::nullopt : MaybeInteger(value);
}
