//===- ReverseSweep.h - From the loss back to the parameters ----*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_TRAINING_REVERSESWEEP_H
#define ES_LIB_TRAINING_REVERSESWEEP_H

#include "es/OpModel/Derivatives.h"
#include "es/Training/TrainingGraph.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::es {

/// Emits the gradients of the ops of one block, last op first, each op's right
/// behind those of the ops that read its results.
class ReverseSweep {
public:
  /// `builder` says where gradients go. `parameters` are the values to
  /// differentiate by, with their names; `resident` are parameters and
  /// constants of any kind.
  ReverseSweep(OpBuilder &builder, const TrainingOptions &options,
               const llvm::MapVector<Value, StringAttr> &parameters,
               const llvm::DenseSet<Value> &resident);

  /// Finds what depends on a parameter among the ops of `block`.
  void findActive(Block &block);
  bool isActive(Value value) const { return active.contains(value); }
  /// Why `value` is not active although parameters are read on the way to it:
  /// the last op that no gradient flows through, or null.
  Operation *findCut(Value value) const;

  /// Adds to the gradient of `value`.
  void addCotangent(Location loc, Value value, Value cotangent);
  Value getCotangent(Value value) const { return cotangents.lookup(value); }

  /// Differentiates the ops of `block`; calls `done` after each, active or not.
  LogicalResult run(Block &block, function_ref<void(Operation *)> done);

  llvm::MapVector<StringRef, unsigned> conservativeOps;

private:
  LogicalResult visit(Operation *op);
  void emit(Operation *op, const DerivativeFacts &facts,
            ArrayRef<unsigned> operands);
  bool foldSplat(Operation *op, const OperandGradient &gradient,
                 unsigned operand);
  Value keep(Value value);
  StringAttr findParameter(Value value) const;
  bool isRepeatable(Value value) const;

  OpBuilder &builder;
  const TrainingOptions &options;
  const llvm::MapVector<Value, StringAttr> &parameters;
  const llvm::DenseSet<Value> &resident;
  llvm::DenseSet<Value> active;
  /// Values that depend on parameters and constants alone, through conversions
  /// and transposes.
  llvm::DenseSet<Value> parameterChains;
  llvm::DenseMap<Value, Value> cotangents;
};

} // namespace mlir::es

#endif // ES_LIB_TRAINING_REVERSESWEEP_H
