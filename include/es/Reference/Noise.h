//===- Noise.h - Addressed noise, one value at a time -*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A noise value is a function of (seed, step, parameter id, pair, purpose,
// element). Slow and obvious: every value runs the generator anew.
//
//===----------------------------------------------------------------------===//

#ifndef ES_REFERENCE_NOISE_H
#define ES_REFERENCE_NOISE_H

#include <array>
#include <cstdint>

namespace mlir::es::reference {

using Words = std::array<uint32_t, 4>;
using Key = std::array<uint32_t, 2>;

/// philox4x32-10.
Words philox(Words counter, Key key);

/// The key of one step.
Key getStepKey(uint64_t seed, uint64_t step);

/// FNV-1a, 32 bits.
uint32_t hashName(const char *name);

enum class Noise { normal16, normal32, rademacher, int8, uniform };

/// Which parameter, pair and purpose a stream of elements is for.
struct Stream {
  Key key;
  uint32_t id = 0;
  uint32_t pair = 0;
  uint32_t purpose = 0;
};

/// The four words of block `block`, of which 56 bits count.
Words getBlock(const Stream &stream, uint64_t block);

/// Where element `element` is: a block, and a sample of those it holds.
struct Place {
  uint64_t block;
  unsigned sample;
};
/// `samples` a block, a power of two: sixteen consecutive elements come from
/// sixteen consecutive blocks.
Place getPlace(uint64_t element, unsigned samples);
unsigned getSamplesPerBlock(Noise noise);

/// One noise value. Of int8 noise a sixteenth of the table's entry.
float getSample(const Stream &stream, Noise noise, uint64_t element);

/// The same of rademacher and int8 noise as an integer: +-1, a table's entry.
int32_t getIntegerSample(const Stream &stream, Noise noise, uint64_t element);

/// Sixteen random bits for stochastic rounding.
uint32_t getRoundingBits(const Stream &stream, uint64_t element);

// The pieces of the normal transforms, for tests of their accuracy.

/// sqrt(-2 log((h + 1/2) / 2^16)).
float getRadius16(uint32_t h);
/// {sin, cos} of 2 pi (l + 1/2) / 2^16.
std::array<float, 2> getSinCos16(uint32_t l);
/// sqrt(-2 log u) of u = fma(f32(w), 2^-32, 2^-33).
float getRadius32(uint32_t w);
/// {sin, cos} of pi (w + 1/2) / 2^31.
std::array<float, 2> getSinCos32(uint32_t w);

} // namespace mlir::es::reference

#endif // ES_REFERENCE_NOISE_H
