//===- CompositeMatcher.h - Ops that one kernel computes --------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_TRAINING_COMPOSITEMATCHER_H
#define ES_LIB_TRAINING_COMPOSITEMATCHER_H

#include "es/Dialect/ES/IR/ES.h"
#include "es/OpModel/Expressions.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::es {

/// Finds the ops of a composite, backward from the one that gives its result.
/// Every pattern looks at a bounded number of ops.
class CompositeMatcher {
public:
  explicit CompositeMatcher(Operation *root) : root(root) {}

  bool matchAny();
  /// max(x, 0), whatever else may be matched.
  bool matchRelu();

  /// What was found.
  CompositeKind kind = CompositeKind::gelu;
  llvm::SetVector<Operation *> ops;
  SmallVector<Value> inputs;
  SmallVector<Type, 2> statistics;
  /// Why a softmax whose product with values this is was not taken as part of
  /// an attention; empty if there is none.
  StringRef reasonLeft;

private:
  /// Masks and statistics are computed by no more ops than this.
  static constexpr unsigned kMostInSlice = 32;
  /// An error function written out takes about 60.
  static constexpr unsigned kMostInActivation = 128;
  static constexpr unsigned kMostMoves = 16;
  static constexpr unsigned kMostFactors = 8;

  bool attempt(function_ref<bool()> pattern);
  bool matchAttention(const ElementStep &product, unsigned side);
  bool matchCrossEntropy(const ElementStep &sum);
  bool matchLayerNorm(const ElementStep &last);
  bool matchGelu(const ElementStep &last);
  bool matchLogSoftmax(const Element &result, SmallVector<unsigned, 2> *rows);

  std::optional<Element> matchSoftmax(Element element, ArrayRef<unsigned> rows);
  std::optional<ElementStep> findScores(Element element, unsigned depth);
  bool isRowSum(const Element &sum, const Element &exp,
                ArrayRef<unsigned> rows);
  bool isMeanOf(const Element &mean, const Element &operand,
                SmallVectorImpl<unsigned> &rows);
  bool variesAlong(const Element &element, ArrayRef<unsigned> rows);
  bool collectFactors(const Element &product, SmallVectorImpl<Element> &factors,
                      SmallVectorImpl<Element> &divisors);

  ElementStep take(const Element &element);
  ElementStep resolveRoot();
  Element skipMoves(Element element);
  Element toTensor(Element element);
  Element findInput(Element element, bool throughScales, bool anyUse);
  bool isConstant(const Element &element);
  bool isZero(const Element &element);
  bool isInside(Operation *op) const { return ops.contains(op); }
  bool collectSlice(Value value, unsigned most, bool onlyElementwise,
                    llvm::SetVector<Operation *> &slice);
  bool close(unsigned mostFurther);
  bool isReadElsewhere() const;
  Type makeStatistic(const ElementAxes &axes, ArrayRef<unsigned> without);

  Operation *root;
  ElementWalk walk;
  /// The first of `inputs`, whose places have a meaning.
  SmallVector<Value, 3> roles;
};

} // namespace mlir::es

#endif // ES_LIB_TRAINING_COMPOSITEMATCHER_H
