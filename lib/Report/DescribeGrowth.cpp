//===- DescribeGrowth.cpp - How a training step grows with its inputs -----===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of each dimension of the inputs that can grow without a parameter growing,
// the step is built and measured at twice and three times the size.
//
//===----------------------------------------------------------------------===//

#include "FunctionBuilder.h"
#include "Growth.h"
#include "Resize.h"
#include "es/OpModel/RoleFacts.h"

using namespace mlir;
using namespace mlir::es;

/// A step of more points is not built again for a note.
static constexpr size_t kMostPoints = 20000;
/// At most this many dimensions are measured.
static constexpr unsigned kMostDimensions = 6;

/// The size of the leading dimension of the first input that has one.
static std::optional<uint64_t> getLeadingSize(const TrainingGraph &step) {
  FunctionOpInterface func = step.func;
  for (BlockArgument argument : func.getArguments()) {
    auto it = step.storages.find(argument);
    ShapedType type = getCarriedShape(argument.getType());
    if (it != step.storages.end() && it->second.role == Role::Input && type &&
        type.hasRank() && type.getRank() > 1 && type.getDimSize(0) > 0)
      return type.getDimSize(0);
  }
  return std::nullopt;
}

FailureOr<std::string>
FunctionBuilder::describeDynamicBatch(const MemoryProfile &profile,
                                      SizeOptions size) {
  uint64_t batch = size.leadingDynamic;
  size.leadingDynamic = 2 * batch;
  FailureOr<MemoryProfile> doubled = this->profile(size);
  if (failed(doubled))
    return failure();
  return "growth: batch = " + std::to_string(batch) + ": " +
         describeGrowth(computeGrowth(
             fitGrowth(profile.timeline, doubled->timeline, batch), batch));
}

std::string FunctionBuilder::describeLeading(const MemoryProfile &profile) {
  std::optional<uint64_t> leading = getLeadingSize(*step);
  if (!leading)
    return "";
  auto isInput = [&](Value value) {
    auto it = step->storages.find(value);
    return it == step->storages.end() || it->second.role == Role::Input ||
           it->second.role == Role::State;
  };
  return "growth, if all that depends on inputs scales with their leading "
         "dimension (" +
         std::to_string(*leading) + "): " +
         describeGrowth(computeGrowth(
             splitByDependence(profile, step->func, isInput, *leading),
             *leading));
}

/// Twice the size is at least a hundredth more.
static bool matters(const GrowthReport &report) {
  return report.peaks[1] >= report.peaks[0] &&
         report.peaks[1] - report.peaks[0] >= report.peaks[0] / 100;
}

/// The step with what grows at twice and three times its size.
LogicalResult FunctionBuilder::measureGrowth(const TrainedProfile &trained,
                                             Resizer &resizer,
                                             GrowthReport &report,
                                             SizeOptions size) {
  std::vector<uint64_t> timelines[2];
  report.peaks = {trained.profile.peakBytes};
  ReportOptions trial = options;
  trial.isTrial = true;
  for (int64_t scale : {2, 3}) {
    FunctionOpInterface resized = resizer.cloneAt(scale);
    if (!resized)
      return failure();
    FunctionBuilder other(resized, trial, parameters);
    FailureOr<TrainedProfile> measured = failure();
    if (succeeded(other.computeInventory()))
      measured = other.profileTraining(other.inventory, trained.options, size);
    if (succeeded(measured)) {
      report.peaks.push_back(measured->profile.peakBytes);
      timelines[scale - 2] = measured->profile.timeline;
      measured->graph.func->erase();
    }
    resized->erase();
    if (failed(measured))
      return failure();
  }
  const std::vector<uint64_t> &once = trained.profile.timeline;
  // Choices that depend on sizes may have made another graph.
  if (once.size() == timelines[0].size() && once.size() == timelines[1].size())
    report.growth = computeGrowth(
        fitGrowth(once, timelines[0], timelines[1], report.size), report.size);
  return success();
}

/// What is known of each dimension of the inputs, and what is said of it: not
/// that labels alone, and all else that is next to nothing, cost nothing.
std::vector<GrowthReport>
FunctionBuilder::measureDimensions(const TrainedProfile &trained,
                                   SizeOptions size, bool hasBatch) {
  Resizer resizer(func);
  SmallVector<InputDimension> dimensions =
      findInputDimensions(func, inventory, resizer);
  if (dimensions.size() > kMostDimensions)
    dimensions.truncate(kMostDimensions);
  std::vector<GrowthReport> reports, leading;
  for (InputDimension &dimension : dimensions) {
    GrowthReport report;
    report.size = dimension.size;
    report.unknown = dimension.reason;
    if (!resizer.grow(dimension.seeds))
      report.unknown = resizer.getReason();
    auto add = [&](BlockArgument argument, unsigned dim) {
      report.dimensions.push_back(inventory.lookup(argument)->name + "." +
                                  std::to_string(dim));
    };
    if (!report.unknown.empty()) {
      // Of a batch there is a guess.
      for (auto [argument, dim] : dimension.seeds)
        add(argument, dim);
      if (dimension.dim != 0)
        reports.push_back(std::move(report));
      continue;
    }
    // All that runs with them.
    for (BlockArgument argument : func.getArguments())
      for (unsigned dim = 0, e = getRank(argument); dim < e; ++dim)
        if (resizer.grows(argument, dim))
          add(argument, dim);
    report.isExact = resizer.isExact();
    if (failed(measureGrowth(trained, resizer, report, size)))
      continue;
    if (dimension.dim == 0)
      leading.push_back(std::move(report));
    else if (matters(report))
      reports.push_back(std::move(report));
  }
  // The batch is the first leading dimension that costs something.
  auto batch = llvm::find_if(leading, matters);
  if (batch == leading.end())
    batch = leading.begin();
  if (!hasBatch && batch != leading.end()) {
    batch->isBatch = true;
    std::rotate(leading.begin(), batch, std::next(batch));
  }
  llvm::erase_if(leading, [](const GrowthReport &report) {
    return !report.isBatch && !matters(report);
  });
  reports.insert(reports.begin(), std::make_move_iterator(leading.begin()),
                 std::make_move_iterator(leading.end()));
  return reports;
}

void FunctionBuilder::addGrowth(const TrainedProfile &trained, SizeOptions size,
                                GraphReport &graph) {
  if (options.isTrial || options.sweep)
    return;
  ScopedDiagnosticHandler quiet(func->getContext(),
                                [](Diagnostic &) { return success(); });
  bool hasBatch = size.leadingDynamic && hasDynamicBatch();
  if (hasBatch) {
    FailureOr<std::string> text = describeDynamicBatch(trained.profile, size);
    if (succeeded(text))
      graph.notes.push_back(std::move(*text));
  }
  if (trained.profile.timeline.size() <= kMostPoints) {
    // The model itself is resized, not the step at hand.
    const TrainingGraph *before = std::exchange(step, nullptr);
    graph.growth = measureDimensions(trained, size, hasBatch);
    step = before;
  }
  hasBatch |= !graph.growth.empty() && graph.growth.front().isBatch;
  if (!hasBatch)
    if (std::string text = describeLeading(trained.profile); !text.empty())
      graph.notes.push_back(std::move(text));
  for (const GrowthReport &report : graph.growth)
    graph.notes.push_back(describeGrowth(report));
}
