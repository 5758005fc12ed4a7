//===- Sweep.cpp - The report at several sizes of a dimension -------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every size is an analysis of its own, of a copy of the module in which the
// dimension is bound.
//
//===----------------------------------------------------------------------===//

#include "Advice.h"
#include "Dimensions.h"
#include "Prepare.h"

#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace mlir::es;

static FailureOr<MemoryReport> reportAt(ModuleOp module,
                                        const ReportOptions &options,
                                        StringRef dimension, uint64_t size) {
  ReportOptions bound = options;
  bound.isTrial = true;
  bound.shapes.push_back({dimension.str(), {int64_t(size)}});
  OwningOpRef<ModuleOp> copy = module.clone();
  return buildMemoryReport(*copy, bound);
}

/// What the file says of the dimension; the module is left as it is.
static FailureOr<DimensionBounds>
getBounds(ModuleOp module, const ReportOptions &options, StringRef dimension) {
  OwningOpRef<ModuleOp> copy = module.clone();
  SmallVector<FunctionOpInterface> entries, others;
  if (failed(selectEntries(*copy, options, entries, others)))
    return failure();
  return DimensionNames(entries).getBounds(dimension);
}

/// The size that the file has, where it has one.
static void noteExported(const MemoryReport &report, StringRef dimension,
                         DimensionBounds &bounds) {
  for (const FunctionReport &function : report.functions)
    for (const ResizedDimension &resized : function.resized)
      if (resized.name == dimension)
        bounds.exported = resized.from;
}

static FailureOr<MemoryReport> sweep(ModuleOp module,
                                     const ReportOptions &options) {
  SweepReport table;
  table.dimension = options.sweep->dimension;
  FailureOr<DimensionBounds> bounds =
      getBounds(module, options, table.dimension);
  if (failed(bounds))
    return failure();
  table.bounds = *bounds;
  MemoryReport result;
  for (uint64_t size : options.sweep->sizes) {
    FailureOr<MemoryReport> report =
        reportAt(module, options, table.dimension, size);
    if (failed(report))
      return failure();
    noteExported(*report, table.dimension, table.bounds);
    SweepRow row{size, {}};
    for (const FunctionReport &function : report->functions)
      for (const GraphReport &graph : function.graphs)
        row.cells.push_back(
            {function.name, graph.kind, graph.label,
             graph.perDevice ? graph.perDevice->peakBytes : graph.peakBytes,
             graph.getNeed(), graph.isLowerBound, graph.perDevice.has_value()});
    table.rows.push_back(std::move(row));
    result.module = report->module;
  }
  result.options = options;
  result.sweep = std::move(table);
  return result;
}

/// Doubles until it does not fit, then halves the interval in which the answer
/// is. Memory is taken to grow with the dimension.
static FailureOr<MemoryReport> findMax(ModuleOp module,
                                       const ReportOptions &options) {
  StringRef name = options.maxDimension;
  FailureOr<DimensionBounds> bounds = getBounds(module, options, name);
  if (failed(bounds))
    return failure();
  uint64_t last = bounds->max.value_or(kLargestDimension);
  uint64_t fits = bounds->min;
  FailureOr<MemoryReport> best = reportAt(module, options, name, fits);
  if (failed(best))
    return failure();
  if (best->isOverBudget())
    return module.emitError()
           << "--max: not even " << fits << " fits: at '" << name
           << "' = " << fits << " more than the budget of "
           << formatBytes(*options.budget) << " is needed";
  // The smallest size that is known not to fit.
  std::optional<uint64_t> exceeds;
  while (fits < last && (!exceeds || *exceeds - fits > 1)) {
    uint64_t next =
        exceeds ? fits + (*exceeds - fits) / 2 : std::min(last, fits * 2);
    FailureOr<MemoryReport> report = reportAt(module, options, name, next);
    if (failed(report))
      return failure();
    if (report->isOverBudget()) {
      exceeds = next;
      continue;
    }
    fits = next;
    best = std::move(report);
  }
  noteExported(*best, name, *bounds);
  best->options = options;
  best->max = MaxReport{name.str(), *bounds, fits,
                        exceeds       ? "budget"
                        : bounds->max ? "bounds"
                                      : "search"};
  return best;
}

FailureOr<MemoryReport>
mlir::es::makeMemoryReport(ModuleOp module, const ReportOptions &options) {
  if (options.sweep)
    return sweep(module, options);
  if (!options.maxDimension.empty())
    return findMax(module, options);
  if (!options.budget)
    return buildMemoryReport(module, options);
  // Advice analyses the module anew.
  OwningOpRef<ModuleOp> original = module.clone();
  FailureOr<MemoryReport> report = buildMemoryReport(module, options);
  if (succeeded(report) && report->isOverBudget())
    addAdvice(*original, options, *report);
  return report;
}
