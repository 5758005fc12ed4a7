//===- handwritten.cpp - The update kernel, written by hand
//----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f32 storage, normal16 noise, sgd: the arithmetic of the compiled kernel in
// loops over sixteen lanes that compilers vectorise. Only fma is fused
// (-ffp-contract=off), so that the bits are the same.
//
//===----------------------------------------------------------------------===//

#include "es/Reference/NoiseVersion1.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

using namespace mlir::es::noise;

static inline float toFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

static inline uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

/// Sixteen blocks from `block` on.
static inline void generate(uint32_t (&words)[4][16], uint64_t block,
                            uint32_t pair, uint32_t id, const uint32_t *k0,
                            const uint32_t *k1) {
  uint32_t c0[16], c1[16], c2[16], c3[16];
  for (int i = 0; i < 16; ++i) {
    c0[i] = uint32_t(block) + i;
    c1[i] = uint32_t(block >> 32) & 0xffffff;
    c2[i] = pair;
    c3[i] = id;
  }
  for (unsigned round = 0; round < kPhiloxRounds; ++round)
    for (int i = 0; i < 16; ++i) {
      uint64_t p0 = uint64_t(kPhiloxMultiplier0) * c0[i];
      uint64_t p1 = uint64_t(kPhiloxMultiplier1) * c2[i];
      c0[i] = uint32_t(p1 >> 32) ^ c1[i] ^ k0[round];
      c1[i] = uint32_t(p1);
      c2[i] = uint32_t(p0 >> 32) ^ c3[i] ^ k1[round];
      c3[i] = uint32_t(p0);
    }
  std::memcpy(words[0], c0, 64);
  std::memcpy(words[1], c1, 64);
  std::memcpy(words[2], c2, 64);
  std::memcpy(words[3], c3, 64);
}

template <unsigned N> static inline float horner(const float (&c)[N], float x) {
  float value = c[N - 1];
  for (int i = N - 2; i >= 0; --i)
    value = std::fma(value, x, c[i]);
  return value;
}

static inline void addWords(float *sine, float *cosine,
                            const uint32_t (&word)[16], float c) {
  for (int i = 0; i < 16; ++i) {
    uint32_t bits = toBits(float(int32_t(word[i] >> 15 | 1)));
    float e = float(int32_t(bits >> 23) - 144);
    float m = toFloat((bits & 0x7fffff) | 0x3f800000);
    float radius =
        __builtin_sqrtf(std::fma(e, kMinusTwoLn2, horner(kLog16, m)));
    float x = float(int32_t(word[i] << 16) >> 15 | 1) * 0x1p-16f;
    float square = x * x, sh = x * horner(kSin16, square);
    sine[i] = std::fma(c, radius * (sh * horner(kCos16, square)), sine[i]);
    cosine[i] = std::fma(c, radius * std::fma(-sh, sh, 1.0f), cosine[i]);
  }
}

extern "C" void handwritten(float *theta, int64_t n, uint64_t key, uint32_t id,
                            const float *coefficients, int64_t pairs,
                            float alpha) {
  uint32_t k0[kPhiloxRounds], k1[kPhiloxRounds];
  for (unsigned round = 0; round < kPhiloxRounds; ++round) {
    k0[round] = uint32_t(key) + round * kPhiloxWeyl0;
    k1[round] = uint32_t(key >> 32) + round * kPhiloxWeyl1;
  }
  alignas(64) float sums[2048];
  for (int64_t first = 0; first < n; first += 2048) {
    int64_t count = std::min<int64_t>(2048, n - first);
    std::memset(sums, 0, sizeof sums);
    for (int64_t p = 0; p < pairs; ++p) {
      if (coefficients[p] == 0)
        continue;
      for (int64_t run = 0; run < (count + 127) / 128; ++run) {
        uint32_t words[4][16];
        generate(words, (first / 128 + run) * 16, uint32_t(p), id, k0, k1);
        for (int w = 0; w < 4; ++w)
          addWords(sums + run * 128 + 32 * w, sums + run * 128 + 32 * w + 16,
                   words[w], coefficients[p]);
      }
    }
    for (int64_t i = 0; i < count; ++i)
      theta[first + i] = std::fma(alpha, sums[i], theta[first + i]);
  }
}
