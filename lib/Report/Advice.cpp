//===- Advice.cpp - What would make a graph fit ---------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For a graph that exceeds its budget: what a donated argument, other storage
// of the parameters, a frozen parameter or a smaller batch would bring. Each
// number comes from analysing the module again with the flag that the advice
// names.
//
//===----------------------------------------------------------------------===//

#include "Advice.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace mlir::es;

/// At most this many arguments are tried one by one, the largest first.
static constexpr unsigned kMostSingles = 4;

/// What saves less than this part of what is needed, and does not make it fit,
/// is no advice.
static constexpr uint64_t kLeastPart = 100;

namespace {
/// What a flag would bring.
struct Trial {
  std::string flag;
  ReportOptions options;
};

struct Storage {
  const RoleLine *line;
  uint64_t bytes;
  Type element;
};

class Adviser {
public:
  Adviser(ModuleOp module, const ReportOptions &options,
          const FunctionReport &function, const GraphReport &graph)
      : module(module), options(options), function(function), graph(graph) {}
  std::vector<std::string> advise();

private:
  std::vector<Storage> collect(function_ref<bool(const RoleLine &)> keep);
  void addRule(ParameterRule::Kind kind, ArrayRef<Storage> storages,
               StringRef suffix = "");
  void addDonations();
  void addStorages(StringRef type, unsigned bits);
  void addFreezes();
  void addBatch();
  std::optional<uint64_t> measure(const Trial &trial);

  ModuleOp module;
  const ReportOptions &options;
  const FunctionReport &function;
  const GraphReport &graph;
  std::vector<Trial> trials;
};
} // namespace

/// The storages of the report that `keep` accepts, the largest first.
std::vector<Storage>
Adviser::collect(function_ref<bool(const RoleLine &)> keep) {
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  std::vector<Storage> storages;
  for (const RoleLine &line : function.roles) {
    Type type = keep(line) ? parseType(line.type, module.getContext()) : Type();
    auto shaped = dyn_cast_if_present<ShapedType>(type);
    if (!shaped)
      continue;
    SizeOptions size = options.size;
    size.leadingDynamic = 1;
    llvm::Expected<uint64_t> bytes = getStorageBytes(type, size);
    if (bytes)
      storages.push_back({&line, *bytes, shaped.getElementType()});
    else
      llvm::consumeError(bytes.takeError());
  }
  llvm::stable_sort(storages, [](const Storage &a, const Storage &b) {
    return a.bytes > b.bytes;
  });
  return storages;
}

/// Tries a rule for the names of `storages`, beside the rules that were given.
void Adviser::addRule(ParameterRule::Kind kind, ArrayRef<Storage> storages,
                      StringRef suffix) {
  if (storages.empty())
    return;
  std::string names;
  for (const Storage &storage : storages)
    names +=
        (names.empty() ? "" : "|") + llvm::Regex::escape(storage.line->name);
  std::string pattern = "^(" + names + ")$" + suffix.str();
  std::vector<std::pair<ParameterRule::Kind, std::string>> given;
  for (const ParameterRule &rule : options.rules.getRules()) {
    std::string text = rule.pattern;
    if (rule.stored)
      llvm::raw_string_ostream(text) << ":" << rule.stored;
    given.push_back({rule.kind, text});
  }
  given.push_back({kind, pattern});
  llvm::Expected<ParameterRules> rules =
      ParameterRules::parse(given, module.getContext());
  if (!rules)
    return llvm::consumeError(rules.takeError());
  Trial &trial = trials.emplace_back();
  trial.flag = (getRuleFlag(kind) + "='" + pattern + "'").str();
  trial.options = options;
  trial.options.rules = *rules;
}

void Adviser::addDonations() {
  std::vector<Storage> inputs = collect([](const RoleLine &line) {
    return line.role == Role::Input || line.role == Role::State;
  });
  inputs.resize(std::min<size_t>(inputs.size(), kMostSingles));
  for (const Storage &input : inputs)
    addRule(ParameterRule::Donate, input);
}

/// Float parameters that take more bits than `bits` an element.
void Adviser::addStorages(StringRef type, unsigned bits) {
  std::vector<Storage> parameters =
      collect([](const RoleLine &line) { return line.isParameter; });
  llvm::erase_if(parameters, [&](const Storage &storage) {
    auto floating = dyn_cast<FloatType>(storage.element);
    return !floating || floating.getWidth() <= bits;
  });
  addRule(ParameterRule::StoredAs, parameters, (":" + type).str());
}

void Adviser::addFreezes() {
  std::vector<Storage> trained = collect([](const RoleLine &line) {
    return line.role == Role::TrainableParameter;
  });
  trained.resize(std::min<size_t>(trained.size(), kMostSingles));
  for (const Storage &parameter : trained)
    addRule(ParameterRule::Freeze, parameter);
}

/// Half of the batch that was asked for.
void Adviser::addBatch() {
  std::optional<uint64_t> batch = options.getBatch();
  if (!batch || *batch < 2)
    return;
  Trial &trial = trials.emplace_back();
  trial.flag = "--shape=batch:" + std::to_string(*batch / 2);
  trial.options = options;
  for (ShapeBinding &binding : trial.options.shapes)
    if (binding.name == "batch")
      binding.shape = {int64_t(*batch / 2)};
}

/// The arena of the graph with the options of `trial`.
std::optional<uint64_t> Adviser::measure(const Trial &trial) {
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy = module.clone();
  ReportOptions changed = trial.options;
  changed.isTrial = true;
  changed.entries = {function.name};
  changed.graphs = {options.budgetGraph};
  changed.explain.clear();
  FailureOr<MemoryReport> report = buildMemoryReport(*copy, changed);
  if (failed(report))
    return std::nullopt;
  for (const FunctionReport &other : report->functions)
    for (const GraphReport &candidate : other.graphs)
      if (candidate.kind == graph.kind && candidate.label == graph.label)
        return candidate.getNeed() + options.reserve;
  return std::nullopt;
}

std::vector<std::string> Adviser::advise() {
  addDonations();
  addStorages("bf16", 16);
  addStorages("i8", 8);
  if (options.budgetGraph != GraphKind::Inference)
    addFreezes();
  addBatch();
  std::vector<std::string> advice;
  for (const Trial &trial : trials) {
    std::optional<uint64_t> bytes = measure(trial);
    uint64_t need = graph.getNeed() + options.reserve;
    if (!bytes || *bytes >= need ||
        (*bytes > *options.budget && need - *bytes < need / kLeastPart))
      continue;
    advice.push_back("advice: " + trial.flag + " needs " +
                     std::to_string(*bytes) + " B (" + formatBytes(*bytes) +
                     ")" + (*bytes <= *options.budget ? ", which fits" : ""));
  }
  return advice;
}

void mlir::es::addAdvice(ModuleOp module, const ReportOptions &options,
                         MemoryReport &report) {
  for (FunctionReport &function : report.functions)
    for (GraphReport &graph : function.graphs) {
      if (graph.kind != stringifyGraphKind(options.budgetGraph) ||
          graph.getNeed() + options.reserve <= *options.budget)
        continue;
      std::vector<std::string> advice =
          Adviser(module, options, function, graph).advise();
      graph.notes.insert(graph.notes.begin(), advice.begin(), advice.end());
    }
}
