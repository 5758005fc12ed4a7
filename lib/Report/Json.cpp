//===- Json.cpp - The report as JSON --------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names are fixed: docs/memory-report.schema.json describes them.
//
//===----------------------------------------------------------------------===//

#include "PrintSweep.h"

#include <cmath>

using namespace mlir;
using namespace mlir::es;

static constexpr int kSchemaVersion = 1;

/// JSON text must be UTF-8; names in a module need not be.
static std::string fix(StringRef text) { return llvm::json::fixUTF8(text); }

static void writeParameters(llvm::json::OStream &json,
                            const ParameterSummary &summary) {
  json.attributeObject("parameters", [&] {
    json.attribute("count", summary.count);
    json.attribute("elements", summary.elements);
    json.attribute("bytes", summary.bytes);
    json.attribute("roles_source", summary.rolesSource);
    json.attribute("trainable_elements", summary.trainableElements);
    json.attribute("trainable_bytes", summary.trainableBytes);
    json.attribute("frozen_elements", summary.frozenElements);
    json.attribute("frozen_bytes", summary.frozenBytes);
  });
}

static void writeBuffer(llvm::json::OStream &json, const BufferRow &row) {
  json.object([&] {
    json.attribute("name", fix(row.name));
    json.attribute("role", stringifyRole(row.role));
    json.attribute("type", fix(row.type));
    json.attribute("bytes", row.bytes);
    json.attribute("logical_bytes", row.logicalBytes);
    json.attribute("first", row.first);
    json.attribute("last", row.last);
    json.attribute("offset", row.offset);
    json.attribute("location", fix(row.location));
    json.attribute("why", fix(row.why));
  });
}

static void writePerDevice(llvm::json::OStream &json,
                           const DeviceReport &device) {
  json.attributeObject("per_device", [&] {
    json.attribute("devices", device.numDevices);
    json.attribute("peak_bytes", device.peakBytes);
    json.attribute("arena_bytes", device.arenaBytes);
    json.attribute("argument_bytes", device.signature.arguments);
    json.attribute("result_bytes", device.signature.results);
    json.attribute("aliased_bytes", device.signature.aliased);
    json.attribute("temporary_peak_bytes", device.temporaryPeakBytes);
    json.attribute("at_most", device.numUnknown > 0);
    json.attribute("unknown_shardings", device.numUnknown);
    json.attribute("reshards", device.numReshards);
    json.attribute("reductions", device.numReductions);
    json.attributeObject("breakdown", [&] {
      for (unsigned i = 0; i < kNumRoles; ++i)
        json.attribute(stringifyRole(Role(i)), device.breakdown[i]);
    });
  });
}

static void writeSavePolicies(llvm::json::OStream &json,
                              const SavePolicyReport &policies) {
  auto counts = [&](StringRef key, const auto &list) {
    json.attributeObject(key, [&] {
      for (const auto &[name, count] : list)
        json.attribute(name, count);
    });
  };
  json.attributeObject("save_policies", [&] {
    json.attribute("reported", policies.reported);
    json.attribute("all_bytes", policies.allBytes);
    json.attribute("mincut_bytes", policies.mincutBytes);
    json.attribute("attention_fused_bytes", policies.attentionFusedBytes);
    counts("composites", policies.composites);
    counts("attentions_left", policies.attentionsLeft);
  });
}

static void writeDonations(llvm::json::OStream &json,
                           ArrayRef<DonationRow> donations) {
  json.attributeArray("donations", [&] {
    for (const DonationRow &row : donations)
      json.object([&] {
        json.attribute("argument", fix(row.argument));
        json.attribute("bytes", row.bytes);
        json.attribute("outcome", stringifyDonationOutcome(row.outcome));
        if (row.result)
          json.attribute("result", *row.result);
        json.attribute("why", fix(row.why));
      });
  });
}

static void writeGrowth(llvm::json::OStream &json, const GrowthReport &report) {
  json.object([&] {
    json.attributeArray("dimensions", [&] {
      for (const std::string &name : report.dimensions)
        json.value(fix(name));
    });
    json.attribute("size", report.size);
    json.attribute("is_batch", report.isBatch);
    if (!report.unknown.empty()) {
      json.attribute("unknown", fix(report.unknown));
      return;
    }
    json.attribute("exact", report.isExact);
    json.attributeArray("peaks", [&] {
      for (auto [index, bytes] : llvm::enumerate(report.peaks))
        json.object([&, size = (index + 1) * report.size, bytes = bytes] {
          json.attribute("size", size);
          json.attribute("peak_bytes", bytes);
        });
    });
    if (!report.growth)
      return;
    const Growth &growth = *report.growth;
    json.attribute("next_bytes", std::llround(growth.each));
    json.attribute("square_bytes", growth.square);
    json.attribute("floor_bytes", std::max(std::llround(growth.floor), 0ll));
    if (growth.next) {
      json.attribute("changes_at", int64_t(std::ceil(*growth.next)));
      json.attribute("next_bytes_there", std::llround(growth.nextEach));
    }
  });
}

static void writeGraph(llvm::json::OStream &json, const GraphReport &graph) {
  json.object([&] {
    json.attribute("kind", graph.kind);
    if (!graph.label.empty())
      json.attribute("label", fix(graph.label));
    json.attribute("peak_bytes", graph.peakBytes);
    json.attribute("arena_bytes", graph.arenaBytes);
    json.attribute("naive_bytes", graph.naiveBytes);
    json.attribute("largest_op_bytes", graph.largestOpBytes);
    json.attribute("argument_bytes", graph.signature.arguments);
    json.attribute("result_bytes", graph.signature.results);
    json.attribute("aliased_bytes", graph.signature.aliased);
    json.attribute("temporary_peak_bytes", graph.temporaryPeakBytes);
    json.attribute("exact", graph.exact);
    json.attribute("lower_bound", graph.isLowerBound);
    json.attributeObject("peak_op", [&] {
      json.attribute("index", graph.peakIndex);
      json.attribute("name", fix(graph.peakName));
      json.attribute("location", fix(graph.peakLocation));
    });
    json.attributeObject("breakdown", [&] {
      for (unsigned i = 0; i < kNumRoles; ++i)
        json.attribute(stringifyRole(Role(i)), graph.breakdown[i]);
    });
    json.attribute("logical_peak_bytes", graph.logicalBytes);
    json.attributeObject("logical_breakdown", [&] {
      for (unsigned i = 0; i < kNumRoles; ++i)
        json.attribute(stringifyRole(Role(i)), graph.logicalBreakdown[i]);
    });
    json.attributeArray("buffers_at_peak", [&] {
      for (const BufferRow &row : graph.buffersAtPeak)
        writeBuffer(json, row);
    });
    if (!graph.donations.empty())
      writeDonations(json, graph.donations);
    if (!graph.growth.empty())
      json.attributeArray("growth", [&] {
        for (const GrowthReport &report : graph.growth)
          writeGrowth(json, report);
      });
    if (graph.perDevice)
      writePerDevice(json, *graph.perDevice);
    if (graph.savePolicies)
      writeSavePolicies(json, *graph.savePolicies);
    if (!graph.timeline.empty())
      json.attributeArray("timeline", [&] {
        for (uint64_t bytes : graph.timeline)
          json.value(bytes);
      });
    json.attributeArray("notes", [&] {
      for (const std::string &note : graph.notes)
        json.value(fix(note));
    });
  });
}

static void writeOptions(llvm::json::OStream &json,
                         const ReportOptions &options) {
  json.attributeObject("options", [&] {
    json.attribute("memory_model", stringifyMemoryModel(options.model));
    json.attribute("alignment", options.size.alignment);
    json.attribute("sub_byte",
                   options.size.subByte == SubByte::Packed ? "packed" : "byte");
    json.attribute("reserve", options.reserve);
    if (options.budget)
      json.attribute("budget", *options.budget);
    if (!options.device.empty())
      json.attribute("device", options.device);
  });
}

/// What the text says beside its table.
static void writeRemainder(llvm::json::OStream &json,
                           const FunctionReport &function,
                           const ReportOptions &options) {
  if (function.assumedBatch)
    json.attribute("assumed_batch", *function.assumedBatch);
  if (!function.resized.empty())
    json.attributeArray("resized", [&] {
      for (const ResizedDimension &dimension : function.resized)
        json.object([&] {
          json.attribute("dimension", fix(dimension.name));
          json.attribute("from", dimension.from);
          json.attribute("to", dimension.to);
        });
    });
  auto writeLines = [&](StringRef name, ArrayRef<std::string> lines) {
    json.attributeArray(name, [&] {
      for (const std::string &line : lines)
        json.value(fix(line));
    });
  };
  writeLines("assumptions", function.assumptions);
  json.attributeArray("not_reported", [&] {
    for (const auto &[kind, why] : function.missing)
      json.object([&, kind = kind, why = why] {
        json.attribute("kind", kind);
        json.attribute("why", fix(why));
      });
  });
  if (options.printRoles)
    json.attributeArray("roles", [&] {
      for (const RoleLine &role : function.roles)
        json.object([&] {
          json.attribute("name", fix(role.name));
          json.attribute("role", stringifyRole(role.role));
          json.attribute("type", fix(role.type));
          json.attribute("source", role.source);
          json.attribute("is_read", role.isRead);
        });
    });
  if (!options.explain.empty())
    writeLines("explanation", function.explanation);
}

void mlir::es::printJson(const MemoryReport &report, raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("schema_version", kSchemaVersion);
    json.attribute("module", fix(report.module));
    writeOptions(json, report.options);
    if (report.sweep)
      writeSweep(json, *report.sweep);
    if (report.max)
      writeMax(json, *report.max);
    json.attributeArray("functions", [&] {
      for (const FunctionReport &function : report.functions)
        json.object([&] {
          json.attribute("name", fix(function.name));
          writeParameters(json, function.parameters);
          writeRemainder(json, function, report.options);
          json.attributeArray("graphs", [&] {
            for (const GraphReport &graph : function.graphs)
              writeGraph(json, graph);
          });
        });
    });
    json.attributeArray("other_functions", [&] {
      for (const auto &[name, peak] : report.others)
        json.object([&, name = name, peak = peak] {
          json.attribute("name", fix(name));
          json.attribute("peak_bytes", peak);
        });
    });
  });
  os << "\n";
}
