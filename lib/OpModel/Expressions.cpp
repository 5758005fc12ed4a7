//===- Expressions.cpp - What an element is computed from -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/Expressions.h"
#include "NamedOps.h"
#include "es/OpModel/Attributes.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::es;

bool Element::hasAxis(unsigned axis) const {
  return llvm::any_of(axes, [&](const auto &dimension) {
    return llvm::is_contained(dimension, axis);
  });
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
struct FnLine {
  ElementFn fn;
  const char *names;
};
using FnTable = llvm::StringMap<ElementFn>;
} // namespace

static FnTable makeFnTable(ArrayRef<FnLine> lines) {
  FnTable table;
  SmallVector<StringRef> names;
  for (const FnLine &line : lines) {
    names.clear();
    StringRef(line.names).split(names, ' ', -1, /*KeepEmpty=*/false);
    for (StringRef name : names)
      table[name] = line.fn;
  }
  return table;
}

/// Elementwise ops of all dialects: where two use the same name they mean the
/// same.
static const FnTable &getElementwiseTable() {
  static const FnTable table = makeFnTable({
      {ElementFn::Move,
       "convert cast extf truncf to type_as _to_copy contiguous clone identity "
       "sitofp uitofp optimization_barrier prims.convert_element_type Cast "
       "Identity"},
      {ElementFn::Add, "add addf Add"},
      {ElementFn::Subtract, "subtract sub subf Sub"},
      {ElementFn::Multiply, "multiply mul mulf Mul"},
      {ElementFn::Divide, "divide div divf Div"},
      {ElementFn::Negate, "negate neg negf Neg"},
      {ElementFn::Exp, "exponential exp Exp"},
      {ElementFn::Log, "log Log"},
      {ElementFn::Maximum, "maximum maximumf maxnumf"},
      {ElementFn::Tanh, "tanh Tanh"},
      {ElementFn::Erf, "erf erfc Erf"},
      {ElementFn::Sqrt, "sqrt Sqrt"},
      {ElementFn::Rsqrt, "rsqrt"},
      {ElementFn::Reciprocal, "reciprocal Reciprocal"},
      {ElementFn::Select, "select where"},
      {ElementFn::Relu, "relu Relu"},
  });
  return table;
}

static const FnTable &getRowTable() {
  static const FnTable table = makeFnTable({
      {ElementFn::Softmax, "softmax _softmax Softmax"},
      {ElementFn::LogSoftmax, "log_softmax _log_softmax LogSoftmax"},
      {ElementFn::Sum, "reduce_sum sum ReduceSum"},
      {ElementFn::Mean, "mean ReduceMean"},
      {ElementFn::MaximumOf, "reduce_max amax ReduceMax"},
  });
  return table;
}

/// ATen overloads end in a suffix.
static StringRef getPlainName(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (name.consume_front("aten."))
    name = name.split('.').first;
  return name;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

SmallVector<unsigned, 1> ElementWalk::nameDimension(int64_t size) {
  if (size == 1)
    return {};
  return {addAxis(size)};
}

std::pair<unsigned, unsigned> ElementWalk::split(unsigned axis, int64_t outer) {
  std::pair<unsigned, unsigned> parts = {addAxis(outer),
                                         addAxis(sizes[axis] / outer)};
  partsOf[axis] = parts;
  return parts;
}

void ElementWalk::expand(unsigned axis,
                         SmallVectorImpl<unsigned> &parts) const {
  SmallVector<unsigned> worklist = {axis};
  while (!worklist.empty()) {
    unsigned next = worklist.pop_back_val();
    auto it = partsOf.find(next);
    if (it == partsOf.end()) {
      parts.push_back(next);
      continue;
    }
    worklist.push_back(it->second.second);
    worklist.push_back(it->second.first);
  }
}

Element ElementWalk::start(Value tensor) {
  Element element{tensor, {}};
  ShapedType type = getCarriedShape(tensor.getType());
  if (type && type.hasRank())
    for (int64_t size : type.getShape())
      element.axes.push_back(nameDimension(size));
  return element;
}

namespace mlir::es {
/// One step from one element.
class StepBuilder {
public:
  StepBuilder(ElementWalk &walk, const Element &element)
      : walk(walk), element(element) {}
  ElementStep build();

private:
  bool scalar();
  bool structured(linalg::LinalgOp op);
  bool reducing(linalg::LinalgOp op, const ElementAxes &loops);
  bool named(Operation *op);
  bool elementwise(Operation *op, ElementFn fn);
  bool rows(Operation *op, StringRef name);
  bool movement(Operation *op, StringRef name);
  bool product(Operation *op, StringRef name);
  bool hloReduction(Operation *op);
  void add(Value value, ElementAxes axes) {
    step.operands.push_back({value, std::move(axes)});
  }
  bool done(ElementFn fn) {
    step.fn = fn;
    return true;
  }
  std::optional<ElementAxes> regroup(const ElementAxes &from, Type to);
  std::optional<ElementAxes> broadcast(Type operand, Type result);

  ElementWalk &walk;
  const Element &element;
  ElementStep step;
};
} // namespace mlir::es

static std::optional<ArrayRef<int64_t>> getShape(Type type) {
  ShapedType shaped = getCarriedShape(type);
  if (!shaped || !shaped.hasRank())
    return std::nullopt;
  return shaped.getShape();
}

/// The same elements in the same order, in dimensions of other sizes.
std::optional<ElementAxes> StepBuilder::regroup(const ElementAxes &from,
                                                Type to) {
  std::optional<ArrayRef<int64_t>> shape = getShape(to);
  if (!shape)
    return std::nullopt;
  SmallVector<unsigned> flat;
  for (const auto &dimension : from)
    for (unsigned axis : dimension)
      walk.expand(axis, flat);
  ElementAxes axes;
  size_t next = 0;
  for (int64_t size : *shape) {
    auto &dimension = axes.emplace_back();
    if (size == 1)
      continue;
    if (size <= 0) {
      // A size that is not known is that of one axis.
      if (next == flat.size() || walk.getSize(flat[next]) != size)
        return std::nullopt;
      dimension.push_back(flat[next++]);
      continue;
    }
    int64_t left = size;
    while (left > 1 && next < flat.size() && walk.getSize(flat[next]) > 0) {
      int64_t extent = walk.getSize(flat[next]);
      if (left % extent == 0) {
        left /= extent;
        dimension.push_back(flat[next++]);
        continue;
      }
      if (extent % left != 0)
        return std::nullopt;
      auto [outer, inner] = walk.split(flat[next], left);
      dimension.push_back(outer);
      flat[next] = inner;
      left = 1;
    }
    if (left != 1)
      return std::nullopt;
  }
  if (next != flat.size())
    return std::nullopt;
  return axes;
}

/// Dimensions are matched from the last; those of one element are repeated.
std::optional<ElementAxes> StepBuilder::broadcast(Type operand, Type result) {
  std::optional<ArrayRef<int64_t>> from = getShape(operand);
  std::optional<ArrayRef<int64_t>> to = getShape(result);
  if (!from)
    return ElementAxes();
  if (!to || from->size() > to->size() || element.axes.size() != to->size())
    return std::nullopt;
  size_t offset = to->size() - from->size();
  ElementAxes axes;
  for (size_t i = 0, e = from->size(); i < e; ++i)
    axes.push_back((*from)[i] == 1 ? SmallVector<unsigned, 1>()
                                   : element.axes[offset + i]);
  return axes;
}

bool StepBuilder::elementwise(Operation *op, ElementFn fn) {
  for (Value operand : op->getOperands()) {
    if (isa<ShapedType>(element.value.getType()) ||
        getCarriedShape(element.value.getType())) {
      std::optional<ElementAxes> axes =
          broadcast(operand.getType(), element.value.getType());
      if (!axes)
        return false;
      add(operand, std::move(*axes));
    } else {
      add(operand, element.axes);
    }
  }
  // A conversion may carry the wanted type as further operands, a product of
  // TOSA its shift, a sum of ATen a factor.
  if (fn == ElementFn::Move)
    step.operands.truncate(1);
  bool isBinary = fn == ElementFn::Add || fn == ElementFn::Subtract ||
                  fn == ElementFn::Multiply || fn == ElementFn::Divide ||
                  fn == ElementFn::Maximum;
  if (isBinary && step.operands.size() > 2)
    step.operands.truncate(2);
  if (step.operands.empty())
    return false;
  // A number that is an attribute scales or shifts.
  if (isBinary && step.operands.size() == 1)
    return fn == ElementFn::Multiply || fn == ElementFn::Divide ||
                   fn == ElementFn::Add || fn == ElementFn::Subtract
               ? done(fn)
               : false;
  return done(fn);
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

/// The axes of an operand that is read at `map` of the loops.
static std::optional<ElementAxes> applyMap(AffineMap map,
                                           const ElementAxes &loops) {
  ElementAxes axes;
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      axes.push_back(loops[dim.getPosition()]);
    else if (auto constant = dyn_cast<AffineConstantExpr>(expr);
             constant && constant.getValue() == 0)
      axes.emplace_back();
    else
      return std::nullopt;
  }
  return axes;
}

bool StepBuilder::scalar() {
  auto argument = dyn_cast<BlockArgument>(element.value);
  if (argument) {
    auto op = dyn_cast_if_present<linalg::LinalgOp>(
        argument.getOwner()->getParentOp());
    if (!op || argument.getOwner() != op.getBlock())
      return false;
    step.op = op;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    if (!isMemoryType(operand->get().getType())) {
      add(operand->get(), {});
      return done(ElementFn::Move);
    }
    std::optional<ElementAxes> axes =
        applyMap(op.getMatchingIndexingMap(operand), element.axes);
    if (!axes)
      return false;
    add(operand->get(), std::move(*axes));
    return done(ElementFn::Move);
  }
  Operation *op = element.value.getDefiningOp();
  auto around = dyn_cast_if_present<linalg::LinalgOp>(op->getParentOp());
  if (!around)
    return false;
  step.op = around;
  auto it = getElementwiseTable().find(getPlainName(op));
  return it != getElementwiseTable().end() && elementwise(op, it->second);
}

/// Sums and maxima over loops that the result does not have.
bool StepBuilder::reducing(linalg::LinalgOp op, const ElementAxes &loops) {
  Block *body = op.getBlock();
  Operation *yield = body->getTerminator();
  Operation *combine = yield->getOperand(0).getDefiningOp();
  if (!combine || combine->getNumOperands() != 2)
    return false;
  Value accumulator = body->getArguments().back();
  unsigned other = combine->getOperand(0) == accumulator ? 1 : 0;
  if (combine->getOperand(1 - other) != accumulator)
    return false;
  bool isSum = isa<arith::AddFOp>(combine);
  if (!isSum && !isa<arith::MaximumFOp, arith::MaxNumFOp>(combine))
    return false;
  add(combine->getOperand(other), loops);
  if (isSum) {
    // A product, perhaps of converted factors.
    Value value = combine->getOperand(other);
    if (auto multiply = value.getDefiningOp<arith::MulFOp>()) {
      step.operands.clear();
      add(multiply.getLhs(), loops);
      add(multiply.getRhs(), loops);
      return done(ElementFn::Product);
    }
  }
  return done(isSum ? ElementFn::Sum : ElementFn::MaximumOf);
}

bool StepBuilder::structured(linalg::LinalgOp op) {
  if (!op.getBlock() || op->getNumResults() != 1)
    return false;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (map.getNumResults() != element.axes.size())
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  ElementAxes loops(ranges.size());
  SmallVector<bool> isNamed(ranges.size(), false);
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim) {
      auto constant = dyn_cast<AffineConstantExpr>(expr);
      if (constant && constant.getValue() == 0)
        continue;
      return false;
    }
    loops[dim.getPosition()] = element.axes[i];
    isNamed[dim.getPosition()] = true;
  }
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (isNamed[loop])
      continue;
    if (kind != utils::IteratorType::reduction)
      return false;
    loops[loop] = walk.nameDimension(ranges[loop]);
    llvm::append_range(step.rows, loops[loop]);
  }
  if (op.getNumReductionLoops() > 0)
    return reducing(op, loops);
  add(op.getBlock()->getTerminator()->getOperand(0), loops);
  return done(ElementFn::Move);
}

//===----------------------------------------------------------------------===//
// Named ops
//===----------------------------------------------------------------------===//

static SmallVector<int64_t, 4> getList(Operation *op, StringRef name) {
  if (auto array = dyn_cast_if_present<DenseI32ArrayAttr>(op->getAttr(name)))
    return SmallVector<int64_t, 4>(array.asArrayRef());
  std::optional<SmallVector<int64_t, 4>> list = getIntegers(op->getAttr(name));
  return list.value_or(SmallVector<int64_t, 4>());
}

/// The integers that torch-mlir gives as an operand.
static SmallVector<int64_t, 4> getTorchList(Operation *op, unsigned index) {
  if (index >= op->getNumOperands())
    return {};
  Operation *list = op->getOperand(index).getDefiningOp();
  if (!list || list->getName().getDialectNamespace() != "torch")
    return {};
  if (list->getName().stripDialect() == "constant.int")
    return getList(list, "value");
  SmallVector<int64_t, 4> values;
  if (list->getName().stripDialect() != "prim.ListConstruct")
    return {};
  for (Value entry : list->getOperands()) {
    Operation *def = entry.getDefiningOp();
    SmallVector<int64_t, 4> value =
        def ? getList(def, "value") : SmallVector<int64_t, 4>();
    if (value.size() != 1)
      return {};
    values.push_back(value[0]);
  }
  return values;
}

/// The dimensions that a reduction or a softmax names; none if it says nothing
/// that we understand.
static SmallVector<int64_t, 4> getRowDimensions(Operation *op) {
  for (StringRef name :
       {"dim", "dims", "axis", "axes", "dimension", "dimensions"})
    if (op->hasAttr(name))
      return getList(op, name);
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return {int64_t(softmax.getDimension())};
  return getTorchList(op, 1);
}

bool StepBuilder::rows(Operation *op, StringRef name) {
  ElementFn fn = getRowTable().lookup(name);
  if (op->getNumOperands() == 0)
    return false;
  Value operand = op->getOperand(0);
  std::optional<ArrayRef<int64_t>> shape = getShape(operand.getType());
  if (!shape)
    return false;
  SmallVector<int64_t, 4> dims = getRowDimensions(op);
  for (int64_t &dim : dims) {
    if (dim < 0)
      dim += shape->size();
    if (dim < 0 || dim >= int64_t(shape->size()))
      return false;
  }
  if (dims.empty())
    return false;
  if (fn == ElementFn::Softmax || fn == ElementFn::LogSoftmax) {
    if (element.axes.size() != shape->size())
      return false;
    for (int64_t dim : dims)
      llvm::append_range(step.rows, element.axes[dim]);
    add(operand, element.axes);
    return done(fn);
  }
  // What is reduced stays as a dimension of one element, or goes.
  bool keeps = element.axes.size() == shape->size();
  if (!keeps && element.axes.size() + dims.size() != shape->size())
    return false;
  ElementAxes axes;
  unsigned next = 0;
  for (int64_t i = 0, e = shape->size(); i < e; ++i) {
    if (!llvm::is_contained(dims, i)) {
      axes.push_back(element.axes[keeps ? i : next++]);
      continue;
    }
    axes.push_back(walk.nameDimension((*shape)[i]));
    llvm::append_range(step.rows, axes.back());
  }
  add(operand, std::move(axes));
  return done(fn);
}

bool StepBuilder::hloReduction(Operation *op) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return false;
  StringRef reducer = op->getRegion(0).front().front().getName().stripDialect();
  std::optional<ArrayRef<int64_t>> shape =
      getShape(op->getOperand(0).getType());
  SmallVector<int64_t, 4> dims = getList(op, "dimensions");
  if (!shape || element.axes.size() + dims.size() != shape->size() ||
      (reducer != "add" && reducer != "maximum"))
    return false;
  ElementAxes axes;
  unsigned next = 0;
  for (int64_t i = 0, e = shape->size(); i < e; ++i) {
    if (!llvm::is_contained(dims, i)) {
      axes.push_back(element.axes[next++]);
      continue;
    }
    axes.push_back(walk.nameDimension((*shape)[i]));
    llvm::append_range(step.rows, axes.back());
  }
  add(op->getOperand(0), std::move(axes));
  return done(reducer == "add" ? ElementFn::Sum : ElementFn::MaximumOf);
}

/// Ops that put the same elements elsewhere.
bool StepBuilder::movement(Operation *op, StringRef name) {
  if (op->getNumOperands() == 0)
    return false;
  Value operand = op->getOperand(0);
  std::optional<ArrayRef<int64_t>> from = getShape(operand.getType());
  if (!from)
    return false;
  auto move = [&](std::optional<ElementAxes> axes) {
    if (!axes)
      return false;
    add(operand, std::move(*axes));
    return done(ElementFn::Move);
  };
  static const llvm::StringMap<int> reshapes = [] {
    llvm::StringMap<int> names;
    for (StringRef known : {"reshape", "expand_shape", "collapse_shape", "view",
                            "_unsafe_view", "unsqueeze", "squeeze", "flatten",
                            "Reshape", "Unsqueeze", "Squeeze", "Flatten"})
      names[known] = 0;
    return names;
  }();
  if (reshapes.contains(name) || (name == "cast" && isa<tensor::CastOp>(op)))
    return move(regroup(element.axes, operand.getType()));
  if (name == "broadcast_in_dim") {
    SmallVector<int64_t, 4> dims = getList(op, "broadcast_dimensions");
    if (dims.size() != from->size())
      return false;
    ElementAxes axes;
    for (auto [size, dim] : llvm::zip(*from, dims)) {
      if (dim < 0 || dim >= int64_t(element.axes.size()))
        return false;
      axes.push_back(size == 1 ? SmallVector<unsigned, 1>()
                               : element.axes[dim]);
    }
    return move(axes);
  }
  if (name == "expand" || name == "broadcast_to" || name == "expand_as" ||
      name == "Expand")
    return move(broadcast(operand.getType(), element.value.getType()));
  SmallVector<int64_t, 4> order;
  bool isAten = op->getName().stripDialect().starts_with("aten.");
  if ((name == "transpose" || name == "t") && isAten) {
    order.resize(from->size());
    std::iota(order.begin(), order.end(), 0);
    auto get = [&](StringRef key, int64_t otherwise) {
      SmallVector<int64_t, 4> list = getList(op, key);
      if (list.empty())
        list = getTorchList(op, key == "dim0" ? 1 : 2);
      int64_t dim = list.size() == 1 ? list[0] : otherwise;
      return dim < 0 ? dim + int64_t(from->size()) : dim;
    };
    int64_t first = get("dim0", 0), second = get("dim1", 1);
    if (first < 0 || second < 0 || first >= int64_t(order.size()) ||
        second >= int64_t(order.size()) ||
        (name == "transpose" && !op->hasAttr("dim0") &&
         op->getNumOperands() != 3))
      return false;
    std::swap(order[first], order[second]);
  } else if (name == "transpose" || name == "permute" || name == "Transpose") {
    for (StringRef key : {"permutation", "perms", "dims", "perm"})
      if (order.empty())
        order = getList(op, key);
    if (order.empty())
      order = getTorchList(op, 1);
  }
  if (order.empty() || order.size() != from->size() ||
      order.size() != element.axes.size())
    return false;
  ElementAxes axes(order.size());
  for (auto [i, dim] : llvm::enumerate(order)) {
    if (dim < 0)
      dim += order.size();
    if (dim < 0 || dim >= int64_t(order.size()))
      return false;
    axes[dim] = element.axes[i];
  }
  return move(axes);
}

/// Batch dimensions, those that are summed over, the rest of the left, the rest
/// of the right: dot_general and what is written in terms of it.
bool StepBuilder::product(Operation *op, StringRef name) {
  if (op->getNumOperands() < 2)
    return false;
  std::optional<ArrayRef<int64_t>> lhs = getShape(op->getOperand(0).getType());
  std::optional<ArrayRef<int64_t>> rhs = getShape(op->getOperand(1).getType());
  if (!lhs || !rhs)
    return false;
  SmallVector<int64_t, 4> batchL, batchR, sumL, sumR;
  int64_t l = lhs->size(), r = rhs->size();
  if (name == "dot_general") {
    Attribute numbers = op->getAttr("dot_dimension_numbers");
    batchL = getIntegerList(numbers, "lhs_batching_dimensions");
    batchR = getIntegerList(numbers, "rhs_batching_dimensions");
    sumL = getIntegerList(numbers, "lhs_contracting_dimensions");
    sumR = getIntegerList(numbers, "rhs_contracting_dimensions");
  } else if (name == "matmul" || name == "bmm" || name == "mm" ||
             name == "MatMul" || (name == "dot" && l > 1 && r > 1)) {
    if (l != r || l < 2)
      return false;
    for (int64_t i = 0; i + 2 < l; ++i) {
      if ((*lhs)[i] != (*rhs)[i])
        return false;
      batchL.push_back(i);
      batchR.push_back(i);
    }
    sumL.push_back(l - 1);
    sumR.push_back(r - 2);
  } else {
    return false;
  }
  ElementAxes left(l), right(r);
  size_t next = 0;
  if (batchL.size() != batchR.size() || sumL.size() != sumR.size() ||
      element.axes.size() + batchL.size() + 2 * sumL.size() != size_t(l + r))
    return false;
  auto isDimension = [](ArrayRef<int64_t> dims, int64_t rank) {
    return llvm::all_of(dims,
                        [&](int64_t dim) { return dim >= 0 && dim < rank; });
  };
  if (!isDimension(batchL, l) || !isDimension(sumL, l) ||
      !isDimension(batchR, r) || !isDimension(sumR, r))
    return false;
  for (auto [a, b] : llvm::zip(batchL, batchR))
    left[a] = right[b] = element.axes[next++];
  for (auto [a, b] : llvm::zip(sumL, sumR)) {
    left[a] = right[b] = walk.nameDimension((*lhs)[a]);
    llvm::append_range(step.rows, left[a]);
  }
  for (int64_t i = 0; i < l; ++i)
    if (!llvm::is_contained(batchL, i) && !llvm::is_contained(sumL, i))
      left[i] = element.axes[next++];
  for (int64_t i = 0; i < r; ++i)
    if (!llvm::is_contained(batchR, i) && !llvm::is_contained(sumR, i))
      right[i] = element.axes[next++];
  add(op->getOperand(0), std::move(left));
  add(op->getOperand(1), std::move(right));
  return done(ElementFn::Product);
}

bool StepBuilder::named(Operation *op) {
  StringRef name = getPlainName(op);
  unsigned result = cast<OpResult>(element.value).getResultNumber();
  if (result == 0 && (name == "dropout" || name == "native_dropout") &&
      op->getNumOperands() > 0) {
    add(op->getOperand(0), element.axes);
    return done(ElementFn::Dropout);
  }
  if (op->getNumResults() != 1)
    return false;
  if (name == "reduce")
    return hloReduction(op);
  if (getRowTable().contains(name))
    return rows(op, name);
  if (product(op, name) || movement(op, name))
    return true;
  step.operands.clear();
  step.rows.clear();
  if (op->getNumRegions())
    return false;
  auto it = getElementwiseTable().find(name);
  return it != getElementwiseTable().end() && elementwise(op, it->second);
}

ElementStep StepBuilder::build() {
  Operation *op = element.value.getDefiningOp();
  step.op = op;
  bool found;
  if (!isMemoryType(element.value.getType()) &&
      (!op || isa_and_nonnull<linalg::LinalgOp>(op->getParentOp())))
    found = scalar();
  else if (!op)
    found = false;
  else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    found = structured(linalgOp);
  else
    found = named(op);
  if (found)
    return std::move(step);
  ElementStep leaf;
  leaf.op = step.op;
  return leaf;
}

ElementStep ElementWalk::step(const Element &element) {
  return StepBuilder(*this, element).build();
}
