//===- Samples.h - One element at a time ------------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For backends that work on single elements: the noise of an element at any
// address, and sums over pairs that stay in registers.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_CONVERSION_ESTOVECTOR_SAMPLES_H
#define ES_LIB_CONVERSION_ESTOVECTOR_SAMPLES_H

#include "Kernel.h"

namespace mlir::es::kernel {

/// The noise of an element, i64: f32, or i32 as whole numbers. `entryAt` emits
/// the entry of the table of int8 noise at an i32, as i32.
Value emitSampleAt(const Lanes &s, NoiseKind noise, bool whole,
                   const StreamValues &stream, Value element,
                   llvm::function_ref<Value(Value)> entryAt);

/// Sixteen random bits of an element, i32.
Value emitRandomAt(const Lanes &s, const StreamValues &stream, Value element);

/// Where the noise of an element comes from.
struct ElementNoise {
  const RoundKeys &keys;
  Value id, element;
  /// Of a matrix, i64.
  Value rows, columns;
  llvm::function_ref<Value(Value)> entryAt;
};

/// The terms of a pair at an element, added to a sum; with low rank a term a
/// column. Without a coefficient those of a perturbation.
Value emitPairAt(const Lanes &s, const Config &config,
                 const ElementNoise &noise, Value coefficient, Value pair,
                 Value sum);

/// Sums over pairs [0, pairs) in the order of the kernel: `addPair` adds the
/// terms of one to sums.
SmallVector<Value> emitSumsOver(
    const Lanes &s, const Config &config, Value pairs, unsigned count,
    llvm::function_ref<Value(Value)> coefficientAt,
    llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange)> addPair);

} // namespace mlir::es::kernel

#endif // ES_LIB_CONVERSION_ESTOVECTOR_SAMPLES_H
