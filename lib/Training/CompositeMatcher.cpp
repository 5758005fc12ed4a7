//===- CompositeMatcher.cpp - Ops that one kernel computes ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The patterns, written on elements (es/OpModel/Expressions.h):
//
//  * attention: o[i,d] = sum j: p[i,j] v[j,d], where p is the softmax over j of
//    s[i,j] = sum c: q[i,c] k[j,c], scaled, masked;
//  * log-softmax: z - log(sum exp(z)), where z are the logits, perhaps less
//    their maximum;
//  * cross entropy: sum j: y[j] log-softmax(x)[j];
//  * layer norm: (x - mean(x)) rsqrt(f(x)) scale + offset, scale and offset
//    perhaps absent;
//  * GELU: a product of x and an elementwise function of x that holds an error
//    function or a tanh.
//
//===----------------------------------------------------------------------===//

#include "CompositeMatcher.h"

#include "es/OpModel/RoleFacts.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// False if all elements along `rows` are equal: the value is broadcast, or
/// computed from what is.
bool CompositeMatcher::variesAlong(const Element &element,
                                   ArrayRef<unsigned> rows) {
  SmallVector<Element> worklist = {element};
  for (unsigned i = 0; i < kMostInSlice && !worklist.empty(); ++i) {
    Element next = worklist.pop_back_val();
    if (!next.hasAny(rows) || isConstant(next))
      continue;
    ElementStep step = walk.step(next);
    if (step.fn == ElementFn::Leaf)
      return true;
    llvm::append_range(worklist, step.operands);
  }
  return !worklist.empty();
}

/// True if `sum` adds up `exp` over `rows`, and over nothing else.
bool CompositeMatcher::isRowSum(const Element &sum, const Element &exp,
                                ArrayRef<unsigned> rows) {
  ElementStep step = take(skipMoves(sum));
  if (step.fn != ElementFn::Sum || step.rows.size() != rows.size())
    return false;
  Element summed = skipMoves(step.operands[0]);
  if (summed.value != exp.value || summed.axes.size() != exp.axes.size())
    return false;
  for (auto [a, b] : llvm::zip(summed.axes, exp.axes)) {
    if (a.size() != b.size())
      return false;
    for (auto [x, y] : llvm::zip(a, b))
      if (llvm::is_contained(rows, y) != llvm::is_contained(step.rows, x) ||
          (!llvm::is_contained(rows, y) && x != y))
        return false;
  }
  return true;
}

/// What the softmax along `rows` is taken of, if `element` is one.
std::optional<Element> CompositeMatcher::matchSoftmax(Element element,
                                                      ArrayRef<unsigned> rows) {
  for (unsigned i = 0; i < kMostMoves; ++i) {
    element = skipMoves(element);
    ElementStep step = walk.step(element);
    if (step.fn == ElementFn::Dropout) {
      ops.insert(step.op);
      element = step.operands[0];
    } else if (step.fn == ElementFn::Select && step.operands.size() == 3 &&
               (isZero(step.operands[1]) || isZero(step.operands[2]))) {
      // Rows of which everything is masked.
      ops.insert(step.op);
      element = step.operands[isZero(step.operands[1]) ? 2 : 1];
    } else {
      break;
    }
  }
  ElementStep step = take(element);
  if (step.fn == ElementFn::Softmax) {
    bool isSame = step.rows.size() == rows.size() &&
                  llvm::all_of(step.rows, [&](unsigned axis) {
                    return llvm::is_contained(rows, axis);
                  });
    return isSame ? std::optional(step.operands[0]) : std::nullopt;
  }
  std::optional<Element> exp, sum;
  if (step.fn == ElementFn::Divide && step.operands.size() == 2) {
    exp = skipMoves(step.operands[0]);
    sum = step.operands[1];
  } else if (step.fn == ElementFn::Multiply && step.operands.size() == 2) {
    for (unsigned i = 0; i < 2 && !sum; ++i) {
      Element other = skipMoves(step.operands[1 - i]);
      ElementStep inverse = walk.step(other);
      bool isInverse =
          inverse.fn == ElementFn::Reciprocal ||
          (inverse.fn == ElementFn::Divide && inverse.operands.size() == 2 &&
           isConstant(inverse.operands[0]));
      if (!isInverse)
        continue;
      ops.insert(inverse.op);
      sum = inverse.operands.back();
      exp = skipMoves(step.operands[i]);
    }
  }
  if (!exp || !sum)
    return std::nullopt;
  ElementStep power = take(*exp);
  if (power.fn != ElementFn::Exp || !isRowSum(*sum, *exp, rows))
    return std::nullopt;
  // Whatever is subtracted from a whole row changes nothing.
  Element scores = skipMoves(power.operands[0]);
  ElementStep shifted = walk.step(scores);
  if (shifted.fn == ElementFn::Subtract && shifted.operands.size() == 2) {
    if (!variesAlong(shifted.operands[1], rows)) {
      ops.insert(shifted.op);
      return shifted.operands[0];
    }
  }
  return scores;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The product that scores are, below scales and masks.
std::optional<ElementStep> CompositeMatcher::findScores(Element element,
                                                        unsigned depth) {
  if (depth == 0)
    return std::nullopt;
  element = skipMoves(element);
  ElementStep step = take(element);
  auto follow = [&](unsigned index) -> std::optional<ElementStep> {
    llvm::SetVector<Operation *> before = ops;
    std::optional<ElementStep> found =
        findScores(step.operands[index], depth - 1);
    if (!found)
      ops = before;
    return found;
  };
  switch (step.fn) {
  case ElementFn::Product:
    return step;
  case ElementFn::Add:
    for (unsigned i = 0, e = step.operands.size(); i < e; ++i)
      if (std::optional<ElementStep> found = follow(i)) {
        if (e == 2)
          findInput(step.operands[1 - i], false, /*anyUse=*/true);
        return found;
      }
    return std::nullopt;
  case ElementFn::Select:
    for (unsigned i = 1, e = step.operands.size(); i < e; ++i)
      if (std::optional<ElementStep> found = follow(i))
        return found;
    return std::nullopt;
  case ElementFn::Multiply:
    for (unsigned i = 0, e = step.operands.size(); i < e; ++i)
      if (e == 1 || isConstant(step.operands[1 - i]))
        return follow(i);
    return std::nullopt;
  case ElementFn::Divide:
    if (step.operands.size() == 1 || isConstant(step.operands[1]))
      return follow(0);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

bool CompositeMatcher::matchAttention(const ElementStep &product,
                                      unsigned side) {
  Element weights = toTensor(product.operands[side]);
  Element values = toTensor(product.operands[1 - side]);
  std::optional<Element> masked = matchSoftmax(weights, product.rows);
  if (!masked)
    return false;
  std::optional<ElementStep> scores = findScores(*masked, kMostMoves);
  if (!scores) {
    reasonLeft = "its scores are not a product of two operands";
    return false;
  }
  Element left = toTensor(scores->operands[0]);
  Element right = toTensor(scores->operands[1]);
  bool isKeyFirst = left.hasAny(product.rows);
  Element keys = isKeyFirst ? left : right;
  Element queries = isKeyFirst ? right : left;
  if (!keys.hasAll(product.rows) || queries.hasAny(product.rows) ||
      !values.hasAll(product.rows) || values.hasAny(scores->rows)) {
    reasonLeft = "its scores are not those of queries and keys";
    return false;
  }
  kind = CompositeKind::attention;
  ops.insert(root);
  roles = {findInput(queries, true, false).value,
           findInput(keys, true, false).value,
           findInput(values, false, false).value};
  statistics = {makeStatistic(weights.axes, product.rows)};
  // A mask and a bias of positions.
  if (!close(/*mostFurther=*/2)) {
    reasonLeft = "its scores depend on more than queries, keys and masks";
    return false;
  }
  if (isReadElsewhere()) {
    reasonLeft = "its weights are read elsewhere";
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

bool CompositeMatcher::attempt(function_ref<bool()> pattern) {
  ops.clear();
  roles.clear();
  inputs.clear();
  statistics.clear();
  return pattern();
}

bool CompositeMatcher::matchAny() {
  ElementStep last = resolveRoot();
  switch (last.fn) {
  case ElementFn::Product:
    for (unsigned side = 0; side < 2; ++side)
      if (attempt([&] { return matchAttention(last, side); }))
        return true;
    return attempt([&] { return matchCrossEntropy(last); });
  case ElementFn::Sum:
    return attempt([&] { return matchCrossEntropy(last); });
  case ElementFn::Add:
    return attempt([&] { return matchLayerNorm(last); });
  case ElementFn::Multiply:
  case ElementFn::Divide:
    return attempt([&] { return matchLayerNorm(last); }) ||
           attempt([&] { return matchGelu(last); });
  case ElementFn::Subtract:
  case ElementFn::LogSoftmax:
    return attempt([&] {
      SmallVector<unsigned, 2> rows;
      kind = CompositeKind::log_softmax;
      return matchLogSoftmax(walk.start(root->getResult(0)), &rows) &&
             close(/*mostFurther=*/0) && !isReadElsewhere();
    });
  default:
    return false;
  }
}
