//===- TrainingGraph.h - One step of training, as IR ------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a model, a function that runs it, computes a loss, the gradient of every
// trainable parameter, and updates them. The analyses see a program like any
// other: what a gradient reads lives until then, what is frozen has no
// gradient, no state, and keeps nothing.
//
//===----------------------------------------------------------------------===//

#ifndef ES_TRAINING_TRAININGGRAPH_H
#define ES_TRAINING_TRAININGGRAPH_H

#include "es/Analysis/Buffers.h"
#include "es/Analysis/Parameters.h"

namespace mlir::es {

/// What is minimised.
enum class LossChoice : uint8_t {
  /// A scalar float result; else `CrossEntropy` on the first float result of
  /// rank 2 and more; else `Sum`.
  Automatic,
  Result,
  CrossEntropy,
  MeanSquare,
  Sum
};

/// How long gradients live.
enum class GradientLifetime : uint8_t {
  /// All of them until the last parameter is updated.
  Step,
  /// Each until its own parameter is updated, which happens as soon as nothing
  /// reads the old parameter any more.
  Update
};

/// What is kept of the forward pass.
enum class SavePolicy : uint8_t {
  /// What each derivative reads.
  All,
  /// The cheapest set from which cheap ops give what the derivatives read.
  MinCut,
  /// The same, with attention, cross entropy, layer norm and GELU as the
  /// kernels
  /// that compute each as a whole: no matrix of scores is ever in memory.
  AttentionFused
};

/// What the gradient of a relu reads.
enum class ReluSaves : uint8_t { Result, Mask };

/// What is evaluated again instead of being kept.
enum class CheckpointKind : uint8_t {
  None,
  /// Each block, right before its gradients.
  Blocks,
  /// About sqrt(n) of n blocks together.
  Sqrt,
  /// With at most so many states in front of blocks kept at a time, in the
  /// order that evaluates blocks again the least often (CheckpointSchedule.h).
  States,
  /// What takes the least work so that the peak fits a budget.
  Budget
};

struct CheckpointChoice {
  CheckpointKind kind = CheckpointKind::None;
  /// For `States`, at least one.
  unsigned states = 0;
  /// For `Budget`, in bytes.
  uint64_t budget = 0;

  std::string str() const;
};

/// `none`, `blocks`, `sqrt`, `states=N` or `budget=SIZE`.
llvm::Expected<CheckpointChoice> parseCheckpointChoice(StringRef text);

struct TrainingOptions {
  SavePolicy savePolicy = SavePolicy::MinCut;
  ReluSaves relu = ReluSaves::Result;
  LossChoice loss = LossChoice::Automatic;
  /// The results whose sum is the loss, for `LossChoice::Result`.
  SmallVector<unsigned, 1> lossResults;
  OptimizerKind optimizer = OptimizerKind::adamw;
  OptimizerImpl impl = OptimizerImpl::fused;
  double learningRate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weightDecay = 0.01;
  DecayKind decay = DecayKind::decoupled;
  /// Copies of a parameter that an update works in; by default what `impl` of
  /// PyTorch has.
  std::optional<unsigned> temporaries;
  /// A copy of each parameter of less than 32 bits at full precision.
  bool masterWeights = false;
  /// Element types; null for those of the parameter and f32.
  Type gradType, stateType;
  GradientLifetime lifetime = GradientLifetime::Step;
  /// Sums the gradients of this many micro-batches before each update.
  unsigned accumulate = 1;
  /// Partitions states (1), gradients (2), parameters (3) over `devices`.
  unsigned zero = 0;
  unsigned devices = 1;
  CheckpointChoice checkpoint;
  /// One op for all gradients of an op, and everything kept as it is: what
  /// frameworks do that run op by op.
  bool eager = false;
};

/// What an argument or a constant of the training step is for. A null type
/// means the value's own.
struct StepStorage {
  Role role = Role::Input;
  Type stored;
  std::string name;
};

/// What a step evaluates again.
struct CheckpointSummary {
  /// Blocks that the forward pass is made of, and the parts, of one or more
  /// blocks each, that are evaluated as a whole.
  unsigned blocks = 0, parts = 0;
  /// Estimated operations.
  uint64_t forwardWork = 0, recomputedWork = 0;
};

/// What is computed by one kernel each.
struct CompositeSummary {
  /// How many of which kind.
  llvm::MapVector<StringRef, unsigned> recognized;
  /// Attentions whose matrix of scores stays in memory, and why.
  llvm::MapVector<StringRef, unsigned> attentionsLeft;
};

struct TrainingGraph {
  FunctionOpInterface func;
  /// Arguments and constants of `func`.
  llvm::DenseMap<Value, StepStorage> storages;
  /// Trainable parameters and their gradients, in the order of updates.
  std::vector<std::pair<std::string, Value>> gradients;
  /// What was assumed, in words.
  std::string loss;
  /// Trainable parameters that the loss does not depend on.
  std::vector<std::string> unreached;
  /// What else a reader should know.
  std::vector<std::string> notes;
  /// Ops whose derivative nothing describes.
  llvm::MapVector<StringRef, unsigned> conservativeOps;
  CheckpointSummary checkpoints;
  CompositeSummary composites;
};

/// The peak of a step, in bytes.
using PeakMeasure = function_ref<FailureOr<uint64_t>(const TrainingGraph &)>;

/// Adds the training step of `model` to its module, as a function called
/// `<model>.training_step`. Fails, with a diagnostic, if nothing is trainable,
/// if the loss depends on no trainable parameter (a note names the op that cuts
/// the way), if an op on the way cannot be differentiated, or if no step fits
/// the budget for checkpoints. For that one `measure` is asked; by default the
/// peak is that of memory reused in place, with nothing aligned.
FailureOr<TrainingGraph> buildTrainingGraph(FunctionOpInterface model,
                                            const Inventory &inventory,
                                            const TrainingOptions &options,
                                            PeakMeasure measure = nullptr);

/// Makes one of `steps`, which are the same step with different save policies,
/// the first keeping everything, evaluate blocks of its forward pass again; the
/// others are erased. A kind without a budget is for the first step. What is
/// the forward pass, and which gradient is whose, is read from the functions
/// alone. Fails, with a diagnostic, if no step fits the budget.
FailureOr<TrainingGraph> checkpointStep(std::vector<TrainingGraph> steps,
                                        const CheckpointChoice &options,
                                        PeakMeasure measure = nullptr);

} // namespace mlir::es

#endif // ES_TRAINING_TRAININGGRAPH_H
