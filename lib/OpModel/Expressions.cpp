//===- Expressions.cpp - What an element is computed from -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NamedOps.h"
#include "StepBuilder.h"
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

bool Element::hasAny(ArrayRef<unsigned> axes) const {
  return llvm::any_of(axes, [&](unsigned axis) { return hasAxis(axis); });
}

bool Element::hasAll(ArrayRef<unsigned> axes) const {
  return llvm::all_of(axes, [&](unsigned axis) { return hasAxis(axis); });
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

std::optional<ArrayRef<int64_t>> mlir::es::getRankedShape(Type type) {
  ShapedType shaped = getCarriedShape(type);
  if (!shaped || !shaped.hasRank())
    return std::nullopt;
  return shaped.getShape();
}

/// The same elements in the same order, in dimensions of other sizes.
std::optional<ElementAxes> StepBuilder::regroup(const ElementAxes &from,
                                                Type to) {
  std::optional<ArrayRef<int64_t>> shape = getRankedShape(to);
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
  std::optional<ArrayRef<int64_t>> from = getRankedShape(operand);
  std::optional<ArrayRef<int64_t>> to = getRankedShape(result);
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
  ElementFn fn = getElementFn(op);
  return fn != ElementFn::Leaf && elementwise(op, fn);
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
