//===- DerivativeRules.h - How gradients of named ops look ------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_OPMODEL_DERIVATIVERULES_H
#define ES_LIB_OPMODEL_DERIVATIVERULES_H

#include "es/OpModel/Derivatives.h"

namespace mlir::linalg {
class LinalgOp;
} // namespace mlir::linalg

namespace mlir::es {

/// What the gradient of an operand reads.
enum class GradientRule : uint8_t {
  /// No gradient flows.
  Cut,
  /// Nothing: the cotangent itself.
  Linear,
  /// Nothing; the second operand's is the negated cotangent.
  Subtract,
  Negate,
  Convert,
  /// Numbers only.
  Scale,
  /// The other factor.
  Multiply,
  /// The divisor; for the divisor itself, the dividend as well.
  Divide,
  FromResult,
  FromOperand,
  FromOperands,
  /// The integer operands: a predicate.
  Select,
  /// As above, row by row: softmax.
  RowsFromResult,
  /// Row by row, with the statistics the op returns: layer norm.
  RowsFromOperands,
  View,
  /// Indices: transpose, slice, pad, concatenate, gather.
  Move,
  /// Nothing; the cotangent is summed: broadcast.
  Sum,
  /// Nothing; the cotangent is spread over what was summed.
  Spread,
  /// Nothing; it is spread and scaled: a mean, an average pooling.
  Average,
  /// The operand and the result: a maximum over rows or windows.
  Extreme,
  /// Where the maximum was.
  ExtremeByIndex,
  /// All operands and results: attention without the matrix of its weights.
  Attention,
  /// The other factor of a matrix product or convolution.
  Product,
  /// All there is.
  Unknown,
};

/// The gradient of `operand` by `rule`.
OperandGradient makeGradient(Operation *op, unsigned operand,
                             GradientRule rule);

/// True if the operand has the shape of the first result.
bool hasResultShape(Operation *op, unsigned operand);

/// The rule of an op that is known by name, or nullopt.
std::optional<GradientRule> findGradientRule(Operation *op);

/// Operands that differ from the rest of their op.
void refineNamedDerivative(Operation *op, DerivativeFacts &facts);

/// From the scalar body of a structured op; nullopt if it holds an op that no
/// rule describes.
std::optional<DerivativeFacts> getStructuredDerivative(linalg::LinalgOp op);

} // namespace mlir::es

#endif // ES_LIB_OPMODEL_DERIVATIVERULES_H
