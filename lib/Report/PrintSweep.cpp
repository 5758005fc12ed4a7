//===- PrintSweep.cpp - Sweeps as text and as JSON ------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrintSweep.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::es;

static std::string describeBounds(const DimensionBounds &bounds) {
  if (bounds.exported)
    return llvm::formatv(" ({0} in the file)", *bounds.exported);
  if (bounds.max)
    return llvm::formatv(" ({0} to {1} in the file)", bounds.min, *bounds.max);
  if (bounds.min > 1)
    return llvm::formatv(" (at least {0} in the file)", bounds.min);
  return "";
}

static std::string quote(uint64_t bytes, bool isLowerBound) {
  return llvm::formatv("{0}{1} ({2})", isLowerBound ? ">= " : "", bytes,
                       formatBytes(bytes));
}

/// One table for each function and graph, in the order of the first row.
static void printTable(const SweepReport &sweep, size_t index,
                       const ReportOptions &options, raw_ostream &os) {
  const SweepCell &first = sweep.rows.front().cells[index];
  os << "@" << first.function << ", "
     << (first.label.empty() ? first.kind : first.label)
     << (first.isPerDevice ? ", per device" : "") << ", by " << sweep.dimension
     << describeBounds(sweep.bounds) << "\n"
     << llvm::formatv("  {0,12}{1,28}{2,28}", sweep.dimension, "peak", "arena");
  if (options.budget)
    os << "  " << formatBytes(*options.budget) << "?";
  os << "\n";
  for (const SweepRow &row : sweep.rows) {
    const SweepCell &cell = row.cells[index];
    os << llvm::formatv("  {0,12}{1,28}{2,28}", row.size,
                        quote(cell.peakBytes, cell.isLowerBound),
                        quote(cell.arenaBytes, cell.isLowerBound));
    if (options.budget)
      os << (cell.arenaBytes + options.reserve <= *options.budget ? "  yes"
                                                                  : "  no");
    os << "\n";
  }
  os << "\n";
}

void mlir::es::printSweep(const MemoryReport &report, raw_ostream &os) {
  const SweepReport &sweep = *report.sweep;
  for (size_t i = 0, e = sweep.rows.front().cells.size(); i < e; ++i)
    printTable(sweep, i, report.options, os);
}

void mlir::es::printMax(const MemoryReport &report, raw_ostream &os) {
  const MaxReport &max = *report.max;
  os << "largest " << max.dimension << " that fits "
     << formatBytes(*report.options.budget) << ": " << max.size
     << describeBounds(max.bounds);
  if (max.limitedBy == "bounds")
    os << ", the most that the file allows";
  else if (max.limitedBy == "search")
    os << ", and nothing larger was tried";
  os << "\n\n";
}

static void writeBounds(llvm::json::OStream &json,
                        const DimensionBounds &bounds) {
  json.attribute("min", bounds.min);
  if (bounds.max)
    json.attribute("max", *bounds.max);
  if (bounds.exported)
    json.attribute("exported", *bounds.exported);
}

void mlir::es::writeSweep(llvm::json::OStream &json, const SweepReport &sweep) {
  json.attributeObject("sweep", [&] {
    json.attribute("dimension", llvm::json::fixUTF8(sweep.dimension));
    writeBounds(json, sweep.bounds);
    json.attributeArray("rows", [&] {
      for (const SweepRow &row : sweep.rows)
        json.object([&] {
          json.attribute("size", row.size);
          json.attributeArray("graphs", [&] {
            for (const SweepCell &cell : row.cells)
              json.object([&] {
                json.attribute("function", llvm::json::fixUTF8(cell.function));
                json.attribute("kind", cell.kind);
                if (!cell.label.empty())
                  json.attribute("label", llvm::json::fixUTF8(cell.label));
                json.attribute("peak_bytes", cell.peakBytes);
                json.attribute("arena_bytes", cell.arenaBytes);
                json.attribute("lower_bound", cell.isLowerBound);
                json.attribute("per_device", cell.isPerDevice);
              });
          });
        });
    });
  });
}

void mlir::es::writeMax(llvm::json::OStream &json, const MaxReport &max) {
  json.attributeObject("max", [&] {
    json.attribute("dimension", llvm::json::fixUTF8(max.dimension));
    json.attribute("size", max.size);
    json.attribute("limited_by", max.limitedBy);
    writeBounds(json, max.bounds);
  });
}
