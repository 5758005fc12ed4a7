//===- PerDeviceReport.cpp - The report of the most loaded device ---------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices differ where values are on one of them alone: each of these is
// analysed, and one of the others.
//
//===----------------------------------------------------------------------===//

#include "FunctionBuilder.h"
#include "PerDevice.h"
#include "es/OpModel/Sharding.h"

#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace mlir::es;

/// No device that has anything for itself.
static constexpr int64_t kAnyDevice = -1;

static FunctionOpInterface findFunction(ModuleOp module, StringRef name) {
  FunctionOpInterface found;
  module.walk<WalkOrder::PreOrder>([&](FunctionOpInterface func) {
    if (!found && func.getName() == name)
      found = func;
    return WalkResult::skip();
  });
  return found;
}

static DeviceReport summarize(const GraphReport &graph,
                              const LocalFunction &local, int64_t numDevices) {
  DeviceReport device;
  device.numDevices = numDevices;
  device.peakBytes = graph.peakBytes;
  device.arenaBytes = graph.arenaBytes;
  device.temporaryPeakBytes = graph.temporaryPeakBytes;
  device.signature = graph.signature;
  device.breakdown = graph.breakdown;
  device.numUnknown = local.numUnknown;
  device.numReshards = local.numReshards;
  device.numReductions = local.numReductions;
  return device;
}

static void addNotes(GraphReport &graph, const ShardingReader &reader) {
  const DeviceReport &device = *graph.perDevice;
  if (device.numUnknown)
    graph.notes.push_back(
        "per device: " + std::to_string(device.numUnknown) +
        " values have no sharding that is stated or follows; they count in "
        "full, so that the totals of a device are at most these");
  if (device.numReshards || device.numReductions)
    graph.notes.push_back(
        "per device: " + std::to_string(device.numReshards) +
        " values are communicated to be split otherwise, " +
        std::to_string(device.numReductions) +
        " sums are added up over devices; each has a buffer of its own");
  if (!reader.getUnreadable().empty())
    graph.notes.push_back("per device: a sharding cannot be read and counts as "
                          "none: " +
                          reader.getUnreadable().str());
}

/// Analyses `func` as `device` runs it. `found` hears which devices have values
/// alone.
static LogicalResult analyse(ModuleOp module, FunctionOpInterface func,
                             const ReportOptions &options, int64_t device,
                             FunctionReport &report,
                             SmallVectorImpl<int64_t> &found) {
  OwningOpRef<ModuleOp> copy = module.clone();
  FunctionOpInterface local = findFunction(*copy, func.getName());
  ShardingReader reader(module);
  LocalFunction made = makeLocal(local, reader, device);
  found.assign(made.maximalDevices.begin(), made.maximalDevices.end());
  ModuleParameters parameters(*copy);
  FunctionBuilder builder(local, options, parameters);
  if (failed(builder.computeInventory()))
    return failure();
  FailureOr<FunctionReport> built = builder.build();
  if (failed(built))
    return failure();
  for (GraphReport &graph : report.graphs)
    for (const GraphReport &other : built->graphs) {
      if (other.kind != graph.kind || other.label != graph.label ||
          (graph.perDevice && graph.perDevice->peakBytes >= other.peakBytes))
        continue;
      graph.perDevice = summarize(other, made, reader.getNumDevices());
    }
  return success();
}

LogicalResult mlir::es::addPerDevice(ModuleOp module, FunctionOpInterface func,
                                     const ReportOptions &options,
                                     FunctionReport &report) {
  ShardingReader reader(module);
  if (!isSharded(func, reader))
    return success();
  ReportOptions plain = options;
  plain.explain.clear();
  plain.liveRanges.clear();
  plain.timeline = false;
  plain.top = 0;
  plain.isTrial = true;
  SmallVector<int64_t> alone, ignored;
  if (failed(analyse(module, func, plain, kAnyDevice, report, alone)))
    return failure();
  for (int64_t device : alone)
    if (failed(analyse(module, func, plain, device, report, ignored)))
      return failure();
  for (GraphReport &graph : report.graphs)
    if (graph.perDevice)
      addNotes(graph, reader);
  return success();
}
