//===- DeviceKernel.h - A kernel whose sums are registers -------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread works on the samples of one block (of rademacher noise on one of its
// words) and keeps their sums in registers; with low rank, on one element.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_CONVERSION_ESTOGPU_DEVICEKERNEL_H
#define ES_LIB_CONVERSION_ESTOGPU_DEVICEKERNEL_H

#include "../ESToVector/Scalars.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::es::kernel {

/// The arguments of every kernel, in order.
struct LaunchValues {
  /// Tensors and scalars by their place in a row; those of no use are null
  /// pointers and zeros.
  llvm::SmallDenseMap<int64_t, Value> row, step;
};
/// As many values, in the order of the arguments.
SmallVector<Value> getLaunchOperands(ImplicitLocOpBuilder &b,
                                     const LaunchValues &values);

/// A thread of a kernel works on this many elements, sixteen apart.
unsigned getElementsOfThread(const Config &config);

/// The scales of an axis, that a kernel is made for; constant `number` of the
/// kernels' module.
struct DeviceScales {
  Quantum quantum;
  unsigned number = 0;
};

/// The function of a kernel, in the insertion block; of an update with `op`.
gpu::GPUFuncOp createDeviceKernel(ImplicitLocOpBuilder &b, const Config &config,
                                  UpdateOp op, const DeviceScales &scales);

} // namespace mlir::es::kernel

#endif // ES_LIB_CONVERSION_ESTOGPU_DEVICEKERNEL_H
