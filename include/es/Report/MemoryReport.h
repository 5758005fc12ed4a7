//===- MemoryReport.h - What a memory report says ---------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contents of a report, ready to be formatted: plain data, no IR.
//
//===----------------------------------------------------------------------===//

#ifndef ES_REPORT_MEMORYREPORT_H
#define ES_REPORT_MEMORYREPORT_H

#include "es/Analysis/MemoryProfile.h"
#include "es/Report/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include <array>

namespace mlir::es {

struct BufferRow {
  std::string name, type, location, why;
  Role role;
  uint64_t bytes, logicalBytes, offset;
  unsigned first, last;
};

/// One segment of a buffer's life.
struct LiveRangeRow {
  unsigned buffer;
  std::string name, type;
  Role role;
  uint64_t bytes, offset;
  unsigned first, last;
};

/// What becomes of the memory of a donated argument.
enum class DonationOutcome : uint8_t {
  /// It is written again.
  Reused,
  /// It is not, but dies before the function ends. That saves memory where
  /// arguments can be freed; a runtime that can only alias results with
  /// arguments, such as XLA, keeps it.
  Freed,
  /// It lives as long as the function.
  Unused,
};
StringRef stringifyDonationOutcome(DonationOutcome outcome);

struct DonationRow {
  std::string argument, why;
  uint64_t bytes;
  DonationOutcome outcome;
  /// The result that is in the argument's memory.
  std::optional<unsigned> result;
};

/// What the most loaded of several devices holds.
struct DeviceReport {
  int64_t numDevices = 1;
  uint64_t peakBytes = 0, arenaBytes = 0, temporaryPeakBytes = 0;
  SignatureBytes signature;
  std::array<uint64_t, kNumRoles> breakdown = {};
  /// Values whose sharding is not known count in full: totals are at most that.
  unsigned numUnknown = 0;
  /// Values that are communicated because they are needed in another sharding,
  /// and sums of which every device has a part.
  unsigned numReshards = 0, numReductions = 0;
};

/// The peak of the training step by what is kept of the forward pass, each of a
/// graph of its own.
struct SavePolicyReport {
  uint64_t allBytes = 0, mincutBytes = 0, attentionFusedBytes = 0;
  /// Which of them the totals are those of.
  std::string reported;
  /// Composites by kind, and attentions that are none, by reason.
  std::vector<std::pair<std::string, unsigned>> composites, attentionsLeft;
};

/// Where and how fast a peak rises with a size. As the size grows, another
/// point of the program takes over now and then: the slope never falls.
struct Growth {
  /// What the peak is at least, however small the size.
  double floor = 0;
  /// Bytes for the next one, at the size at hand; 0 on a plateau. `square` of
  /// it for every pair.
  double each = 0, square = 0;
  /// The size from which on a steeper point is the peak, and its slope there.
  std::optional<double> next;
  double nextEach = 0;
};

/// What a training step takes where a dimension of its inputs is larger.
struct GrowthReport {
  /// Dimensions that run together, `ids.1` and `labels.1`, and their size.
  std::vector<std::string> dimensions;
  uint64_t size = 0;
  bool isBatch = false;
  /// False if equal sizes were taken for the same dimension somewhere.
  bool isExact = true;
  /// Why it is not known; then there is nothing else.
  std::string unknown;
  /// At the size, at twice and at three times the size.
  SmallVector<uint64_t, 3> peaks;
  /// Nothing if the step is another one at other sizes.
  std::optional<Growth> growth;
};

struct GraphReport {
  std::string kind;
  /// Which of several graphs of the kind this is; empty for the only one.
  std::string label;
  uint64_t peakBytes = 0, arenaBytes = 0, naiveBytes = 0, largestOpBytes = 0;
  SignatureBytes signature;
  uint64_t temporaryPeakBytes = 0;
  bool exact = true;
  /// Some size was unknown and counts as nothing: totals are lower bounds.
  bool isLowerBound = false;
  unsigned peakIndex = 0;
  std::string peakName, peakLocation;
  std::array<uint64_t, kNumRoles> breakdown = {};
  /// The same with the bits of the types instead of what is stored.
  uint64_t logicalBytes = 0;
  std::array<uint64_t, kNumRoles> logicalBreakdown = {};
  std::vector<BufferRow> buffersAtPeak;
  std::vector<uint64_t> timeline;
  /// Only if a file for them is given.
  std::vector<LiveRangeRow> liveRanges;
  std::vector<std::string> notes;
  /// One row for each donated argument, of the graph as it is.
  std::vector<DonationRow> donations;
  /// Of a training step that was built from the model, the batch first.
  std::vector<GrowthReport> growth;
  /// If the function is sharded.
  std::optional<DeviceReport> perDevice;
  /// Of a training step, where it was built from the model.
  std::optional<SavePolicyReport> savePolicies;

  /// What a device has to have: of a sharded function its share.
  uint64_t getNeed() const {
    return perDevice ? perDevice->arenaBytes : arenaBytes;
  }
};

struct ParameterSummary {
  unsigned count = 0;
  uint64_t elements = 0, bytes = 0;
  uint64_t trainableElements = 0, trainableBytes = 0;
  uint64_t frozenElements = 0, frozenBytes = 0;
  std::string rolesSource;
};

struct RoleLine {
  std::string name, type, source;
  Role role;
  bool isRead, isParameter;
};

/// A dimension that has one size in the file, counted with another.
struct ResizedDimension {
  std::string name;
  uint64_t from, to;
};

struct FunctionReport {
  std::string name;
  ParameterSummary parameters;
  std::vector<GraphReport> graphs;
  std::vector<RoleLine> roles;
  std::vector<std::string> assumptions;
  std::vector<ResizedDimension> resized;
  /// Graphs that could not be built, and why.
  std::vector<std::pair<std::string, std::string>> missing;
  std::vector<std::string> explanation;
  /// Totals are those of this batch: the leading dimension is dynamic, and not
  /// bound.
  std::optional<uint64_t> assumedBatch;
};

/// What one graph needs at one size of a dimension.
struct SweepCell {
  std::string function, kind, label;
  uint64_t peakBytes, arenaBytes;
  bool isLowerBound;
  /// The most loaded device's, of a sharded function.
  bool isPerDevice;
};

struct SweepRow {
  uint64_t size;
  std::vector<SweepCell> cells;
};

/// What a dynamic dimension can be.
struct DimensionBounds {
  uint64_t min = 1;
  std::optional<uint64_t> max;
  /// The one size that it has in the file: others are what follows from op to
  /// op.
  std::optional<uint64_t> exported;
};

struct SweepReport {
  std::string dimension;
  DimensionBounds bounds;
  std::vector<SweepRow> rows;
};

/// The largest size of a dimension that fits the budget.
struct MaxReport {
  std::string dimension;
  DimensionBounds bounds;
  uint64_t size;
  /// budget: one more does not fit; bounds: the file allows no more; search:
  /// nothing larger was tried.
  std::string limitedBy;
};

struct MemoryReport {
  std::string module;
  ReportOptions options;
  /// The functions that are reported in full.
  std::vector<FunctionReport> functions;
  /// The other public functions: name and peak.
  std::vector<std::pair<std::string, uint64_t>> others;
  /// With --sweep; then no function is reported in full.
  std::optional<SweepReport> sweep;
  /// With --max; the functions are reported at the size that was found.
  std::optional<MaxReport> max;

  /// True if a budget is given and some function exceeds it.
  bool isOverBudget() const;
  /// What exceeds the budget, and how much it needs.
  std::string getBudgetMessage() const;
};

/// What a device has to have for a graph, with what is reserved.
uint64_t getNeed(const GraphReport &graph, const ReportOptions &options);

/// Analyses `module`. Fails with a diagnostic. May change the module: private
/// functions are inlined, bound shapes are propagated.
FailureOr<MemoryReport> buildMemoryReport(ModuleOp module,
                                          const ReportOptions &options);

/// The report that `options` ask for: of the module as it is, at several sizes
/// of a dynamic dimension, or at the largest size that fits.
FailureOr<MemoryReport> makeMemoryReport(ModuleOp module,
                                         const ReportOptions &options);

void printText(const MemoryReport &report, raw_ostream &os);
/// Writes the file that `options.liveRanges` names, if any.
llvm::Error writeLiveRanges(const MemoryReport &report);

void printJson(const MemoryReport &report, raw_ostream &os);

/// A role in words: `frozen parameter`.
std::string spellRole(Role role);

/// `13.4 GiB`.
std::string formatBytes(uint64_t bytes);

} // namespace mlir::es

#endif // ES_REPORT_MEMORYREPORT_H
