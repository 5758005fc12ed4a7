//===- Training.cpp - The training step in the report ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionBuilder.h"

#include "es/Dialect/ES/IR/ES.h"
#include "es/OpModel/RoleFacts.h"
#include "es/Training/EvolutionGraph.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::es;

namespace {
/// Keeps the first error for the report instead of printing it.
class ErrorCollector {
public:
  explicit ErrorCollector(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              text.empty()) {
            text = diagnostic.str();
            for (Diagnostic &note : diagnostic.getNotes())
              text += "; " + note.str();
          }
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

static uint64_t getSavedBytes(const MemoryProfile &profile) {
  uint64_t saved = 0;
  for (const ProfiledBuffer &buffer : profile.buffers)
    if (buffer.isLive && buffer.role == Role::SavedActivation)
      saved += buffer.bytes;
  return saved;
}

/// What evaluating again saves, against the step that keeps everything.
FailureOr<std::string> FunctionBuilder::describeCheckpoints(
    const TrainedProfile &chosen, const Inventory &trained, SizeOptions size) {
  TrainingOptions keepAll = options.training;
  keepAll.checkpoint = {};
  keepAll.savePolicy = SavePolicy::All;
  FailureOr<TrainedProfile> without = profileTraining(trained, keepAll, size);
  if (failed(without))
    return failure();
  without->graph.func->erase();
  uint64_t kept = getSavedBytes(chosen.profile);
  uint64_t all = getSavedBytes(without->profile);
  const CheckpointSummary &summary = chosen.graph.checkpoints;
  std::string text = "checkpoint " + options.training.checkpoint.str();
  llvm::raw_string_ostream stream(text);
  auto plural = [](unsigned count) { return count == 1 ? "" : "s"; };
  stream << ": " << summary.blocks << " block" << plural(summary.blocks);
  if (summary.parts != summary.blocks)
    stream << " in " << summary.parts << " part" << plural(summary.parts);
  stream << ", saves " << formatBytes(all - std::min(kept, all)) << " (keeps "
         << kept << " B of activations, all are " << all << " B), recomputes "
         << summary.recomputedWork << " operations ("
         << llvm::format("%.1f", 100.0 * summary.recomputedWork /
                                     std::max<uint64_t>(summary.forwardWork, 1))
         << " % of the forward work)";
  return text;
}

static StringRef stringifySavePolicy(SavePolicy policy) {
  static constexpr StringRef names[] = {"all", "mincut", "attention-fused"};
  return names[unsigned(policy)];
}

static void addPolicyNotes(const SavePolicyReport &policies,
                           const TrainingOptions &training,
                           GraphReport &graph) {
  bool isKept = training.checkpoint.kind == CheckpointKind::None;
  std::string text = "save policy (--save-policy): all " +
                     formatBytes(policies.allBytes) + ", mincut " +
                     formatBytes(policies.mincutBytes) + ", attention-fused " +
                     formatBytes(policies.attentionFusedBytes);
  if (!isKept)
    text += "; without --checkpoint";
  else if (policies.reported != stringifySavePolicy(training.savePolicy))
    text += "; the lower one, " + policies.reported + ", is reported";
  graph.notes.push_back(text);
  text = "one kernel each in attention-fused: ";
  for (const auto &[kind, count] : policies.composites)
    text +=
        (text.back() == ' ' ? "" : ", ") + std::to_string(count) + " x " + kind;
  graph.notes.push_back(policies.composites.empty() ? text + "nothing" : text);
  for (const auto &[why, count] : policies.attentionsLeft)
    graph.notes.push_back(std::to_string(count) +
                          " x attention is not one kernel: " + why);
}

FailureOr<FunctionBuilder::TrainedProfile>
FunctionBuilder::chooseSavePolicy(const Inventory &trained, SizeOptions size,
                                  std::optional<SavePolicyReport> &report) {
  SavePolicy asked = options.training.savePolicy;
  // Frameworks that run op by op keep everything.
  if (options.training.eager)
    return profileTraining(trained, options.training, size);
  report.emplace();
  uint64_t *totals[] = {&report->allBytes, &report->mincutBytes,
                        &report->attentionFusedBytes};
  std::optional<TrainedProfile> best;
  bool hasComposites = true;
  for (SavePolicy policy :
       {SavePolicy::AttentionFused, SavePolicy::MinCut, SavePolicy::All}) {
    if (policy == SavePolicy::MinCut && !hasComposites)
      continue;
    TrainingOptions with = options.training;
    with.savePolicy = policy;
    with.checkpoint = {};
    FailureOr<TrainedProfile> tried = profileTraining(trained, with, size);
    if (failed(tried)) {
      if (best)
        best->graph.func->erase();
      return failure();
    }
    if (policy == SavePolicy::AttentionFused) {
      for (const auto &[kind, count] : tried->graph.composites.recognized)
        report->composites.push_back({kind.str(), count});
      for (const auto &[why, count] : tried->graph.composites.attentionsLeft)
        report->attentionsLeft.push_back({why.str(), count});
    }
    uint64_t peak = tried->profile.peakBytes;
    *totals[unsigned(policy)] = peak;
    // With nothing to fuse, both policies make the same step.
    if (policy == SavePolicy::AttentionFused &&
        tried->graph.composites.recognized.empty()) {
      hasComposites = false;
      report->mincutBytes = peak;
      if (asked != SavePolicy::AttentionFused)
        policy = SavePolicy::MinCut;
    }
    // To compute values again is a choice: of what keeps as much as was asked
    // for, or more, the lowest peak counts.
    if (policy > asked || (best && best->profile.peakBytes <= peak)) {
      tried->graph.func->erase();
      continue;
    }
    if (best)
      best->graph.func->erase();
    best = std::move(*tried);
    report->reported = stringifySavePolicy(policy).str();
  }
  if (options.training.checkpoint.kind == CheckpointKind::None)
    return std::move(*best);
  // The policies stand beside what is evaluated again in blocks.
  best->graph.func->erase();
  report->reported = stringifySavePolicy(asked).str();
  return profileTraining(trained, options.training, size);
}

FailureOr<GraphReport>
FunctionBuilder::buildTraining(FunctionReport &report, SizeOptions size,
                               const Inventory &trained) {
  std::optional<ErrorCollector> errors;
  if (!options.graphsAreExplicit)
    errors.emplace(func->getContext());
  auto fail = [&]() -> FailureOr<GraphReport> {
    if (errors)
      report.missing.push_back({"backprop", errors->text});
    return failure();
  };
  // In a pass they are loaded already: its dependent dialects.
  func->getContext()
      ->loadDialect<ESDialect, arith::ArithDialect, scf::SCFDialect,
                    tensor::TensorDialect>();
  std::optional<SavePolicyReport> policies;
  FailureOr<TrainedProfile> chosen = chooseSavePolicy(trained, size, policies);
  if (failed(chosen))
    return fail();
  std::string checkpoints;
  if (options.training.checkpoint.kind != CheckpointKind::None) {
    FailureOr<std::string> text = describeCheckpoints(*chosen, trained, size);
    if (failed(text)) {
      chosen->graph.func->erase();
      return fail();
    }
    checkpoints = *text;
  }
  step = &chosen->graph;
  names.reset();
  GraphReport graph = makeGraph(chosen->profile, GraphKind::Backprop);
  graph.isLowerBound = chosen->profile.hasUnknownSizes;
  addUnmatchedRules(trained, graph);
  if (policies)
    addPolicyNotes(*policies, options.training, graph);
  graph.savePolicies = std::move(policies);
  if (!checkpoints.empty())
    graph.notes.push_back(checkpoints);
  addGrowth(*chosen, size, graph);
  std::string loss = chosen->graph.loss + " (--loss)";
  if (!llvm::is_contained(report.assumptions, loss)) {
    report.assumptions.push_back(loss);
    report.assumptions.push_back(
        (stringifyOptimizerKind(options.training.optimizer) + " " +
         stringifyOptimizerImpl(options.training.impl) +
         " (--optimizer, --optimizer-impl)")
            .str());
    report.assumptions.push_back(
        options.training.relu == ReluSaves::Mask
            ? "relu keeps a mask (--relu), softmax its result, dropout a mask"
            : "relu keeps its result (--relu), softmax its result, dropout a "
              "mask");
  }
  step = nullptr;
  names.reset();
  chosen->graph.func->erase();
  return graph;
}

/// The step of Evolution Strategies, with nothing said of it that the function
/// does not need.
FailureOr<GraphReport> FunctionBuilder::buildEvolution(FunctionReport &report,
                                                       SizeOptions size) {
  std::optional<ErrorCollector> errors;
  if (!options.graphsAreExplicit)
    errors.emplace(func->getContext());
  func->getContext()
      ->loadDialect<ESDialect, arith::ArithDialect, scf::SCFDialect,
                    tensor::TensorDialect>();
  EvolutionOptions counted = options.evolution;
  counted.isCounted = true;
  FailureOr<TrainingGraph> built =
      buildEvolutionGraph(func, inventory, counted);
  FailureOr<MemoryProfile> computed = failure();
  if (succeeded(built)) {
    step = &*built;
    names.reset();
    computed = profile(size);
  }
  FailureOr<GraphReport> graph = failure();
  if (succeeded(computed)) {
    graph = makeGraph(*computed, GraphKind::Evolution);
    graph->isLowerBound = computed->hasUnknownSizes;
    std::string loss = built->loss + " (--loss)";
    if (!llvm::is_contained(report.assumptions, loss))
      report.assumptions.push_back(loss);
    report.assumptions.push_back(
        ("ES population " + llvm::Twine(options.evolution.population) + ", " +
         llvm::Twine(options.evolution.inFlight) + " in flight, " +
         stringifyOptimizerKind(options.evolution.optimizer) +
         " (--population, --es-in-flight, --es-optimizer, --es-perturb)")
            .str());
  } else if (errors) {
    report.missing.push_back({"es", errors->text});
  }
  step = nullptr;
  names.reset();
  if (succeeded(built))
    built->func->erase();
  return graph;
}

/// Builds the training step and profiles it.
FailureOr<FunctionBuilder::TrainedProfile>
FunctionBuilder::profileTraining(const Inventory &trained,
                                 const TrainingOptions &trainingOptions,
                                 SizeOptions size) {
  // A budget for checkpoints is one for the peak that is reported.
  auto profileStep = [&](const TrainingGraph &graph) {
    const TrainingGraph *before = std::exchange(step, &graph);
    FailureOr<MemoryProfile> computed = profile(size);
    step = before;
    return computed;
  };
  auto measure = [&](const TrainingGraph &graph) -> FailureOr<uint64_t> {
    FailureOr<MemoryProfile> computed = profileStep(graph);
    if (failed(computed))
      return failure();
    return computed->peakBytes;
  };
  FailureOr<TrainingGraph> training =
      buildTrainingGraph(func, trained, trainingOptions, measure);
  if (failed(training))
    return failure();
  FailureOr<MemoryProfile> computed = profileStep(*training);
  if (failed(computed)) {
    training->func->erase();
    return failure();
  }
  return TrainedProfile{std::move(*training), std::move(*computed),
                        trainingOptions};
}

LogicalResult FunctionBuilder::compareTrainableSets(FunctionReport &report,
                                                    SizeOptions size) {
  for (const auto &[label, rules] : options.trainableSets) {
    FailureOr<Inventory> trained = Inventory::compute(func, rules, &parameters);
    if (failed(trained))
      return failure();
    FailureOr<GraphReport> graph = buildTraining(report, size, *trained);
    if (succeeded(graph)) {
      graph->label = label;
      report.graphs.push_back(std::move(*graph));
    } else if (options.graphsAreExplicit) {
      return failure();
    } else {
      report.missing.back().first += " " + label;
    }
  }
  return success();
}

/// Whose gradient reads a saved activation.
std::string FunctionBuilder::explainSaved(const MemoryProfile &profile,
                                          BufferId id) {
  const ProgramOrder &order = profile.assignment.getOrder();
  VjpOp last, first;
  Operation *again = nullptr;
  // The earliest gradient of a parameter among the readers, else the last
  // reader of any kind.
  auto visit = [&](Value value) {
    for (Operation *user : value.getUsers()) {
      if (!order.contains(user))
        continue;
      auto vjp = dyn_cast<VjpOp>(user);
      if (!vjp && (!again || order.getBegin(again) < order.getBegin(user)))
        again = user;
      if (!vjp)
        continue;
      if (vjp->hasAttr(kGradientOfAttrName) &&
          (!first || order.getBegin(vjp) < order.getBegin(first)))
        first = vjp;
      if (!last || order.getBegin(last) < order.getBegin(vjp))
        last = vjp;
    }
  };
  if (auto it = members.find(id); it != members.end())
    llvm::for_each(it->second, visit);
  if (first)
    return "kept for the gradient of " +
           first->getAttrOfType<StringAttr>(kGradientOfAttrName).str();
  if (last)
    return "kept for the gradient of " + last.getOf().str() + " at " +
           printLocation(last.getLoc());
  if (again)
    return "kept to compute " + again->getName().getStringRef().str() +
           " again at " + printLocation(again->getLoc());
  return "";
}

void FunctionBuilder::addTrainingNotes(const MemoryProfile &profile,
                                       GraphReport &graph) {
  addUnknownTypes(profile, graph);
  for (const auto &[name, count] : step->conservativeOps) {
    graph.exact = false;
    graph.notes.push_back((llvm::Twine(count) + " x '" + name +
                           "' has no known derivative: its gradient keeps "
                           "every operand and result")
                              .str());
  }
  llvm::append_range(graph.notes, step->notes);
  if (!step->unreached.empty()) {
    std::string text = "no gradient reaches: ";
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(step->unreached, stream);
    graph.notes.push_back(text);
  }
  graph.exact &= profile.conservativeOps.empty();
}
