//===- EvolutionGraph.h - One step of Evolution Strategies ------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a model, a function that runs it for every member of a population, each
// with its own noise on the trainable parameters, and updates these from the
// losses. No gradient, nothing saved, no noise in memory; what it needs beyond
// inference is the perturbed copy of what is in use.
//
//===----------------------------------------------------------------------===//

#ifndef ES_TRAINING_EVOLUTIONGRAPH_H
#define ES_TRAINING_EVOLUTIONGRAPH_H

#include "es/Training/TrainingGraph.h"
#include "llvm/Support/Error.h"

namespace mlir::es {

/// Where a member's parameters are.
enum class PerturbPlacement : uint8_t {
  /// Right before each use, one parameter at a time.
  Sunk,
  /// All of them from the start of a member to its end.
  Copy,
  /// In the parameters themselves, undone at the end of a member.
  InPlace,
  /// Nowhere: products with a matrix have a correction from the factors of its
  /// noise. Where that cannot be, as `Sunk`.
  LowRank
};

struct EvolutionOptions {
  LossChoice loss = LossChoice::Automatic;
  SmallVector<unsigned, 1> lossResults;
  PerturbPlacement placement = PerturbPlacement::Sunk;
  unsigned population = 64;
  /// Members whose parameters and activations are there at once.
  unsigned inFlight = 1;
  bool antithetic = true;
  OptimizerKind optimizer = OptimizerKind::sgd;
  double sigma = 0.02, learningRate = 0.01;
  NoiseKind noise = NoiseKind::normal16;
  /// Of the noise of matrices; 0 is full rank.
  unsigned rank = 0;
  Shaping shaping = Shaping::centered_rank;
  NanPolicy nan = NanPolicy::error;
  Direction direction = Direction::minimize;
  /// Of 16-bit floats, and of integers.
  Rounding rounding = Rounding::stochastic;
  FixedRounding fixed = FixedRounding::stochastic;
  /// The step is counted, not run: what has to be lowered before it can run is
  /// taken for what it then is.
  bool isCounted = false;
};

/// The options as given.
struct RawEvolutionOptions {
#define ES_OPTION(member, flag, default, help) std::string member = default;
#include "es/Training/Evolution.def"
#undef ES_OPTION
#undef ES_SWITCH
};

/// Understands `raw`; one error that names the flag if something is wrong.
llvm::Expected<EvolutionOptions>
parseEvolutionOptions(const RawEvolutionOptions &raw);

/// The same from any collection of options that contains these.
template <typename Options>
RawEvolutionOptions collectEvolutionOptions(const Options &options) {
  RawEvolutionOptions raw;
#define ES_OPTION(member, flag, default, help) raw.member = options.member;
#include "es/Training/Evolution.def"
#undef ES_OPTION
#undef ES_SWITCH
  return raw;
}

/// Adds the step of `model` to its module, as a function called
/// `<model>.es_step`. Fails, with a diagnostic, if there is no parameter that
/// can be perturbed, or if the loss depends on none.
FailureOr<TrainingGraph> buildEvolutionGraph(FunctionOpInterface model,
                                             const Inventory &inventory,
                                             const EvolutionOptions &options);

/// True if a part of a parameter, perturbed, is that part of it perturbed.
bool canPerturbParts(PerturbOp op);

/// Perturbs what ops of foreign dialects take of a parameter instead of all of
/// it: slices, rows, layers, transposes. For counting alone: the noise is no
/// longer that of the elements' places.
void sinkThroughReads(Operation *root);

/// Moves each `es.perturb` under `root` to its uses, one for each op that reads
/// it, and past slices and gathers, so that only what is read is perturbed.
void sinkPerturbations(Operation *root);

/// Structured ops that read a `linalg.transpose` of `value` read `value`.
void foldTransposes(Value value);

/// Of a step, the function `<step>.replay` that updates the parameters from the
/// fitness of a step that was run before: what is updated, its states, the
/// fitness, seed and step to what the step returns but for the fitness.
FailureOr<FunctionOpInterface> buildReplay(FunctionOpInterface step);

} // namespace mlir::es

#endif // ES_TRAINING_EVOLUTIONGRAPH_H
