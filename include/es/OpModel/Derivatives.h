//===- Derivatives.h - What the gradient of an op reads ---------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each operand of an op: whether a gradient flows to it, which values of
// the forward pass that gradient reads, and how computing it uses memory. It is
// these facts that decide what a training step has to keep.
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_DERIVATIVES_H
#define ES_OPMODEL_DERIVATIVES_H

#include "es/Dialect/ES/IR/ES.h"

namespace mlir::es {

/// The gradient of one operand.
struct OperandGradient {
  /// False if none flows: an index, a predicate, a rounding.
  bool flows = false;
  VjpKind kind = VjpKind::opaque;
  /// Operands and results of the op, by number, that it reads beside the
  /// cotangents of all results.
  SmallVector<unsigned, 2> operands, results;
  /// Each element of the cotangent goes unchanged to all elements it is the sum
  /// of.
  bool isSpread = false;
  bool isContraction() const { return kind == VjpKind::contraction; }
};

struct DerivativeFacts {
  SmallVector<OperandGradient, 3> operands;
  /// False if nothing describes the derivative: it reads everything.
  bool known = true;
  /// One op computes all gradients: what they share is expensive.
  bool isJoint = false;
};

/// What is known of the derivative of `op`. Never fails: an op that nothing
/// describes reads all operands and results of a float type, with `known`
/// false.
DerivativeFacts getDerivativeFacts(Operation *op);

/// Results that the op has beside its own where a gradient is wanted of it:
/// statistics, places of maxima, masks. They come behind its own.
SmallVector<Type, 2> getTrainingResults(Operation *op);

/// True if values of this type can have a gradient: floats, complex numbers,
/// and tensors of them.
bool carriesGradient(Type type);

/// True if reading the value again is as cheap as keeping it: a splat, a range,
/// a broadcast of something smaller.
bool isCheaplyRepeated(Operation *op);

} // namespace mlir::es

#endif // ES_OPMODEL_DERIVATIVES_H
