//===- EmitNoise.h - Addressed noise in lanes -------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the generator and the distributions of noise version 1.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_CONVERSION_ESTOVECTOR_EMITNOISE_H
#define ES_LIB_CONVERSION_ESTOVECTOR_EMITNOISE_H

#include "Lanes.h"
#include "es/Dialect/ES/IR/ES.h"

namespace mlir::es::kernel {

/// The round keys of the step, scalars in the low half of i64.
struct RoundKeys {
  /// From the key op's i64, first word low.
  RoundKeys(ImplicitLocOpBuilder &b, Value key);
  SmallVector<Value, 10> first, second;
};

/// Where the words of a block come from; scalars, i64.
struct StreamValues {
  const RoundKeys &keys;
  Value id, pair;
  uint32_t purpose;
};

/// The four words of blocks `block`, `block` + 1, ... as i32 lanes; `block` is
/// an i64, and all lanes are in one group of sixteen.
SmallVector<Value, 4> emitBlocks(const Lanes &l, const StreamValues &stream,
                                 Value block);

/// The key of a step, from i64 scalars.
Value emitStepKey(ImplicitLocOpBuilder &b, Value seed, Value step);

/// Samples a block of a distribution.
unsigned getSamplesPerBlock(NoiseKind noise);

/// Calls `consume` with every sample of blocks in lanes, f32, in order.
void emitSamples(const Lanes &l, NoiseKind noise, ArrayRef<Value> words,
                 llvm::function_ref<void(unsigned, Value)> consume);

/// The same as whole numbers, i32, of rademacher and int8 noise.
void emitIntegerSamples(const Lanes &l, NoiseKind noise, ArrayRef<Value> words,
                        llvm::function_ref<void(unsigned, Value)> consume);

/// The address of the table of int8 noise, made in the module where it is not
/// there yet.
LLVM::GlobalOp getInt8Table(Operation *module, ImplicitLocOpBuilder &b);

/// The same table as a constant.
DenseElementsAttr getInt8Entries(ImplicitLocOpBuilder &b);

/// Sixteen random bits a sample, in i32 lanes: the layout of normal16.
void emitRoundingBits(const Lanes &l, ArrayRef<Value> words,
                      llvm::function_ref<void(unsigned, Value)> consume);

/// Of rademacher noise, the sign bit of -1 samples in place, i32.
Value emitSignBit(const Lanes &l, ArrayRef<Value> words, unsigned sample);

} // namespace mlir::es::kernel

#endif // ES_LIB_CONVERSION_ESTOVECTOR_EMITNOISE_H
