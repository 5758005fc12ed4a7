//===- NamedExpressions.cpp - Elements of ops known by name ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NamedOps.h"
#include "StepBuilder.h"
#include "es/OpModel/Attributes.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::es;

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

ElementFn mlir::es::getElementFn(Operation *op) {
  auto it = getElementwiseTable().find(getPlainName(op));
  return it == getElementwiseTable().end() ? ElementFn::Leaf : it->second;
}

StringRef mlir::es::getCompositeKind(Operation *op) {
  return llvm::StringSwitch<StringRef>(getPlainName(op))
      .Cases({"scaled_dot_product_attention",
              "_scaled_dot_product_flash_attention",
              "_scaled_dot_product_efficient_attention",
              "_scaled_dot_product_flash_attention_for_cpu"},
             "attention")
      .Cases({"layer_norm", "native_layer_norm", "LayerNormalization"},
             "layer_norm")
      .Cases({"gelu", "Gelu"}, "gelu")
      .Cases({"cross_entropy_loss"}, "cross_entropy")
      .Default("");
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

/// True if these are dimensions, each of them once.
static bool areDimensions(ArrayRef<int64_t> dims, int64_t rank) {
  llvm::SmallDenseSet<int64_t> seen;
  return llvm::all_of(dims, [&](int64_t dim) {
    return dim >= 0 && dim < rank && seen.insert(dim).second;
  });
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
  std::optional<ArrayRef<int64_t>> shape = getRankedShape(operand.getType());
  if (!shape)
    return false;
  SmallVector<int64_t, 4> dims = getRowDimensions(op);
  for (int64_t &dim : dims)
    if (dim < 0)
      dim += shape->size();
  if (dims.empty() || !areDimensions(dims, shape->size()))
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
      op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock() ||
      op->getRegion(0).front().empty())
    return false;
  StringRef reducer = op->getRegion(0).front().front().getName().stripDialect();
  std::optional<ArrayRef<int64_t>> shape =
      getRankedShape(op->getOperand(0).getType());
  SmallVector<int64_t, 4> dims = getList(op, "dimensions");
  if (!shape || !areDimensions(dims, shape->size()) ||
      element.axes.size() + dims.size() != shape->size() ||
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
  std::optional<ArrayRef<int64_t>> from = getRankedShape(operand.getType());
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
  std::optional<ArrayRef<int64_t>> lhs =
      getRankedShape(op->getOperand(0).getType());
  std::optional<ArrayRef<int64_t>> rhs =
      getRankedShape(op->getOperand(1).getType());
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
  auto together = [](ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
    SmallVector<int64_t, 4> both(a);
    llvm::append_range(both, b);
    return both;
  };
  if (!areDimensions(together(batchL, sumL), l) ||
      !areDimensions(together(batchR, sumR), r))
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
  ElementFn fn = getElementFn(op);
  return fn != ElementFn::Leaf && elementwise(op, fn);
}
