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

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::es;

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

/// Another copy of the step, beside it.
static TrainingGraph cloneStep(TrainingGraph &step) {
  TrainingGraph copy = step;
  IRMapping mapping;
  Operation *func = step.func->clone(mapping);
  step.func->getBlock()->getOperations().insertAfter(step.func->getIterator(),
                                                     func);
  copy.func = cast<FunctionOpInterface>(func);
  SymbolTable::setSymbolName(func, (step.func.getName() + ".tried").str());
  copy.storages.clear();
  for (const auto &[value, storage] : step.storages)
    copy.storages[mapping.lookup(value)] = storage;
  for (auto &[name, gradient] : copy.gradients)
    gradient = mapping.lookup(gradient);
  return copy;
}

FailureOr<TrainingGraph> mlir::es::fitBudget(std::vector<TrainingGraph> steps,
                                             uint64_t budget,
                                             PeakMeasure measure) {
  struct Tried {
    CheckpointPlan plan;
    unsigned step;
    uint64_t work, peak;
  };
  unsigned blocks = 0;
  auto attempt = [&](unsigned step, CheckpointPlan plan) -> FailureOr<Tried> {
    TrainingGraph copy = cloneStep(steps[step]);
    applyPlan(copy, [&](unsigned found) {
      if (step == 0)
        blocks = found;
      return plan;
    });
    FailureOr<uint64_t> peak = measure ? measure(copy) : measureInPlace(copy);
    copy.func->erase();
    if (failed(peak))
      return failure();
    return Tried{plan, step, copy.checkpoints.recomputedWork, *peak};
  };
  auto choose = [&](const Tried &chosen) -> TrainingGraph {
    StringAttr name = SymbolTable::getSymbolName(steps.front().func);
    TrainingGraph step = std::move(steps[chosen.step]);
    for (auto [index, other] : llvm::enumerate(steps))
      if (index != chosen.step)
        other.func->erase();
    SymbolTable::setSymbolName(step.func, name);
    applyPlan(step, [&](unsigned) { return chosen.plan; });
    return step;
  };
  auto fail = [&]() -> FailureOr<TrainingGraph> {
    for (TrainingGraph &step : steps)
      step.func->erase();
    return failure();
  };
  CheckpointPlan keepAll;
  keepAll.whole = ~0u;
  SmallVector<Tried> tried;
  for (unsigned step = 0; step < steps.size(); ++step) {
    FailureOr<Tried> next = attempt(step, keepAll);
    if (failed(next))
      return fail();
    if (step == 0 && next->peak <= budget)
      return choose(*next);
    tried.push_back(*next);
  }
  for (const CheckpointPlan &plan : enumeratePlans(blocks)) {
    FailureOr<Tried> next = attempt(0, plan);
    if (failed(next))
      return fail();
    tried.push_back(*next);
  }
  llvm::stable_sort(
      tried, [](const Tried &a, const Tried &b) { return a.work < b.work; });
  uint64_t least = tried.front().peak;
  for (const Tried &candidate : tried) {
    if (candidate.peak <= budget)
      return choose(candidate);
    least = std::min(least, candidate.peak);
  }
  steps.front().func->emitError()
      << "--checkpoint=budget=" << budget
      << " cannot be met: the smallest peak with recomputation is " << least
      << " bytes";
  return fail();
}
