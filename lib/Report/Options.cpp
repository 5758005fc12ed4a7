//===- Options.cpp - The options of the memory report ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Report/Options.h"
#include "es/Training/Options.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::es;

template <typename... Parts>
static llvm::Error makeError(const Parts &...parts) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (stream << ... << parts);
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

StringRef mlir::es::stringifyMemoryModel(MemoryModel model) {
  static constexpr StringRef names[] = {"eager", "inplace", "fused"};
  return names[unsigned(model)];
}

StringRef mlir::es::stringifyGraphKind(GraphKind kind) {
  static constexpr StringRef names[] = {"inference", "backprop", "es"};
  return names[unsigned(kind)];
}

static std::optional<GraphKind> parseGraphKind(StringRef name) {
  return llvm::StringSwitch<std::optional<GraphKind>>(name)
      .Case("inference", GraphKind::Inference)
      .Case("backprop", GraphKind::Backprop)
      .Case("es", GraphKind::Evolution)
      .Default(std::nullopt);
}

/// The graphs, each once.
static llvm::Error parseGraphs(const RawReportOptions &raw,
                               ReportOptions &options) {
  if (raw.graphs == "all") {
    options.graphs = {GraphKind::Inference, GraphKind::Backprop,
                      GraphKind::Evolution};
    return llvm::Error::success();
  }
  options.graphsAreExplicit = true;
  SmallVector<StringRef> parts;
  StringRef(raw.graphs).split(parts, ',');
  for (StringRef part : parts) {
    std::optional<GraphKind> kind = parseGraphKind(part.trim());
    if (!kind)
      return makeError(
          "--graphs expects some of inference, backprop and es, got '",
          raw.graphs, "'");
    if (!llvm::is_contained(options.graphs, *kind))
      options.graphs.push_back(*kind);
  }
  return llvm::Error::success();
}

static llvm::Expected<ShapeBinding> parseShape(StringRef text) {
  auto [name, dims] = text.rsplit(':');
  ShapeBinding binding{name.str(), {}};
  SmallVector<StringRef> parts;
  dims.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t size;
    if (name.empty() || part.getAsInteger(10, size) || size < 0)
      return makeError("--shape expects NAME:4x2048, got '", text, "'");
    binding.shape.push_back(size);
  }
  return binding;
}

/// `s0:1,2,4`.
static llvm::Error parseSweep(StringRef text, ReportOptions &options) {
  if (text.empty())
    return llvm::Error::success();
  auto [name, list] = text.rsplit(':');
  SweepRequest request{name.str(), {}};
  SmallVector<StringRef> parts;
  list.split(parts, ',');
  for (StringRef part : parts) {
    uint64_t size;
    if (name.empty() || part.trim().getAsInteger(10, size) ||
        size > kLargestDimension)
      return makeError("--sweep expects DIM:1,2,4, got '", text, "'");
    request.sizes.push_back(size);
  }
  options.sweep = std::move(request);
  return llvm::Error::success();
}

std::optional<uint64_t> ReportOptions::getBatch() const {
  for (const ShapeBinding &binding : shapes)
    if (binding.name == "batch" && binding.shape.size() == 1)
      return binding.shape.front();
  return std::nullopt;
}

/// Alignment and reserve of the devices we have a profile of.
static llvm::Error applyDevice(StringRef device, ReportOptions &options) {
  if (device.empty())
    return llvm::Error::success();
  if (device == "cpu") {
    options.size.alignment = 64;
  } else if (device == "xla-gpu") {
    options.size.alignment = 256;
  } else if (device == "cuda") {
    options.size.alignment = 512;
    options.reserve = uint64_t(0.6 * 1024 * 1024 * 1024);
  } else {
    return makeError("--device expects cpu, xla-gpu or cuda, got '", device,
                     "'");
  }
  options.device = device.str();
  return llvm::Error::success();
}

static llvm::Error applySizes(const RawReportOptions &raw,
                              ReportOptions &options) {
  if (raw.subByte == "byte")
    options.size.subByte = SubByte::Byte;
  else if (raw.subByte != "packed")
    return makeError("--sub-byte expects packed or byte, got '", raw.subByte,
                     "'");
  options.size.packI1 = raw.packI1;
  if (!raw.alignment.empty() &&
      (StringRef(raw.alignment).getAsInteger(10, options.size.alignment) ||
       !llvm::isPowerOf2_64(options.size.alignment) ||
       options.size.alignment > (uint64_t(1) << 32)))
    return makeError("--alignment expects a power of two, got '", raw.alignment,
                     "'");
  if (!raw.reserve.empty()) {
    llvm::Expected<uint64_t> reserve = parseByteSize(raw.reserve);
    if (!reserve)
      return makeError("--reserve ", llvm::toString(reserve.takeError()));
    options.reserve = *reserve;
  }
  if (!raw.budget.empty()) {
    StringRef size = raw.budget;
    auto [graph, rest] = size.split(':');
    if (size.contains(':')) {
      std::optional<GraphKind> kind = parseGraphKind(graph);
      if (!kind || !llvm::is_contained(options.graphs, *kind))
        return makeError("--budget expects a graph that is reported (",
                         options.isGivenStep() ? "backprop"
                                               : "inference, backprop, es",
                         "), got '", graph, "'");
      options.budgetGraph = *kind;
      // A gate on a graph that cannot be built is no gate.
      options.graphsAreExplicit |= kind != GraphKind::Inference;
      size = rest;
    }
    llvm::Expected<uint64_t> budget = parseByteSize(size);
    if (!budget)
      return makeError("--budget ", llvm::toString(budget.takeError()));
    options.budget = *budget;
    if (!llvm::is_contained(options.graphs, options.budgetGraph))
      options.budgetGraph = options.graphs.front();
  }
  return llvm::Error::success();
}

static llvm::Expected<std::string> parseFunction(StringRef flag,
                                                 StringRef text) {
  StringRef name = text;
  if (!name.consume_front("@") || name.empty())
    return makeError(flag, " expects @function, got '", text, "'");
  return name.str();
}

/// `@g`, `FILE`, `FILE:@g`.
static llvm::Error parseBackward(StringRef text, ReportOptions &options) {
  StringRef function = text;
  if (!text.starts_with("@")) {
    size_t at = text.rfind(":@");
    options.backwardFile = text.take_front(at).str();
    function = at == StringRef::npos ? "" : text.drop_front(at + 1);
    if (options.backwardFile.empty())
      return makeError("--backward expects @function, FILE or FILE:@function");
    if (at == StringRef::npos)
      return llvm::Error::success();
  }
  llvm::Expected<std::string> name = parseFunction("--backward", function);
  if (!name)
    return name.takeError();
  options.backward = *name;
  return llvm::Error::success();
}

/// A step that the file holds already, in one function or in two.
static llvm::Error parseStep(const RawReportOptions &raw,
                             ReportOptions &options) {
  if (raw.forward.empty() != raw.backward.empty())
    return makeError("--forward and --backward go together");
  if (!raw.forward.empty() && !raw.training.empty())
    return makeError("--training and --forward exclude each other");
  if ((!raw.forward.empty() || !raw.training.empty()) && !raw.entry.empty())
    return makeError("--entry names no function where ",
                     raw.training.empty() ? "--forward" : "--training",
                     " does");
  if (!raw.training.empty()) {
    llvm::Expected<std::string> name =
        parseFunction("--training", raw.training);
    if (!name)
      return name.takeError();
    options.stepFunction = *name;
  }
  if (raw.forward.empty() && raw.training.empty())
    return llvm::Error::success();
  if (raw.graphs != "all" && raw.graphs != "backprop")
    return makeError("a training step has the graph backprop only, got "
                     "--graphs=",
                     raw.graphs);
  options.graphs = {GraphKind::Backprop};
  options.graphsAreExplicit = true;
  options.budgetGraph = GraphKind::Backprop;
  if (raw.forward.empty())
    return llvm::Error::success();
  llvm::Expected<std::string> name = parseFunction("--forward", raw.forward);
  if (!name)
    return name.takeError();
  options.forward = *name;
  return parseBackward(raw.backward, options);
}

/// One set of rules for each entry of --compare-freeze, behind those given.
static llvm::Error parseTrainableSets(const RawReportOptions &raw,
                                      MLIRContext *context,
                                      ReportOptions &options) {
  if (raw.compareFreeze.empty())
    return llvm::Error::success();
  SmallVector<StringRef> entries;
  StringRef(raw.compareFreeze).split(entries, ';');
  for (StringRef entry : entries) {
    auto given = raw.rules;
    StringRef pattern = entry;
    if (pattern.consume_front("only:")) {
      given.push_back({ParameterRule::Freeze, ".*"});
      given.push_back({ParameterRule::Train, pattern.str()});
    } else if (!pattern.empty()) {
      given.push_back({ParameterRule::Freeze, pattern.str()});
    }
    llvm::Expected<ParameterRules> rules =
        ParameterRules::parse(given, context);
    if (!rules)
      return makeError("--compare-freeze: ", llvm::toString(rules.takeError()));
    options.trainableSets.push_back(
        {entry.empty() ? "nothing frozen" : entry.str(), *rules});
  }
  return llvm::Error::success();
}

llvm::Expected<ReportOptions> ReportOptions::parse(const RawReportOptions &raw,
                                                   MLIRContext *context) {
  ReportOptions options;
  SmallVector<StringRef> parts;
  StringRef(raw.entry).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    options.entries.push_back(part.trim().ltrim('@').str());
  }
  if (llvm::Error error = parseGraphs(raw, options))
    return std::move(error);
  if (llvm::Error error = parseStep(raw, options))
    return std::move(error);
  auto model = llvm::StringSwitch<std::optional<MemoryModel>>(raw.model)
                   .Case("eager", MemoryModel::Eager)
                   .Case("inplace", MemoryModel::InPlace)
                   .Case("fused", MemoryModel::Fused)
                   .Default(std::nullopt);
  if (!model)
    return makeError("--memory-model expects eager, inplace or fused, got '",
                     raw.model, "'");
  options.model = *model;
  if (llvm::Error error = applyDevice(raw.device, options))
    return std::move(error);
  if (llvm::Error error = applySizes(raw, options))
    return std::move(error);
  parts.clear();
  StringRef(raw.shape).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    llvm::Expected<ShapeBinding> binding = parseShape(part);
    if (!binding)
      return binding.takeError();
    options.shapes.push_back(*binding);
  }
  if (llvm::Error error = parseSweep(raw.sweep, options))
    return std::move(error);
  options.maxDimension = raw.max;
  if (!raw.max.empty() && !options.budget)
    return makeError("--max needs a --budget to fit");
  if (!raw.max.empty() && options.sweep)
    return makeError("--max and --sweep exclude each other");
  if (StringRef(raw.top).getAsInteger(10, options.top))
    return makeError("--top expects a number, got '", raw.top, "'");
  if (raw.unknownSizes == "lower-bound")
    options.lowerBound = true;
  else if (raw.unknownSizes != "error")
    return makeError("--unknown-sizes expects error or lower-bound, got '",
                     raw.unknownSizes, "'");
  llvm::Expected<TrainingOptions> training =
      parseTrainingOptions(collectTrainingOptions(raw), context);
  if (!training)
    return training.takeError();
  options.training = *training;
  llvm::Expected<EvolutionOptions> evolution =
      parseEvolutionOptions(collectEvolutionOptions(raw));
  if (!evolution)
    return evolution.takeError();
  options.evolution = *evolution;
  options.evolution.loss = options.training.loss;
  options.evolution.lossResults = options.training.lossResults;
  options.training.eager = options.model == MemoryModel::Eager;
  options.explain = raw.explain;
  options.liveRanges = raw.liveRanges;
  options.timeline = raw.timeline;
  options.printRoles = raw.printRoles;
  llvm::Expected<ParameterRules> rules =
      ParameterRules::parse(raw.rules, context);
  if (!rules)
    return rules.takeError();
  options.rules = *rules;
  if (llvm::Error error = parseTrainableSets(raw, context, options))
    return std::move(error);
  return options;
}
