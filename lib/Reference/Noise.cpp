//===- Noise.cpp - Addressed noise, one value at a time===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Reference/Noise.h"
#include "es/Reference/NoiseVersion1.h"

#include <cmath>
#include <cstring>

using namespace mlir::es::noise;
using namespace mlir::es::reference;

//===----------------------------------------------------------------------===//
// The generator and its addresses
//===----------------------------------------------------------------------===//

Words mlir::es::reference::philox(Words c, Key k) {
  for (unsigned round = 0; round < kPhiloxRounds; ++round) {
    uint64_t p0 = uint64_t(kPhiloxMultiplier0) * c[0];
    uint64_t p1 = uint64_t(kPhiloxMultiplier1) * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k[0], uint32_t(p1),
         uint32_t(p0 >> 32) ^ c[3] ^ k[1], uint32_t(p0)};
    k = {k[0] + kPhiloxWeyl0, k[1] + kPhiloxWeyl1};
  }
  return c;
}

Key mlir::es::reference::getStepKey(uint64_t seed, uint64_t step) {
  Words words = philox({uint32_t(step), uint32_t(step >> 32), kStepKeyTag, 1},
                       {uint32_t(seed), uint32_t(seed >> 32)});
  return {words[0], words[1]};
}

uint32_t mlir::es::reference::hashName(const char *name) {
  uint32_t hash = 2166136261u;
  for (; *name; ++name)
    hash = (hash ^ uint8_t(*name)) * 16777619u;
  return hash;
}

Words mlir::es::reference::getBlock(const Stream &stream, uint64_t block) {
  return philox({uint32_t(block),
                 stream.purpose << 24 | (uint32_t(block >> 32) & 0xffffff),
                 stream.pair, stream.id},
                stream.key);
}

Place mlir::es::reference::getPlace(uint64_t element, unsigned samples) {
  uint64_t run = 16 * uint64_t(samples);
  return {element / run * 16 + element % 16, unsigned(element / 16 % samples)};
}

unsigned mlir::es::reference::getSamplesPerBlock(Noise noise) {
  switch (noise) {
  case Noise::normal16:
  case Noise::uniform:
    return 8;
  case Noise::normal32:
    return 4;
  case Noise::int8:
    return 16;
  case Noise::rademacher:
    return 128;
  }
  __builtin_unreachable();
}

//===----------------------------------------------------------------------===//
// The normal transforms
//===----------------------------------------------------------------------===//

/// Horner's rule, an explicit fma a step.
template <unsigned N> static float evaluate(const float (&c)[N], float x) {
  float value = c[N - 1];
  for (unsigned i = N - 1; i > 0; --i)
    value = std::fma(value, x, c[i - 1]);
  return value;
}

static float toFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

static uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

float mlir::es::reference::getRadius16(uint32_t h) {
  // u = t / 2^16 = 2^e m with m in [1, 2).
  float t = float(h) + 0.5f;
  uint32_t bits = toBits(t);
  int32_t e = int32_t(bits >> 23) - 127 - 16;
  float m = toFloat((bits & 0x7fffff) | 0x3f800000);
  return std::sqrt(std::fma(float(e), kMinusTwoLn2, evaluate(kLog16, m)));
}

/// x is the angle over pi; the half angle gives both.
template <unsigned NS, unsigned NC>
static std::array<float, 2> getSinCos(const float (&s)[NS],
                                      const float (&c)[NC], float x) {
  float square = x * x;
  float sh = x * evaluate(s, square);
  float ch = evaluate(c, square);
  return {sh * ch, std::fma(-sh, sh, 1.0f)};
}

std::array<float, 2> mlir::es::reference::getSinCos16(uint32_t l) {
  // In [-1, 1), exact.
  float x = (float(int16_t(l)) + 0.5f) * 0x1p-15f;
  return getSinCos(kSin16, kCos16, x);
}

float mlir::es::reference::getRadius32(uint32_t w) {
  float u = std::fma(float(w), 0x1p-32f, 0x1p-33f);
  // u = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)): near u = 1 nothing
  // cancels.
  uint32_t shifted = toBits(u) - kSqrtHalfBits;
  int32_t e = int32_t(shifted) >> 23;
  float f = toFloat((shifted & 0x7fffff) + kSqrtHalfBits) - 1.0f;
  return std::sqrt(std::fma(float(e), kMinusTwoLn2, f * evaluate(kLog32, f)));
}

std::array<float, 2> mlir::es::reference::getSinCos32(uint32_t w) {
  float x = std::fma(float(int32_t(w)), 0x1p-31f, 0x1p-32f);
  return getSinCos(kSin32, kCos32, x);
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

static uint32_t getHalf(const Words &words, unsigned sample) {
  return words[sample >> 1] >> (sample & 1 ? 16 : 0) & 0xffff;
}

static float getNormal16(const Words &words, unsigned sample) {
  uint32_t word = words[sample >> 1];
  return getRadius16(word >> 16) * getSinCos16(word & 0xffff)[sample & 1];
}

static float getNormal32(const Words &words, unsigned sample) {
  unsigned first = sample & 2;
  return getRadius32(words[first]) * getSinCos32(words[first + 1])[sample & 1];
}

static float getUniform(const Words &words, unsigned sample) {
  float x = (float(int16_t(getHalf(words, sample))) + 0.5f) * 0x1p-15f;
  return x * kSqrt3;
}

int32_t mlir::es::reference::getIntegerSample(const Stream &stream, Noise noise,
                                              uint64_t element) {
  Place place = getPlace(element, getSamplesPerBlock(noise));
  Words words = getBlock(stream, place.block);
  if (noise == Noise::rademacher)
    return words[place.sample >> 5] >> (place.sample & 31) & 1 ? 1 : -1;
  unsigned byte = words[place.sample >> 2] >> 8 * (place.sample & 3) & 255;
  return byte < 128 ? -kInt8UpperHalf[127 - byte] : kInt8UpperHalf[byte - 128];
}

float mlir::es::reference::getSample(const Stream &stream, Noise noise,
                                     uint64_t element) {
  if (noise == Noise::rademacher)
    return float(getIntegerSample(stream, noise, element));
  if (noise == Noise::int8)
    return float(getIntegerSample(stream, noise, element)) * kInt8Scale;
  Place place = getPlace(element, getSamplesPerBlock(noise));
  Words words = getBlock(stream, place.block);
  if (noise == Noise::normal16)
    return getNormal16(words, place.sample);
  if (noise == Noise::normal32)
    return getNormal32(words, place.sample);
  return getUniform(words, place.sample);
}

uint32_t mlir::es::reference::getRoundingBits(const Stream &stream,
                                              uint64_t element) {
  Place place = getPlace(element, 8);
  return getHalf(getBlock(stream, place.block), place.sample);
}
