//===- StepBuilder.h - What an element is computed from ---------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_OPMODEL_STEPBUILDER_H
#define ES_LIB_OPMODEL_STEPBUILDER_H

#include "es/OpModel/Expressions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::es {

/// The shape that a type carries, if it has a rank.
std::optional<ArrayRef<int64_t>> getRankedShape(Type type);

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

#endif // ES_LIB_OPMODEL_STEPBUILDER_H
