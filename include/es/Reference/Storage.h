//===- Storage.h - Rounding to storage types -*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Float formats of 16 bits, from and to f32, in integer arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef ES_REFERENCE_STORAGE_H
#define ES_REFERENCE_STORAGE_H

#include <cstdint>

namespace mlir::es::reference {

enum class Storage { f32, f64, bf16, f16, i8, i16, i32 };

unsigned getBytes(Storage storage);
inline bool isInteger(Storage storage) { return storage >= Storage::i8; }

float fromBf16(uint16_t bits);
float fromF16(uint16_t bits);

/// To nearest, ties to even.
uint16_t toBf16(float value);
uint16_t toF16(float value);

/// Away from zero with the probability of what is cut off; `random` has 16
/// bits. Of bf16 these are the bits that are cut off; of f16 the upper 13, and
/// all of them where f16 is subnormal.
uint16_t toBf16(float value, uint32_t random);
uint16_t toF16(float value, uint32_t random);

/// An element of a tensor, exact in a double.
double load(Storage storage, const void *data, uint64_t element);

} // namespace mlir::es::reference

#endif // ES_REFERENCE_STORAGE_H
