//===- ScalarAdjoints.h - Derivatives of scalar programs --------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_TRAINING_SCALARADJOINTS_H
#define ES_LIB_TRAINING_SCALARADJOINTS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::es {

/// Differentiates the body of a structured op: a block of arith and math ops on
/// scalars that ends in a yield.
class ScalarAdjoint {
public:
  /// Code goes where `builder` stands. `isReduction`: the body combines an
  /// element with what the elements before it gave.
  ScalarAdjoint(OpBuilder &builder, Block &body, bool isReduction)
      : builder(builder), body(body), isReduction(isReduction) {}

  /// Says that `value` is what `scalar`, an argument of the body or a yielded
  /// value, is here.
  void provide(Value scalar, Value value) { known[scalar] = value; }
  /// The cotangent of yielded value `index`.
  void provideCotangent(unsigned index, Value value);

  /// The adjoint of `argument`; null after a diagnostic if the body holds an op
  /// without a rule, or reads what was not provided.
  Value compute(BlockArgument argument);

private:
  Value get(Value scalar);
  Value differentiate(Operation *op, unsigned operand, Value cotangent);
  Value differentiateUnary(Operation *op, Value cotangent);
  Value differentiateExtreme(Operation *op, unsigned operand, Value cotangent);
  Value constant(Type type, double number);
  Value fail(Operation *op, StringRef why);

  OpBuilder &builder;
  Block &body;
  bool isReduction;
  llvm::DenseMap<Value, Value> known;
  llvm::SmallVector<std::pair<Value, Value>, 1> cotangents;
  bool failed = false;
};

} // namespace mlir::es

#endif // ES_LIB_TRAINING_SCALARADJOINTS_H
