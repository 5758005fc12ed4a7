//===- ReverseSweep.h - From the loss back to the parameters ----*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_TRAINING_REVERSESWEEP_H
#define ES_LIB_TRAINING_REVERSESWEEP_H

#include "es/OpModel/CountedLoops.h"
#include "es/OpModel/Derivatives.h"
#include "es/Training/TrainingGraph.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::es {

/// Emits the gradients of the ops of one block, last op first, each op's right
/// behind those of the ops that read its results.
///
/// The body of a loop or a branch has a gradient of its own, in a loop or
/// branch of its own (RegionGradients.cpp). What that one reads of the forward
/// body is handed out: from a branch as a result, from a loop as a stack with a
/// slice for each iteration.
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
  void findActive(Operation *op);
  /// Decides, by the save policy, what the gradients of `block` compute again.
  void chooseSaved(Block &block);
  bool isActive(Value value) const { return active.contains(value); }
  /// True if the value depends on parameters and constants alone.
  bool isParameterAlone(Value value) const {
    return parameterChains.contains(value);
  }
  bool isResident(Value value) const { return resident.contains(value); }
  /// Why `value` is not active although parameters are read on the way to it:
  /// the last op that no gradient flows through, or null.
  Operation *findCut(Value value) const;

  /// Adds to the gradient of `value`.
  void addCotangent(Location loc, Value value, Value cotangent);
  Value getCotangent(Value value) const {
    return scopes.back().cotangents.lookup(value);
  }

  /// Differentiates the ops of `block`; calls `done` after each, active or not.
  LogicalResult run(Block &block, function_ref<void(Operation *)> done);

  /// `value`, or the result that it is of an op that was made again.
  Value getCurrent(Value value) const;
  /// Erases the ops that others with more results stand for.
  void eraseReplaced();

  llvm::MapVector<StringRef, unsigned> conservativeOps;
  /// Estimated operations of what gradients compute again.
  uint64_t repeatedWork = 0;

private:
  /// A value of a forward region that its gradient reads: what stands for it
  /// outside until the op is made again, and what it is inside the gradient.
  struct Saved {
    Value value, placeholder, inside;
  };
  /// A region being differentiated.
  struct Scope {
    /// The forward block, and the op that holds the gradient; null for the
    /// whole function.
    Block *forward = nullptr;
    Operation *backward = nullptr;
    /// For loops: which iteration, from 0, the gradient is at.
    Value iteration;
    std::optional<CarryingLoop> loop;
    SmallVector<Saved, 0> saved;
    llvm::DenseMap<Value, unsigned> savedIndex;
    llvm::DenseMap<Value, Value> cotangents;
  };

  LogicalResult visit(Operation *op);

  // RegionGradients.cpp
  bool isRegionActive(Operation *op);
  void findActiveInside(Operation *op);
  void findActiveInUnknown(Operation *op);
  SmallVector<Value> getCaptured(Operation *op);
  LogicalResult visitLoop(CarryingLoop loop);
  LogicalResult visitBranch(Operation *op);
  FailureOr<SmallVector<Value>> visitRegion(Region &region,
                                            ArrayRef<Value> captured);
  Value zero(Location loc, Type type);

  // RegionValues.cpp
  void recreateLoop(CarryingLoop loop, Scope &scope);
  void recreateBranch(Operation *op, ArrayRef<Scope> branches);
  void replacePlaceholder(Value placeholder, Value by);
  Value saveInScope(Value value, unsigned scope);

  Value repeatChain(Value value);
  Value repeatInScope(Value value, unsigned scope);
  Value keepIn(Value value, unsigned scope);

  void emit(Operation *op, const DerivativeFacts &facts,
            ArrayRef<unsigned> operands);
  bool foldSplat(Operation *op, const OperandGradient &gradient,
                 unsigned operand);
  Value keep(Value value);
  StringAttr findParameter(Value value) const;
  bool isRepeatable(Value value) const;
  llvm::SetVector<Value> getRead(Block &block) const;

  OpBuilder &builder;
  const TrainingOptions &options;
  const llvm::MapVector<Value, StringAttr> &parameters;
  const llvm::DenseSet<Value> &resident;
  llvm::DenseSet<Value> active;
  /// Values that depend on parameters and constants alone, through conversions
  /// and transposes.
  llvm::DenseSet<Value> parameterChains;
  /// Values that are computed again where a gradient reads them, and what they
  /// are in the gradient at hand.
  llvm::DenseSet<Value> repeated;
  llvm::DenseMap<Value, Value> repeatedHere;
  /// The function, then the regions around the op at hand.
  SmallVector<Scope, 2> scopes;
  /// Ops that were made again with more results, and those.
  llvm::MapVector<Operation *, Operation *> replaced;
};

} // namespace mlir::es

#endif // ES_LIB_TRAINING_REVERSESWEEP_H
