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
/// At most this many dimensions that run together are named.
static constexpr unsigned kMostNames = 3;

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

/// What was measured of a dimension.
struct mlir::es::GrownDimension : InputDimension {
  /// Peaks at the size, at twice and three times the size.
  SmallVector<uint64_t, 3> peaks;
  std::string text;

  /// Twice the size is at least a hundredth more.
  bool matters() const { return peaks[1] - peaks[0] >= peaks[0] / 100; }
};

/// `ids.1, labels.1`, as many as there is room for.
std::string FunctionBuilder::nameDimensions(
    ArrayRef<std::pair<BlockArgument, unsigned>> dimensions) {
  std::string names;
  for (auto [argument, dim] : dimensions.take_front(kMostNames))
    names += (names.empty() ? "" : ", ") + inventory.lookup(argument)->name +
             "." + std::to_string(dim);
  if (dimensions.size() > kMostNames)
    names += " and " + std::to_string(dimensions.size() - kMostNames) + " more";
  return names;
}

/// The step with what grows at twice and three times its size.
LogicalResult FunctionBuilder::measureGrowth(const TrainedProfile &trained,
                                             Resizer &resizer,
                                             GrownDimension &dimension,
                                             SizeOptions size) {
  std::vector<uint64_t> timelines[2];
  dimension.peaks = {trained.profile.peakBytes};
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
      dimension.peaks.push_back(measured->profile.peakBytes);
      timelines[scale - 2] = measured->profile.timeline;
      measured->graph.func->erase();
    }
    resized->erase();
    if (failed(measured))
      return failure();
  }
  const std::vector<uint64_t> &once = trained.profile.timeline;
  // Choices that depend on sizes may have made another graph.
  bool isAlike =
      once.size() == timelines[0].size() && once.size() == timelines[1].size();
  if (isAlike)
    dimension.text =
        describeGrowth(computeGrowth(
            fitGrowth(once, timelines[0], timelines[1], dimension.size),
            dimension.size)) +
        "; ";
  for (unsigned scale : {2, 3})
    dimension.text += std::to_string(dimension.peaks[scale - 1]) + " B (" +
                      formatBytes(dimension.peaks[scale - 1]) + ") at " +
                      std::to_string(scale * dimension.size) +
                      (scale == 2 ? ", " : "");
  return success();
}

std::vector<std::string>
FunctionBuilder::describeDimensions(const TrainedProfile &trained,
                                    SizeOptions size, bool &hasBatch) {
  Resizer resizer(func);
  SmallVector<GrownDimension> dimensions;
  for (InputDimension &found : findInputDimensions(func, inventory, resizer))
    if (dimensions.size() < kMostDimensions)
      dimensions.push_back({std::move(found), {}, ""});
  std::vector<std::string> lines;
  GrownDimension *batch = nullptr;
  for (GrownDimension &dimension : dimensions) {
    if (!resizer.grow(dimension.seeds))
      dimension.reason = resizer.getReason();
    // All that runs with them, unless that is not known.
    auto growing = dimension.seeds;
    if (dimension.reason.empty()) {
      growing.clear();
      for (BlockArgument argument : func.getArguments())
        for (unsigned dim = 0, e = getRank(argument); dim < e; ++dim)
          if (resizer.grows(argument, dim))
            growing.push_back({argument, dim});
    }
    std::string names =
        nameDimensions(growing) + " = " + std::to_string(dimension.size) + ": ";
    if (!dimension.reason.empty()) {
      dimension.text = names + "not known, as " + dimension.reason;
      continue;
    }
    if (failed(measureGrowth(trained, resizer, dimension, size))) {
      dimension.peaks.clear();
      continue;
    }
    dimension.text =
        names +
        (resizer.isExact() ? "" : "if equal sizes are the same dimension, ") +
        dimension.text;
    if (dimension.dim == 0 && !hasBatch &&
        (!batch || (!batch->matters() && dimension.matters())))
      batch = &dimension;
  }
  hasBatch |= batch != nullptr;
  for (const GrownDimension &dimension : dimensions) {
    if (&dimension == batch)
      lines.insert(lines.begin(), "growth: batch, " + dimension.text);
    // Labels alone, and all else that is next to nothing, is no news.
    else if (dimension.peaks.empty()
                 ? dimension.dim != 0 && !dimension.reason.empty()
                 : dimension.matters())
      lines.push_back("growth: " + dimension.text);
  }
  return lines;
}

std::vector<std::string>
FunctionBuilder::describeGrowths(const TrainedProfile &trained,
                                 SizeOptions size) {
  std::vector<std::string> lines;
  if (options.isTrial || options.sweep)
    return lines;
  ScopedDiagnosticHandler quiet(func->getContext(),
                                [](Diagnostic &) { return success(); });
  bool hasBatch = size.leadingDynamic && hasDynamicBatch();
  if (hasBatch) {
    FailureOr<std::string> text = describeDynamicBatch(trained.profile, size);
    if (succeeded(text))
      lines.push_back(std::move(*text));
  }
  if (trained.profile.timeline.size() <= kMostPoints) {
    // The model itself is resized, not the step at hand.
    const TrainingGraph *before = std::exchange(step, nullptr);
    llvm::append_range(lines, describeDimensions(trained, size, hasBatch));
    step = before;
  }
  if (!hasBatch)
    if (std::string text = describeLeading(trained.profile); !text.empty())
      lines.insert(lines.begin(), std::move(text));
  return lines;
}
