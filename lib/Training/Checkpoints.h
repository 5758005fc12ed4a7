//===- Checkpoints.h - The forward pass, evaluated again --------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instead of keeping an activation, a step may keep what enters a part of the
// forward pass and evaluate that part again before its gradients.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_TRAINING_CHECKPOINTS_H
#define ES_LIB_TRAINING_CHECKPOINTS_H

#include "es/Training/CheckpointSchedule.h"
#include "es/Training/TrainingGraph.h"

#include "mlir/IR/Builders.h"

namespace mlir::es {

class ReverseSweep;

/// How evaluating an op again relates to its results.
enum class Repeat : uint8_t {
  /// They are kept where they are: constants, loops, random numbers.
  Never,
  /// They cost next to nothing and are made anew wherever they are read: fills,
  /// views and conversions of parameters.
  Always,
  /// They are activations.
  Activation,
  /// They depend on no parameter: kept if several parts read them.
  Inactive,
};

/// The ops of the forward pass, the loss included, at the top level of a step.
class ForwardPass {
public:
  /// The ops of `body` in front of `end`.
  ForwardPass(Block &body, Operation *end, const ReverseSweep &sweep);

  unsigned size() const { return ops.size(); }
  Operation *getOp(unsigned position) const { return ops[position]; }
  Repeat getRepeat(unsigned position) const { return repeats[position]; }
  std::optional<unsigned> getPosition(Operation *op) const;
  /// The last op that reads the value.
  unsigned getLastUse(Value value) const { return lastUses.lookup(value); }
  /// Arguments of tensor type that are no parameters.
  ArrayRef<Value> getInputs() const { return inputs; }
  /// All values of the body that an op reads, those in its regions included.
  SmallVector<Value> getReads(Operation *op) const;

private:
  Block *body;
  std::vector<Operation *> ops;
  SmallVector<Value> inputs;
  std::vector<Repeat> repeats;
  llvm::DenseMap<Operation *, unsigned> positions;
  llvm::DenseMap<Value, unsigned> lastUses;
};

/// Where the forward pass may be cut: the positions at which blocks begin, the
/// first of them 0 (CheckpointBlocks.cpp).
SmallVector<unsigned> findCheckpointBlocks(const ForwardPass &forward);

/// Operations that an op takes, about: 2 m n k for a product, the number of
/// elements for anything else (OpWork.cpp).
uint64_t estimateWork(Operation *op);

/// Which blocks are evaluated again, and how many states are kept for that.
struct CheckpointPlan {
  /// So many blocks are evaluated again together.
  unsigned group = 1;
  /// So many blocks at the end keep all their values. Nothing is gained by
  /// evaluating the very last one again: its gradients come next.
  unsigned whole = 1;
  /// So many states in front of parts are kept at a time.
  unsigned slots = ~0u;

  /// The plan of a kind without a budget.
  static CheckpointPlan get(const CheckpointChoice &options, unsigned blocks);
  /// The first block of each part.
  SmallVector<unsigned> getParts(unsigned blocks) const;
};

/// Gives the reverse sweep values of the forward pass: as they are where they
/// are kept, else evaluated again.
class Checkpoints {
public:
  Checkpoints(const ForwardPass &forward, ArrayRef<unsigned> partBegins,
              unsigned slots);

  /// The gradients of `op` come next.
  void enter(Operation *op);
  /// The value, evaluated again at the insertion point if need be.
  Value get(OpBuilder &builder, Value value);

  uint64_t getRecomputedWork() const { return recomputedWork; }

private:
  /// A value as it was evaluated last, and before the gradients of which part,
  /// counted from the end.
  struct Version {
    Value value;
    unsigned time;
  };
  /// The state that enters a part, kept since some time.
  struct Kept {
    unsigned part, time;
  };

  unsigned getPart(unsigned position) const;
  void keepStates();
  bool isKept(unsigned definedIn, unsigned readIn, unsigned since) const;
  Value find(Value value) const;

  const ForwardPass &forward;
  SmallVector<unsigned> partBegins;
  std::vector<ReversedStep> schedule;
  /// How many parts are behind us.
  unsigned time = 0;
  SmallVector<Kept> kept;
  llvm::DenseMap<Value, Version> versions;
  uint64_t recomputedWork = 0;
};

/// Chooses a plan when the number of blocks is known.
using ChoosePlan = function_ref<CheckpointPlan(unsigned blocks)>;

/// Rewrites a step that evaluates nothing again, and says what it does now
/// (CheckpointStep.cpp).
void applyPlan(TrainingGraph &step, ChoosePlan choose);

/// Tries plans in the order of the work that they repeat; the first with a peak
/// within the budget. Fails, with a diagnostic, if none has
/// (CheckpointBudget.cpp).
FailureOr<TrainingGraph> fitBudget(std::vector<TrainingGraph> steps,
                                   uint64_t budget, PeakMeasure measure);

} // namespace mlir::es

#endif // ES_LIB_TRAINING_CHECKPOINTS_H
