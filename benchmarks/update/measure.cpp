//===- measure.cpp - Compiled kernels against the one by hand -------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Processor time of this thread, the kernels in turn, the least of many rounds.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

struct Memref {
  void *allocated, *data;
  int64_t offset, size, stride;
};
struct Memref2 {
  void *allocated, *data;
  int64_t offset, sizes[2], strides[2];
};
extern "C" {
void _mlir_ciface_low_rank_f32(Memref2 *, Memref *, int64_t);
void _mlir_ciface_normal16_f32(Memref *, Memref *, int64_t);
void _mlir_ciface_normal16_f32_two(Memref *, Memref *, int64_t);
void _mlir_ciface_low_rank_f32_two(Memref2 *, Memref *, int64_t);
void _mlir_ciface_rademacher_f32_two(Memref *, Memref *, int64_t);
void _mlir_ciface_normal16_bf16(Memref *, Memref *, int64_t);
void _mlir_ciface_normal32_f32(Memref *, Memref *, int64_t);
void _mlir_ciface_rademacher_f32(Memref *, Memref *, int64_t);
void HANDWRITTEN_CLANG(float *, int64_t, uint64_t, uint32_t, const float *,
                       int64_t, float);
void HANDWRITTEN_GCC(float *, int64_t, uint64_t, uint32_t, const float *,
                     int64_t, float);
}

static double now(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  timespec time;
  clock_gettime(clock, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

int main(int argc, char **argv) {
  const int64_t n = 1 << 20, pairs = 32;
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  const uint64_t key = 0x5f27f04a5f5982ee;
  std::vector<float> c(pairs), theta(n, 0.5f), other(n, 0.5f);
  for (int p = 0; p < pairs; ++p)
    c[p] = float(p - 15.5) / 31;
  std::vector<uint16_t> half(n, 0x3f00);
  Memref w{theta.data(), theta.data(), 0, n, 1};
  Memref h{half.data(), half.data(), 0, n, 1};
  Memref m{c.data(), c.data(), 0, pairs, 1};
  // lr / (N sigma) = 0.25 / (32 * 0.5)
  const float alpha = 0.015625f;

  _mlir_ciface_normal16_f32(&w, &m, key);
  HANDWRITTEN_CLANG(other.data(), n, key, 7, c.data(), pairs, alpha);
  bool equal = !std::memcmp(theta.data(), other.data(), 4 * n);
  other.assign(n, 0.5f);
  HANDWRITTEN_GCC(other.data(), n, key, 7, c.data(), pairs, alpha);
  equal &= !std::memcmp(theta.data(), other.data(), 4 * n);
  if (!equal) {
    std::printf("the kernels differ\n");
    return 1;
  }

  const int64_t side = 4096, lowRankPairs = 64;
  std::vector<float> matrix(side * side, 0.5f), many(lowRankPairs, 0.25f);
  Memref2 square{matrix.data(), matrix.data(), 0, {side, side}, {side, 1}};
  Memref manyCoefficients{many.data(), many.data(), 0, lowRankPairs, 1};

  const char *names[] = {"normal16 f32",   "by hand, clang", "by hand, gcc",
                         "normal16 bf16",  "normal32 f32",   "rademacher f32",
                         "low rank, r = 1"};
  double least[7];
  for (double &time : least)
    time = 1e9;
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < 7; ++i) {
      double start = now();
      switch (i) {
      case 0:
        _mlir_ciface_normal16_f32(&w, &m, key);
        break;
      case 1:
        HANDWRITTEN_CLANG(other.data(), n, key, 7, c.data(), pairs, alpha);
        break;
      case 2:
        HANDWRITTEN_GCC(other.data(), n, key, 7, c.data(), pairs, alpha);
        break;
      case 3:
        _mlir_ciface_normal16_bf16(&h, &m, key);
        break;
      case 4:
        _mlir_ciface_normal32_f32(&w, &m, key);
        break;
      case 5:
        _mlir_ciface_rademacher_f32(&w, &m, key);
        break;
      case 6:
        _mlir_ciface_low_rank_f32(&square, &manyCoefficients, key);
        break;
      }
      double time = now() - start;
      if (time < least[i])
        least[i] = time;
    }
  for (int i = 0; i < 7; ++i) {
    double samples = i == 6 ? side * side * lowRankPairs : n * pairs;
    std::printf("%-16s %7.2f G samples/s, %6.2f of normal16 f32\n", names[i],
                samples / least[i] * 1e-9,
                samples / least[i] / (n * pairs / least[0]));
  }

  // Two threads: the time that passes, of both in turns.
  const char *threaded[] = {"normal16 f32", "rademacher f32", "low rank"};
  for (int kernel = 0; kernel < 3; ++kernel) {
    double passed[2] = {1e9, 1e9};
    for (int round = 0; round < 4 * rounds; ++round)
      for (int two = 0; two < 2; ++two) {
        double start = now(CLOCK_MONOTONIC);
        if (kernel == 0)
          (two ? _mlir_ciface_normal16_f32_two
               : _mlir_ciface_normal16_f32)(&w, &m, key);
        else if (kernel == 1)
          (two ? _mlir_ciface_rademacher_f32_two
               : _mlir_ciface_rademacher_f32)(&w, &m, key);
        else
          (two ? _mlir_ciface_low_rank_f32_two
               : _mlir_ciface_low_rank_f32)(&square, &manyCoefficients, key);
        passed[two] = std::min(passed[two], now(CLOCK_MONOTONIC) - start);
      }
    std::printf("two threads, %-14s %6.2f of one\n", threaded[kernel],
                passed[0] / passed[1]);
  }
  return 0;
}
