//===- FunctionBuilder.h - The report of one function -----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_REPORT_FUNCTIONBUILDER_H
#define ES_LIB_REPORT_FUNCTIONBUILDER_H

#include "Prepare.h"
#include "es/Analysis/MemoryProfile.h"
#include "es/Report/MemoryReport.h"
#include "es/Training/TrainingGraph.h"

#include "mlir/IR/AsmState.h"

namespace mlir::es {

/// With more program points than this, values are named by op and point instead
/// of by the number the printer would give them, and nothing is analysed twice
/// for the sake of a note.
constexpr unsigned kManyPoints = 200000;

std::string printType(Type type);
std::string printLocation(Location loc);

class Resizer;

/// Builds the report of one function.
class FunctionBuilder {
public:
  FunctionBuilder(FunctionOpInterface func, const ReportOptions &options,
                  const ModuleParameters &parameters,
                  ArrayRef<AssumedSize> assumed = {})
      : func(func), options(options), parameters(parameters), assumed(assumed) {
  }
  FailureOr<FunctionReport> build();
  /// With `donated` beside the arguments that are donated already.
  FailureOr<MemoryProfile> profile(SizeOptions size,
                                   ArrayRef<BlockArgument> donated = {});
  LogicalResult computeInventory();

private:
  /// The function as it is: inference, or a training step that it holds.
  FailureOr<GraphReport> buildAsIs(FunctionReport &report, SizeOptions size);
  FailureOr<GraphReport> buildTraining(FunctionReport &report, SizeOptions size,
                                       const Inventory &trained);
  FailureOr<GraphReport> buildEvolution(FunctionReport &report,
                                        SizeOptions size);
  struct TrainedProfile {
    TrainingGraph graph;
    MemoryProfile profile;
    /// What the graph was built with.
    TrainingOptions options;
  };
  FailureOr<TrainedProfile> profileTraining(const Inventory &trained,
                                            const TrainingOptions &options,
                                            SizeOptions size);
  /// The step that `options` ask for and, where evaluating again is a choice,
  /// the best of those that keep more; says what each would take.
  FailureOr<TrainedProfile>
  chooseSavePolicy(const Inventory &trained, SizeOptions size,
                   std::optional<SavePolicyReport> &report);
  LogicalResult compareTrainableSets(FunctionReport &report, SizeOptions size);
  FailureOr<std::string> describeCheckpoints(const TrainedProfile &chosen,
                                             const Inventory &trained,
                                             SizeOptions size);
  void addTrainingNotes(const MemoryProfile &profile, GraphReport &graph);
  GraphReport makeGraph(const MemoryProfile &profile, GraphKind kind);
  void summarizeParameters(FunctionReport &report);
  void addBuffers(const MemoryProfile &profile, GraphReport &graph);
  /// Bytes of a buffer if elements had the bits of their type.
  uint64_t getLogicalBytes(const MemoryProfile &profile, BufferId id);
  void addLogicalBytes(const MemoryProfile &profile, GraphReport &graph);
  void addLiveRanges(const MemoryProfile &profile, GraphReport &graph);
  void addNotes(const MemoryProfile &profile, GraphReport &graph);
  void addUnknownTypes(const MemoryProfile &profile, GraphReport &graph);
  void addUnmatchedRules(const Inventory &with, GraphReport &graph);
  void addDonation(ArrayRef<BlockArgument> arguments,
                   const MemoryProfile &profile, GraphReport &graph);
  void addDonationUses(const MemoryProfile &profile, GraphReport &graph);
  void addDonations(const MemoryProfile &profile, GraphReport &graph);
  void explain(const MemoryProfile &profile, FunctionReport &report);
  std::string nameOf(const MemoryProfile &profile, BufferId id);
  std::string nameOf(Value value, const ProgramOrder &order);
  std::string explainSaved(const MemoryProfile &profile, BufferId id);
  /// What an argument or constant of the graph at hand is for.
  std::optional<StepStorage> lookUp(Value value) const;
  bool hasDynamicBatch();
  std::vector<std::string> assumeBatch(std::optional<uint64_t> &batch) const;
  /// How the peak of the step at hand grows with the dimensions of inputs: the
  /// batch, the length of a sequence.
  void addGrowth(const TrainedProfile &trained, SizeOptions size,
                 GraphReport &graph);
  std::vector<GrowthReport> measureDimensions(const TrainedProfile &trained,
                                              SizeOptions size, bool hasBatch);
  LogicalResult measureGrowth(const TrainedProfile &trained, Resizer &resizer,
                              GrowthReport &report, SizeOptions size);
  /// In words, for an unbound leading dimension, and for the batch where
  /// nothing better is known.
  FailureOr<std::string> describeDynamicBatch(const MemoryProfile &profile,
                                              SizeOptions size);
  std::string describeLeading(const MemoryProfile &profile);

  FunctionOpInterface func;
  const ReportOptions &options;
  const ModuleParameters &parameters;
  /// Symbols of the file that were not bound by the options.
  ArrayRef<AssumedSize> assumed;
  Inventory inventory;
  /// How the sizes of the graph at hand are counted.
  SizeOptions graphSize;
  /// What an unbound leading dimension counts as; 0 makes it an error.
  uint64_t leadingSize = 0;
  /// The training step, while that is the graph at hand.
  const TrainingGraph *step = nullptr;
  /// The values in each buffer, where reasons for keeping them are given.
  llvm::DenseMap<BufferId, SmallVector<Value, 2>> members;
  std::unique_ptr<AsmState> names;
};

} // namespace mlir::es

#endif // ES_LIB_REPORT_FUNCTIONBUILDER_H
