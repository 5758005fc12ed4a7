//===- Torch.h - What is particular to the torch dialect --------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators that PyTorch runs as several, lists of tensors, and the sizes that
// torch.export leaves open.
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_TORCH_H
#define ES_OPMODEL_TORCH_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::es {

/// True if `op` is of PyTorch's dialect.
bool isTorchOp(Operation *op);

//===----------------------------------------------------------------------===//
// Operators that PyTorch runs as several
//===----------------------------------------------------------------------===//

/// If PyTorch, op by op, runs several operators for `op` where a gradient is
/// wanted, puts those in its place.
bool splitTorchOp(Operation *op, function_ref<bool(Value)> isTrained);

/// The loss of class labels, by the two operators that PyTorch has for it.
Value createClassLoss(OpBuilder &builder, Location loc, Value logits,
                      ValueRange labels, Type lossType,
                      ArrayRef<NamedAttribute> attrs);

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// True if `op` makes one list of its operands.
bool isListConstruct(Operation *op);

/// True if `op` gives the elements of its one operand, a list.
bool isListUnpack(Operation *op);

//===----------------------------------------------------------------------===//
// Symbolic sizes
//===----------------------------------------------------------------------===//

/// A size that has a name, and the bounds that are stated for it
/// (torch.symbolic_int).
struct SymbolicSize {
  StringRef name;
  std::optional<int64_t> min, max;
};

/// The shape of `value`, as functions of symbols (torch.bind_symbolic_shape).
struct SymbolicShape {
  Value value;
  AffineMap sizes;
  /// The symbols of `sizes`; nothing for one without a name.
  SmallVector<std::optional<SymbolicSize>> symbols;
};

/// What `op` states of the shape of a value, if it is such an op.
std::optional<SymbolicShape> getSymbolicShape(Operation *op);

} // namespace mlir::es

#endif // ES_OPMODEL_TORCH_H
