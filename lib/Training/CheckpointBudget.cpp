//===- CheckpointBudget.cpp - The least work that fits a budget -----------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every plan is built and its peak measured. Which plans are tried, and in what
// order, does not depend on the budget: the plan for a lower one is the same or
// comes later, and the same only if its peak is lower as well. So a lower
// budget never gives a higher peak.
//
//===----------------------------------------------------------------------===//

#include "Checkpoints.h"

#include "es/Analysis/MemoryProfile.h"

using namespace mlir;
using namespace mlir::es;

StringRef mlir::es::stringifyCheckpointKind(CheckpointKind kind) {
  static constexpr StringRef names[] = {"none", "blocks", "sqrt", "budget"};
  return names[unsigned(kind)];
}

/// So many plans of a kind are tried.
static constexpr unsigned kMostOfAKind = 16;

/// From 1 to `most`, evenly spaced if these are too many.
static SmallVector<unsigned> sample(unsigned most) {
  SmallVector<unsigned> values;
  for (unsigned i = 1, e = std::min(most, kMostOfAKind); i <= e; ++i)
    values.push_back(uint64_t(most) * i / e);
  return values;
}

/// Blocks at the front evaluated again one by one; all of them in groups; all
/// of them with few kept states.
static SmallVector<CheckpointPlan> enumeratePlans(unsigned blocks) {
  SmallVector<CheckpointPlan> plans;
  if (blocks < 2)
    return plans;
  for (unsigned repeated : sample(blocks - 1))
    plans.push_back({1, blocks - repeated, ~0u});
  for (unsigned group : sample(blocks - 1))
    if (group > 1)
      plans.push_back({group, blocks - (blocks - 1) / group * group, ~0u});
  // The count of advances changes most where there are few.
  for (unsigned slots = 1, step = 1; slots + 1 < blocks; slots += step) {
    plans.push_back({1, 1, slots});
    if (slots >= 8)
      step = slots / 2;
  }
  return plans;
}

static FailureOr<uint64_t> measureInPlace(const TrainingGraph &graph) {
  ProfileOptions options;
  options.size.alignment = 1;
  options.storageOf = [&](Value value) -> std::pair<Role, Type> {
    auto it = graph.storages.find(value);
    if (it != graph.storages.end())
      return {it->second.role, it->second.stored};
    return {isa<BlockArgument>(value) ? Role::Input : Role::Constant, Type()};
  };
  FailureOr<MemoryProfile> profile =
      ModuleProfiler(std::move(options)).profile(graph.func);
  if (failed(profile))
    return failure();
  return profile->peakBytes;
}

FailureOr<CheckpointPlan> mlir::es::chooseCheckpoints(
    FunctionOpInterface model, const TrainingOptions &options,
    function_ref<FailureOr<TrainingGraph>(const CheckpointPlan &)> build,
    PeakMeasure measure) {
  struct Tried {
    CheckpointPlan plan;
    uint64_t work, peak;
  };
  unsigned blocks = 0;
  auto attempt = [&](const CheckpointPlan &plan) -> FailureOr<Tried> {
    FailureOr<TrainingGraph> graph = build(plan);
    if (failed(graph))
      return failure();
    FailureOr<uint64_t> peak =
        measure ? measure(*graph) : measureInPlace(*graph);
    blocks = graph->checkpoints.blocks;
    uint64_t work = graph->checkpoints.recomputedWork;
    graph->func->erase();
    if (failed(peak))
      return failure();
    return Tried{plan, work, *peak};
  };
  CheckpointPlan keepAll;
  keepAll.whole = ~0u;
  FailureOr<Tried> first = attempt(keepAll);
  if (failed(first))
    return failure();
  if (first->peak <= options.checkpointBudget)
    return first->plan;
  SmallVector<CheckpointPlan> plans = enumeratePlans(blocks);
  if (options.savePolicy != SavePolicy::All && !options.eager) {
    plans.push_back(keepAll);
    plans.back().policy = options.savePolicy;
  }
  SmallVector<Tried> tried = {*first};
  for (const CheckpointPlan &plan : plans) {
    FailureOr<Tried> next = attempt(plan);
    if (failed(next))
      return failure();
    tried.push_back(*next);
  }
  llvm::stable_sort(
      tried, [](const Tried &a, const Tried &b) { return a.work < b.work; });
  uint64_t least = first->peak;
  for (const Tried &candidate : tried) {
    if (candidate.peak <= options.checkpointBudget)
      return candidate.plan;
    least = std::min(least, candidate.peak);
  }
  return model->emitError()
         << "--checkpoint=budget=" << options.checkpointBudget
         << " cannot be met: the smallest peak with recomputation is " << least
         << " bytes";
}
