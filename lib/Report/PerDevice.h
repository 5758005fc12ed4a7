//===- PerDevice.h - What one of several devices holds ----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_REPORT_PERDEVICE_H
#define ES_LIB_REPORT_PERDEVICE_H

#include "es/Report/MemoryReport.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Support/LLVM.h"

namespace mlir::es {

class ShardingReader;

/// What came of making a function local.
struct LocalFunction {
  /// Values whose sharding neither is stated nor follows; they count in full.
  unsigned numUnknown = 0;
  /// Communication that was put in: of values that are needed elsewhere than
  /// they are, and of parts of sums.
  unsigned numReshards = 0, numReductions = 0;
  /// Devices that values are on alone.
  SmallVector<int64_t> maximalDevices;
};

/// True if some sharding of `func` splits a value or places it on one device.
bool isSharded(FunctionOpInterface func, ShardingReader &reader);

/// Gives every value of `func` the shape it has on one device: the most loaded
/// one where shapes do not divide evenly. What is on one device alone has no
/// elements unless that is `device`.
LocalFunction makeLocal(FunctionOpInterface func, ShardingReader &reader,
                        int64_t device);

/// Adds what the most loaded device holds to the graphs of `report`, if `func`
/// is sharded.
LogicalResult addPerDevice(ModuleOp module, FunctionOpInterface func,
                           const ReportOptions &options,
                           FunctionReport &report);

} // namespace mlir::es

#endif // ES_LIB_REPORT_PERDEVICE_H
