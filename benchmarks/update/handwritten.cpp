//===- handwritten.cpp - The update kernel, written by hand ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f32 storage, normal16 noise, sgd: the arithmetic of the compiled kernel as
// one would write it to be fast. Sixteen lanes in the vectors that GCC and
// clang both have, without an intrinsic of a machine; the generator in lanes of
// 64 bits, even and odd ones apart, so that a product is one instruction. The
// tile's sums stay in the first cache while all pairs pass over them.
//
// Compiled with -ffp-contract=fast: every product that meets a sum here is an
// fma in the definition of the noise. The bits are compared before anything is
// measured.
//
//===----------------------------------------------------------------------===//

#include "es/Reference/NoiseVersion1.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

using namespace mlir::es::noise;

typedef float F __attribute__((vector_size(64)));
typedef int32_t I __attribute__((vector_size(64)));
typedef uint32_t U __attribute__((vector_size(64)));
typedef uint64_t Q __attribute__((vector_size(64)));

static constexpr int kLanes = 16, kTile = 2048, kRun = 128;

static inline F toFloat(I value) { return __builtin_convertvector(value, F); }

static inline F squareRoot(F value) {
#ifdef __clang__
  return __builtin_elementwise_sqrt(value);
#else
  for (int i = 0; i < kLanes; ++i)
    value[i] = __builtin_sqrtf(value[i]);
  return value;
#endif
}

struct Keys {
  uint64_t first[kPhiloxRounds], second[kPhiloxRounds];
};

/// Every other of sixteen blocks; the upper halves of lanes are not clean.
struct Half {
  Q c0, c1, c2, c3;

  inline void round(uint64_t k0, uint64_t k1) {
    Q p0 = (c0 & 0xffffffff) * uint64_t(kPhiloxMultiplier0);
    Q p1 = (c2 & 0xffffffff) * uint64_t(kPhiloxMultiplier1);
    c0 = (p1 >> 32) ^ c1 ^ k0;
    c1 = p1;
    c2 = (p0 >> 32) ^ c3 ^ k1;
    c3 = p0;
  }
};

static inline U join(Q even, Q odd) {
  return U((even & 0xffffffff) | (odd << 32));
}

template <unsigned N> static inline F horner(const float (&c)[N], F x) {
  F value = x * c[N - 1] + c[N - 2];
  for (int i = N - 3; i >= 0; --i)
    value = value * x + c[i];
  return value;
}

/// The sine and the cosine of a word, weighted and added.
static inline void addWord(F *sums, U word, float c) {
  I bits = I(toFloat(I(word >> 15 | 1)));
  F e = toFloat((bits >> 23) - 144);
  F m = F((bits & 0x7fffff) | 0x3f800000);
  F radius = squareRoot(e * kMinusTwoLn2 + horner(kLog16, m));
  F x = toFloat(I(word << 16) >> 15 | 1) * 0x1p-16f;
  F square = x * x, sh = x * horner(kSin16, square);
  sums[0] += radius * (sh * horner(kCos16, square)) * c;
  sums[1] += radius * (1.0f - sh * sh) * c;
}

extern "C" void handwritten(float *theta, int64_t n, uint64_t key, uint32_t id,
                            const float *coefficients, int64_t pairs,
                            float alpha) {
  Keys keys;
  for (unsigned round = 0; round < kPhiloxRounds; ++round) {
    keys.first[round] = uint32_t(uint32_t(key) + round * kPhiloxWeyl0);
    keys.second[round] = uint32_t(uint32_t(key >> 32) + round * kPhiloxWeyl1);
  }
  const Q zero = {}, ramp = {0, 2, 4, 6, 8, 10, 12, 14};
  F sums[kTile / kLanes];
  for (int64_t first = 0; first < n; first += kTile) {
    int64_t count = std::min<int64_t>(kTile, n - first);
    std::memset(sums, 0, sizeof sums);
    for (int64_t p = 0; p < pairs; ++p) {
      if (coefficients[p] == 0)
        continue;
      for (int64_t run = 0; run < (count + kRun - 1) / kRun; ++run) {
        uint64_t block = uint64_t(first / kRun + run) * kLanes;
        Q high = zero + (block >> 32);
        Half even{ramp + (block & 0xffffffff), high, zero + uint64_t(p),
                  zero + uint64_t(id)};
        Half odd = even;
        odd.c0 += 1;
        for (unsigned round = 0; round < kPhiloxRounds; ++round) {
          even.round(keys.first[round], keys.second[round]);
          odd.round(keys.first[round], keys.second[round]);
        }
        F *sum = sums + run * (kRun / kLanes);
        addWord(sum, join(even.c0, odd.c0), coefficients[p]);
        addWord(sum + 2, join(even.c1, odd.c1), coefficients[p]);
        addWord(sum + 4, join(even.c2, odd.c2), coefficients[p]);
        addWord(sum + 6, join(even.c3, odd.c3), coefficients[p]);
      }
    }
    const float *sum = reinterpret_cast<const float *>(sums);
    for (int64_t i = 0; i < count; ++i)
      theta[first + i] += alpha * sum[i];
  }
}
