//===- Expressions.h - What an element is computed from ---------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One notation for what the dialects compute: an element of a tensor, named by
// axes, is a function of elements of other tensors. Transposes, reshapes,
// broadcasts and the maps of structured ops only rename axes:
//
//   o[b,i,d] = sum over j of p[b,i,j] * v[b,j,d]
//
// so that a pattern is written once, for linalg, StableHLO, TOSA and ATen.
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_EXPRESSIONS_H
#define ES_OPMODEL_EXPRESSIONS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::es {

/// How an element follows from others.
enum class ElementFn : uint8_t {
  /// Nothing is known, or nothing is read.
  Leaf,
  /// The same element of another tensor, perhaps converted.
  Move,
  Add,
  Subtract,
  Multiply,
  Divide,
  Negate,
  Exp,
  Log,
  Maximum,
  Tanh,
  Erf,
  Sqrt,
  Rsqrt,
  Reciprocal,
  /// predicate, then, else
  Select,
  /// Over the axes that the operand has and the result does not.
  Sum,
  Mean,
  MaximumOf,
  /// The sum of a product of two.
  Product,
  /// Along the named axes.
  Softmax,
  LogSoftmax,
  /// Some elements are zero, which ones is drawn.
  Dropout,
  Relu,
};

/// The axes that each dimension is made of, outermost first: none for a
/// dimension of one element, several where dimensions were flattened.
using ElementAxes = SmallVector<SmallVector<unsigned, 1>, 4>;

/// An element of `value`: a tensor, or a scalar in the body of a structured op,
/// whose axes are then those of the loops.
struct Element {
  Value value;
  ElementAxes axes;
  bool operator==(const Element &other) const {
    return value == other.value && axes == other.axes;
  }
  bool hasAxis(unsigned axis) const;
  bool hasAny(ArrayRef<unsigned> axes) const;
  bool hasAll(ArrayRef<unsigned> axes) const;
};

/// What an element is computed from.
struct ElementStep {
  ElementFn fn = ElementFn::Leaf;
  SmallVector<Element, 3> operands;
  /// Axes that are summed over, or along which rows are normalised.
  SmallVector<unsigned, 2> rows;
  /// The op, among those whose operands are tensors, that computes it.
  Operation *op = nullptr;
};

/// What an elementwise op computes; Leaf if that has no name here.
ElementFn getElementFn(Operation *op);

/// The composite that a single op is (attention, layer_norm, gelu,
/// cross_entropy); empty if it is none.
StringRef getCompositeKind(Operation *op);

/// Names axes and follows elements.
class ElementWalk {
public:
  /// An element of a tensor, with new axes.
  Element start(Value tensor);
  ElementStep step(const Element &element);
  int64_t getSize(unsigned axis) const { return sizes[axis]; }

private:
  friend class StepBuilder;
  unsigned addAxis(int64_t size) {
    sizes.push_back(size);
    return sizes.size() - 1;
  }
  SmallVector<unsigned, 1> nameDimension(int64_t size);
  /// The two axes that `axis` is made of where a reshape takes it apart.
  std::pair<unsigned, unsigned> split(unsigned axis, int64_t outer);
  /// Appends what `axis` was taken apart into; itself if it was not.
  void expand(unsigned axis, SmallVectorImpl<unsigned> &parts) const;

  SmallVector<int64_t> sizes;
  llvm::DenseMap<unsigned, std::pair<unsigned, unsigned>> partsOf;
};

} // namespace mlir::es

#endif // ES_OPMODEL_EXPRESSIONS_H
