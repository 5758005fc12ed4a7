//===- Run.h - A model trained by Evolution Strategies ----*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_ES_RUN_RUN_H
#define ES_TOOLS_ES_RUN_RUN_H

#include "Checkpoint.h"
#include "Compile.h"
#include "Progress.h"

#include "es/Training/EvolutionGraph.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::es {

struct RunOptions {
  std::string entry;
  ParameterRules rules;
  EvolutionOptions evolution;
  unsigned generations = 100;
  /// Of the kernels of noise.
  unsigned threads = 1;
  uint64_t seed = 0;
  /// Folders of arrays, and files; empty for none.
  std::string load, out, save, resume, replay;
  bool showProgress = false, showDigest = false, showTime = false;
};

class Run {
public:
  Run(ModuleOp module, const RunOptions &options)
      : module(module), options(options) {}
  /// Fails with one diagnostic.
  LogicalResult run();

private:
  /// An argument of the step.
  struct Slot {
    std::string name;
    /// Of its noise.
    uint32_t id;
    Role role;
    Type stored;
    Value64 value;
    bool isShaped() const { return isa<ShapedType>(value.type); }
    bool isParameter() const {
      return role == Role::TrainableParameter || role == Role::FrozenParameter;
    }
  };

  // Before anything runs.
  LogicalResult findModel();
  LogicalResult buildStep();
  LogicalResult checkHelper(StringRef suffix, unsigned scalars,
                            ArrayRef<Type> arguments, ArrayRef<Type> results);
  LogicalResult checkHelpers();
  LogicalResult predict();
  LogicalResult compile();

  // Values.
  LogicalResult allocate();
  LogicalResult initialise();
  void drawInitial(Slot &slot);
  LogicalResult loadArrays();
  LogicalResult takeBatch(uint64_t generation);
  LogicalResult writeArrays();
  uint64_t digestParameters();

  // Generations.
  LogicalResult readCheckpoints();
  LogicalResult replay();
  LogicalResult evolve();
  LogicalResult report();
  LogicalResult fail(llvm::Error error);
  std::string getName(StringRef suffix) { return entry + suffix.str(); }
  bool has(StringRef suffix);
  bool isReplayed() const {
    return !options.resume.empty() || !options.replay.empty();
  }
  std::vector<Value64> getArguments(uint64_t generation);
  FailureOr<std::vector<Value64>> call(StringRef name,
                                       ArrayRef<Value64> arguments);

  ModuleOp module;
  const RunOptions &options;
  std::string entry, step;
  llvm::StringSet<> functions;
  FunctionOpInterface model;
  Location loc = UnknownLoc::get(module.getContext());
  std::vector<Slot> slots;
  std::unique_ptr<Program> program;
  Checkpoint checkpoint;
  /// Generations that were done before.
  unsigned done = 0;
  std::vector<float> fitness;
  uint64_t predictedPeak = 0, countedPeak = 0;
  double seconds = 0;
};

} // namespace mlir::es

#endif // ES_TOOLS_ES_RUN_RUN_H
