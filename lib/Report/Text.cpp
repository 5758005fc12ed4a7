//===- Text.cpp - The report as text --------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrintSweep.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::es;

std::string mlir::es::formatBytes(uint64_t bytes) {
  static constexpr const char *units[] = {"B",   "KiB", "MiB", "GiB",
                                          "TiB", "PiB", "EiB"};
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  double value = bytes;
  unsigned unit = 0;
  while (value >= 1024 && unit < 6) {
    value /= 1024;
    ++unit;
  }
  return llvm::formatv("{0:f1} {1}", value, units[unit]).str();
}

std::string mlir::es::spellRole(Role role) {
  std::string name = stringifyRole(role).str();
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

static std::string quote(uint64_t bytes) {
  return llvm::formatv("{0} ({1})", bytes, formatBytes(bytes)).str();
}

static std::string getTitle(const GraphReport &graph) {
  return graph.label.empty() ? graph.kind : graph.label;
}

static void printVerdict(const MemoryReport &report,
                         const FunctionReport &function, raw_ostream &os) {
  const ReportOptions &options = report.options;
  std::string batch;
  if (function.assumedBatch)
    batch = " at batch " + std::to_string(*function.assumedBatch);
  if (options.budget)
    os << formatBytes(*options.budget) << batch << "?";
  else
    os << "peak" << batch << ":";
  const char *separator = "";
  for (const GraphReport &graph : function.graphs) {
    os << separator << " " << getTitle(graph);
    uint64_t need = getNeed(graph, options);
    if (options.budget)
      os << (need <= *options.budget ? " yes (" : " no (") << formatBytes(need)
         << (graph.perDevice ? " per device)" : ")");
    else
      os << (graph.isLowerBound ? " at least " : " ")
         << formatBytes(graph.peakBytes);
    separator = ",";
  }
  for (const auto &[kind, why] : function.missing)
    os << separator << " " << kind << " not reported";
  os << "\n";
  separator = "assumed: ";
  for (const std::string &assumption : function.assumptions) {
    os << separator << assumption;
    separator = "; ";
  }
  os << "\n\n";
}

/// A second column, where the types have other bits than what is stored.
static bool hasLogicalColumn(const GraphReport &graph) {
  return graph.logicalBreakdown != graph.breakdown;
}

static void printRows(const FunctionReport &function, raw_ostream &os) {
  auto line = [&](StringRef name, auto value, auto logical) {
    os << llvm::formatv("  {0,-22}", name);
    for (const GraphReport &graph : function.graphs) {
      os << llvm::formatv("{0,32}", value(graph));
      if (hasLogicalColumn(graph))
        os << llvm::formatv("{0,32}", logical(graph));
    }
    os << "\n";
  };
  auto none = [](const GraphReport &) { return ""; };
  line(
      "bytes", [](const GraphReport &graph) { return getTitle(graph); },
      [](const GraphReport &) { return "bits of the types"; });
  for (unsigned i = 0; i < kNumRoles; ++i) {
    if (llvm::all_of(function.graphs, [&](const GraphReport &graph) {
          return graph.breakdown[i] == 0;
        }))
      continue;
    line(
        spellRole(Role(i)),
        [&](const GraphReport &graph) { return quote(graph.breakdown[i]); },
        [&](const GraphReport &graph) {
          return quote(graph.logicalBreakdown[i]);
        });
  }
  auto total = [](const GraphReport &graph, uint64_t bytes) {
    return (graph.isLowerBound ? "at least " : "") + quote(bytes);
  };
  std::string batch;
  if (function.assumedBatch)
    batch = ", batch " + std::to_string(*function.assumedBatch);
  line(
      "peak" + batch,
      [&](const GraphReport &graph) { return total(graph, graph.peakBytes); },
      [&](const GraphReport &graph) {
        return total(graph, graph.logicalBytes);
      });
  line(
      "arena" + batch,
      [&](const GraphReport &graph) { return total(graph, graph.arenaBytes); },
      none);
  line(
      "arena / peak",
      [](const GraphReport &graph) {
        double quotient =
            graph.peakBytes ? double(graph.arenaBytes) / graph.peakBytes : 1.0;
        return llvm::formatv("{0:f3}", quotient).str();
      },
      none);
}

/// A line for each device total, beside those of all devices together.
static void printPerDevice(const FunctionReport &function, raw_ostream &os) {
  auto line = [&](StringRef name, auto value) {
    os << llvm::formatv("  {0,-22}", name);
    for (const GraphReport &graph : function.graphs)
      os << llvm::formatv(
          "{0,32}", graph.perDevice
                        ? (graph.perDevice->numUnknown ? "at most " : "") +
                              quote(value(*graph.perDevice))
                        : "");
    os << "\n";
  };
  auto first = llvm::find_if(function.graphs, [](const GraphReport &graph) {
    return graph.perDevice.has_value();
  });
  if (first == function.graphs.end())
    return;
  os << "  on the most loaded of " << first->perDevice->numDevices
     << " devices\n";
  line("  arguments", [](auto &device) { return device.signature.arguments; });
  line("  results", [](auto &device) { return device.signature.results; });
  line("  peak", [](auto &device) { return device.peakBytes; });
  line("  arena", [](auto &device) { return device.arenaBytes; });
}

static void printBuffers(const GraphReport &graph, raw_ostream &os) {
  os << "\n  " << getTitle(graph) << ": peak at point " << graph.peakIndex
     << ", " << graph.peakName << " at " << graph.peakLocation << "\n"
     << "  largest buffers there:\n";
  for (const BufferRow &row : graph.buffersAtPeak) {
    os << llvm::formatv("  {0,14}  {1,-20} {2} {3}  {4}", row.bytes,
                        spellRole(row.role), row.name, row.type, row.location);
    if (!row.why.empty())
      os << "; " << row.why;
    os << "\n";
  }
}

static void printParameters(const FunctionReport &function, raw_ostream &os) {
  const ParameterSummary &summary = function.parameters;
  os << "  parameters: " << summary.count << ", " << summary.elements
     << " elements, " << quote(summary.bytes) << "; trainable "
     << summary.trainableElements << " elements, "
     << formatBytes(summary.trainableBytes) << "; frozen "
     << summary.frozenElements << " elements, "
     << formatBytes(summary.frozenBytes) << "\n";
  std::string unread;
  for (const RoleLine &role : function.roles)
    if (role.isParameter && !role.isRead)
      unread += (unread.empty() ? "" : ", ") + role.name;
  if (!unread.empty())
    os << "  never read: " << unread << "\n";
}

/// The unused ones and the largest, as many as there are buffers.
static void printDonations(const GraphReport &graph, unsigned top,
                           raw_ostream &os) {
  if (graph.donations.empty())
    return;
  auto count = [&](DonationOutcome outcome) {
    return llvm::count_if(graph.donations, [&](const DonationRow &row) {
      return row.outcome == outcome;
    });
  };
  os << "\n  donated arguments: " << count(DonationOutcome::Reused)
     << " reused, " << count(DonationOutcome::Freed)
     << " only freed before the end, " << count(DonationOutcome::Unused)
     << " unused\n";
  size_t shown = std::min<size_t>(top, graph.donations.size());
  for (const DonationRow &row : ArrayRef(graph.donations).take_front(shown))
    os << llvm::formatv("  {0,14}  {1,-7} {2}: {3}\n", row.bytes,
                        stringifyDonationOutcome(row.outcome), row.argument,
                        row.why);
  if (size_t more = graph.donations.size() - shown)
    os << "  and " << more << " more (--top, or the JSON report)\n";
}

static std::string escape(StringRef name) { return llvm::Regex::escape(name); }

/// The inferred roles as flags to paste.
static void printRoles(const FunctionReport &function, raw_ostream &os) {
  auto flag = [&](StringRef name, auto keep) {
    std::string names;
    for (const RoleLine &role : function.roles)
      if (keep(role))
        names += (names.empty() ? "" : "|") + escape(role.name);
    if (!names.empty())
      os << "  --" << name << "='^(" << names << ")$'\n";
  };
  os << "\n  roles:\n";
  for (const RoleLine &role : function.roles)
    os << llvm::formatv("  {0,-20} {1} {2} ({3})\n", spellRole(role.role),
                        role.name, role.type, role.source);
  flag("params", [](const RoleLine &role) { return role.isParameter; });
  flag("inputs", [](const RoleLine &role) { return role.role == Role::Input; });
  flag("freeze",
       [](const RoleLine &role) { return role.role == Role::FrozenParameter; });
  flag("donate", [](const RoleLine &role) { return role.role == Role::State; });
}

void mlir::es::printText(const MemoryReport &report, raw_ostream &os) {
  if (report.sweep)
    printSweep(report, os);
  if (report.max)
    printMax(report, os);
  for (const FunctionReport &function : report.functions) {
    os << "@" << function.name << "\n";
    printVerdict(report, function, os);
    printRows(function, os);
    printPerDevice(function, os);
    os << "\n";
    printParameters(function, os);
    for (const GraphReport &graph : function.graphs) {
      printBuffers(graph, os);
      printDonations(graph, report.options.top, os);
      for (const std::string &note : graph.notes)
        os << "  note: " << note << "\n";
      if (graph.timeline.empty())
        continue;
      os << "\n  live bytes by program point:\n";
      for (auto [point, bytes] : llvm::enumerate(graph.timeline))
        os << "  " << point << " " << bytes << "\n";
    }
    for (const auto &[kind, why] : function.missing)
      os << "\n  note: " << kind << " is not reported: " << why << "\n";
    if (report.options.printRoles)
      printRoles(function, os);
    for (const std::string &text : function.explanation)
      os << "  " << text << "\n";
    os << "\n";
  }
  if (!report.others.empty())
    os << "other public functions (--entry=@name for the whole report):\n";
  for (const auto &[name, peak] : report.others)
    os << "  @" << name << ": peak " << quote(peak) << "\n";
}
