//===- CompositeRows.cpp - Cross entropy, norms, activations --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompositeMatcher.h"

#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Cross entropy
//===----------------------------------------------------------------------===//

/// Finds log-softmax in `result`; says along which axes.
bool CompositeMatcher::matchLogSoftmax(const Element &result,
                                       SmallVector<unsigned, 2> *rows) {
  ElementStep step = take(result);
  if (step.fn == ElementFn::LogSoftmax) {
    rows->assign(step.rows.begin(), step.rows.end());
    roles = {findInput(step.operands[0], false, false).value};
    return true;
  }
  if (step.fn != ElementFn::Subtract || step.operands.size() != 2)
    return false;
  Element shifted = toTensor(step.operands[0]);
  Element logarithm = skipMoves(step.operands[1]);
  ElementStep log = walk.step(logarithm);
  // The maximum may be added to the logarithm instead.
  if (log.fn == ElementFn::Add && log.operands.size() == 2) {
    ops.insert(log.op);
    for (unsigned i = 0; i < 2; ++i) {
      Element side = skipMoves(log.operands[i]);
      ElementStep inner = walk.step(side);
      if (inner.fn != ElementFn::Log)
        continue;
      log = inner;
      break;
    }
  }
  if (log.fn != ElementFn::Log)
    return false;
  ops.insert(log.op);
  ElementStep sum = take(skipMoves(log.operands[0]));
  if (sum.fn != ElementFn::Sum)
    return false;
  ElementStep power = take(skipMoves(sum.operands[0]));
  if (power.fn != ElementFn::Exp)
    return false;
  Element inner = toTensor(power.operands[0]);
  // The logits: what is subtracted from, or that less the maximum.
  auto unshift = [&](Element element) {
    Element at = element;
    for (unsigned i = 0; i < kMostMoves; ++i) {
      ElementStep move = walk.step(at);
      if (move.fn == ElementFn::Subtract && move.operands.size() == 2) {
        ops.insert(move.op);
        return toTensor(move.operands[0]);
      }
      if (move.fn != ElementFn::Move ||
          isMemoryType(move.operands[0].value.getType()))
        break;
      at = move.operands[0];
    }
    return element;
  };
  Element logits = shifted;
  if (inner.value == shifted.value) {
    logits = unshift(shifted);
  } else {
    Element unshifted = unshift(inner);
    if (unshifted.value != shifted.value)
      return false;
  }
  // The axes that were summed over, as the result has them.
  for (auto [a, b] : llvm::zip(inner.axes, result.axes)) {
    if (a == b)
      continue;
    if (a.size() != b.size() || !llvm::all_of(a, [&](unsigned axis) {
          return llvm::is_contained(sum.rows, axis);
        }))
      return false;
    rows->append(b.begin(), b.end());
  }
  if (rows->size() != sum.rows.size())
    return false;
  ops.insert(root);
  roles = {findInput(logits, false, false).value};
  return true;
}

bool CompositeMatcher::matchCrossEntropy(const ElementStep &sum) {
  SmallVector<Element, 2> factors(sum.operands.begin(), sum.operands.end());
  ops.insert(root);
  if (sum.fn == ElementFn::Sum) {
    ElementStep product = take(skipMoves(sum.operands[0]));
    if (product.fn != ElementFn::Multiply || product.operands.size() != 2)
      return false;
    factors.assign(product.operands.begin(), product.operands.end());
  }
  llvm::SetVector<Operation *> before = ops;
  for (unsigned i = 0; i < 2; ++i) {
    ops = before;
    Element labels = toTensor(factors[1 - i]);
    Element at = toTensor(factors[i]);
    for (unsigned j = 0; j < kMostMoves; ++j) {
      ElementStep negated = walk.step(at);
      if (negated.fn != ElementFn::Negate && negated.fn != ElementFn::Move)
        break;
      ops.insert(negated.op);
      at = negated.operands[0];
    }
    SmallVector<unsigned, 2> rows;
    Element logs = at;
    if (!matchLogSoftmax(at, &rows) ||
        !llvm::all_of(
            sum.rows,
            [&](unsigned axis) { return llvm::is_contained(rows, axis); }) ||
        rows.size() != sum.rows.size())
      continue;
    findInput(labels, false, true);
    kind = CompositeKind::cross_entropy;
    statistics = {makeStatistic(logs.axes, {})};
    if (close(/*mostFurther=*/1) && !isReadElsewhere())
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Layer norm and GELU
//===----------------------------------------------------------------------===//

/// The factors of a product, and what it is divided by.
bool CompositeMatcher::collectFactors(const Element &product,
                                      SmallVectorImpl<Element> &factors,
                                      SmallVectorImpl<Element> &divisors) {
  SmallVector<Element> worklist = {product};
  while (!worklist.empty()) {
    if (factors.size() + worklist.size() > kMostFactors)
      return false;
    Element next = worklist.pop_back_val();
    Element at = next;
    llvm::SetVector<Operation *> before = ops;
    ElementStep step = walk.step(at);
    for (unsigned i = 0; i < kMostMoves && step.fn == ElementFn::Move; ++i) {
      ops.insert(step.op);
      at = step.operands[0];
      step = walk.step(at);
    }
    if (step.fn == ElementFn::Multiply) {
      ops.insert(step.op);
      llvm::append_range(worklist, step.operands);
    } else if (step.fn == ElementFn::Divide) {
      ops.insert(step.op);
      worklist.push_back(step.operands[0]);
      divisors.append(step.operands.begin() + 1, step.operands.end());
    } else if (step.fn == ElementFn::Subtract || step.fn == ElementFn::Rsqrt) {
      factors.push_back(at);
    } else {
      // A scale, which is an input as it is.
      ops = before;
      factors.push_back(next);
    }
  }
  return true;
}

/// If `mean` is the mean of `operand`, the axes over which.
bool CompositeMatcher::isMeanOf(const Element &mean, const Element &operand,
                                SmallVectorImpl<unsigned> &rows) {
  Element reduced = skipMoves(mean);
  ElementStep step = take(reduced);
  if ((step.fn == ElementFn::Divide || step.fn == ElementFn::Multiply) &&
      step.operands.size() == 2) {
    unsigned sum =
        step.fn == ElementFn::Multiply && isConstant(step.operands[0]) ? 1 : 0;
    if (!isConstant(step.operands[1 - sum]))
      return false;
    reduced = skipMoves(step.operands[sum]);
    step = take(reduced);
    if (step.fn != ElementFn::Sum)
      return false;
  } else if (step.fn != ElementFn::Mean) {
    return false;
  }
  Element read = toTensor(step.operands[0]);
  for (unsigned i = 0; i < kMostMoves && read.value != operand.value; ++i) {
    ElementStep move = walk.step(read);
    if (move.fn != ElementFn::Move)
      return false;
    ops.insert(move.op);
    read = toTensor(move.operands[0]);
  }
  for (const auto &dimension : operand.axes)
    for (unsigned axis : dimension)
      if (!reduced.hasAxis(axis))
        rows.push_back(axis);
  return read.value == operand.value && rows.size() == step.rows.size() &&
         !rows.empty();
}

bool CompositeMatcher::matchLayerNorm(const ElementStep &last) {
  ops.insert(root);
  Element product = walk.start(root->getResult(0));
  std::optional<Element> offset;
  llvm::SetVector<Operation *> before = ops;
  for (unsigned side = 0; side < 2; ++side) {
    ops = before;
    roles.clear();
    if (last.fn == ElementFn::Add) {
      if (last.operands.size() != 2)
        return false;
      product = last.operands[side];
      offset = last.operands[1 - side];
    }
    SmallVector<Element> factors, divisors;
    if (!collectFactors(product, factors, divisors))
      continue;
    std::optional<Element> centered, scale, deviation;
    bool isOther = false;
    for (const Element &factor : factors) {
      ElementFn fn = walk.step(factor).fn;
      if (fn == ElementFn::Subtract && !centered)
        centered = factor;
      else if (fn == ElementFn::Rsqrt && !deviation)
        deviation = factor;
      else if (!scale)
        scale = factor;
      else
        isOther = true;
    }
    for (const Element &divisor : divisors) {
      Element at = skipMoves(divisor);
      if (walk.step(at).fn == ElementFn::Sqrt && !deviation)
        deviation = at;
      else
        isOther = true;
    }
    if (isOther || !centered || !deviation)
      continue;
    ElementStep difference = take(*centered);
    take(*deviation);
    if (difference.operands.size() != 2)
      continue;
    Element operand = toTensor(difference.operands[0]);
    SmallVector<unsigned> rows;
    if (!isMeanOf(difference.operands[1], operand, rows))
      continue;
    // The reciprocal deviation is one for each row, the scale one for each
    // column.
    if (variesAlong(*deviation, rows))
      continue;
    auto isVector = [&](const Element &element) {
      return llvm::all_of(element.axes, [&](const auto &dimension) {
        return llvm::all_of(dimension, [&](unsigned axis) {
          return llvm::is_contained(rows, axis);
        });
      });
    };
    if (scale)
      scale = findInput(*scale, false, true);
    if (offset)
      offset = findInput(*offset, false, true);
    if ((scale && !isVector(*scale)) || (offset && !isVector(*offset)) ||
        (offset && !scale))
      continue;
    statistics = {makeStatistic(operand.axes, rows),
                  makeStatistic(operand.axes, rows)};
    operand = findInput(operand, false, false);
    roles = {operand.value};
    if (scale)
      roles.push_back(scale->value);
    if (offset)
      roles.push_back(offset->value);
    kind = CompositeKind::layer_norm;
    if (close(/*mostFurther=*/0) && !isReadElsewhere())
      return true;
    if (last.fn != ElementFn::Add)
      return false;
  }
  return false;
}

/// True if the op, or its body, computes one of these.
static bool computes(Operation *op, ArrayRef<ElementFn> functions) {
  return op
      ->walk([&](Operation *inner) {
        return llvm::is_contained(functions, getElementFn(inner))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool CompositeMatcher::matchGelu(const ElementStep &last) {
  SmallVector<Element> factors, divisors;
  auto before = ops;
  if (!collectFactors(walk.start(root->getResult(0)), factors, divisors))
    return false;
  ops = before;
  Type type = root->getResult(0).getType();
  for (const Element &factor : factors) {
    Element candidate = toTensor(factor);
    if (!isMemoryType(candidate.value.getType()) || isConstant(candidate) ||
        getCarriedShape(candidate.value.getType()).getShape() !=
            getCarriedShape(type).getShape())
      continue;
    llvm::SetVector<Operation *> slice;
    roles = {candidate.value};
    ops.clear();
    if (!collectSlice(root->getResult(0), kMostInActivation, true, slice) ||
        slice.empty())
      continue;
    bool isErf = llvm::any_of(slice, [](Operation *op) {
      return computes(op, {ElementFn::Erf, ElementFn::Tanh});
    });
    // An error function that is written out selects between two series.
    bool isSeries = llvm::any_of(slice,
                                 [](Operation *op) {
                                   return computes(op, {ElementFn::Exp});
                                 }) &&
                    llvm::any_of(slice, [](Operation *op) {
                      return computes(op, {ElementFn::Select});
                    });
    if (!isErf && !isSeries)
      continue;
    ops.insert(slice.begin(), slice.end());
    kind = CompositeKind::gelu;
    statistics.clear();
    if (close(/*mostFurther=*/0) && !isReadElsewhere())
      return true;
  }
  return false;
}

bool CompositeMatcher::matchRelu() {
  ElementStep step = resolveRoot();
  std::optional<Element> operand;
  if (step.fn == ElementFn::Relu)
    operand = step.operands[0];
  else if (step.fn == ElementFn::Maximum && step.operands.size() == 2)
    for (unsigned i = 0; i < 2; ++i)
      if (isZero(step.operands[i]))
        operand = step.operands[1 - i];
  if (!operand)
    return false;
  operand = toTensor(*operand);
  ShapedType type = getCarriedShape(root->getResult(0).getType());
  if (!isMemoryType(operand->value.getType()) ||
      getCarriedShape(operand->value.getType()).getShape() != type.getShape())
    return false;
  kind = CompositeKind::relu;
  ops.clear();
  roles = {operand->value};
  statistics = {RankedTensorType::get(type.getShape(),
                                      IntegerType::get(root->getContext(), 1))};
  return close(/*mostFurther=*/0);
}
