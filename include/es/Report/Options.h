//===- Options.h - The options of the memory report -------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_REPORT_OPTIONS_H
#define ES_REPORT_OPTIONS_H

#include "es/Analysis/Buffers.h"
#include "es/Analysis/Parameters.h"
#include "es/Analysis/StorageSize.h"
#include "es/Training/EvolutionGraph.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir::es {

/// The options as given, before they are understood.
struct RawReportOptions {
#define ES_OPTION(member, flag, default, help) std::string member = default;
#define ES_SWITCH(member, flag, help) bool member = false;
#include "es/Report/Options.def"
  /// Rules in the order they were given.
  std::vector<std::pair<ParameterRule::Kind, std::string>> rules;
};

/// A shape for an argument, or, with one size, for a dynamic dimension.
struct ShapeBinding {
  std::string name;
  SmallVector<int64_t> shape;
};

/// No dimension is larger than this in a sweep or a search.
constexpr uint64_t kLargestDimension = uint64_t(1) << 31;

/// Sizes of a dynamic dimension to try.
struct SweepRequest {
  std::string dimension;
  SmallVector<uint64_t> sizes;
};

/// A program that is analysed.
enum class GraphKind : uint8_t { Inference, Backprop, Evolution };
StringRef stringifyGraphKind(GraphKind kind);

struct ReportOptions {
  /// In the order of the report. Those that were not asked for by name are left
  /// out, with a note, where they cannot be built.
  SmallVector<GraphKind, 3> graphs;
  bool graphsAreExplicit = false;
  TrainingOptions training;
  EvolutionOptions evolution;
  /// Training steps to compare: what is frozen, in words, and the rules.
  std::vector<std::pair<std::string, ParameterRules>> trainableSets;
  SmallVector<std::string> entries;
  MemoryModel model = MemoryModel::InPlace;
  SizeOptions size;
  /// Functions that make up a training step: one, or a forward and a backward,
  /// the latter perhaps in a file of its own.
  std::string stepFunction, forward, backward, backwardFile;
  std::vector<ShapeBinding> shapes;
  std::optional<SweepRequest> sweep;
  /// The dimension whose largest size that fits is wanted; none if empty.
  std::string maxDimension;
  std::optional<uint64_t> budget;
  GraphKind budgetGraph = GraphKind::Inference;
  uint64_t reserve = 0;
  std::string device;
  unsigned top = 10;
  std::string explain;
  /// File for the live ranges; none if empty.
  std::string liveRanges;
  bool lowerBound = false;
  bool timeline = false;
  bool printRoles = false;
  /// The module is known to verify, so that naming its values need not check.
  bool isVerified = false;
  /// Analysed for the sake of advice: no remarks.
  bool isTrial = false;
  ParameterRules rules;

  /// True if the file holds the training step that is reported.
  bool isGivenStep() const { return !stepFunction.empty() || !forward.empty(); }
  /// What a leading dimension counts as that is not bound: the size that the
  /// name `batch` is given, if it is.
  std::optional<uint64_t> getBatch() const;

  /// Understands `raw`; one error that names the flag if something is wrong.
  static llvm::Expected<ReportOptions> parse(const RawReportOptions &raw,
                                             MLIRContext *context);
};

StringRef stringifyMemoryModel(MemoryModel model);

} // namespace mlir::es

#endif // ES_REPORT_OPTIONS_H
