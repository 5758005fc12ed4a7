//===- measure.cpp - Compiled kernels against the one by hand -------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Processor time of this thread, the kernels in turn, the least of many rounds.
//   measure [rounds] [name rate]...
// with the G samples/s of loops measured elsewhere, to print ratios.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
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
void _mlir_ciface_normal16_bf16_few(Memref *, Memref *, int64_t);
void _mlir_ciface_normal16_f32_few(Memref *, Memref *, int64_t);
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
  Memref few{c.data(), c.data(), 0, 8, 1};
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

  const int64_t side = 4096, lowRankPairs = 128;
  std::vector<float> matrix(side * side, 0.5f), many(lowRankPairs, 0.25f);
  Memref2 square{matrix.data(), matrix.data(), 0, {side, side}, {side, 1}};
  Memref manyCoefficients{many.data(), many.data(), 0, lowRankPairs, 1};

  struct {
    const char *name;
    std::function<void()> run;
    int64_t samples;
    double least = 1e9;
  } kernels[] = {
      {"normal16 f32", [&] { _mlir_ciface_normal16_f32(&w, &m, key); },
       n * pairs},
      {"by hand, clang",
       [&] {
         HANDWRITTEN_CLANG(other.data(), n, key, 7, c.data(), pairs, alpha);
       },
       n * pairs},
      {"by hand, gcc",
       [&] {
         HANDWRITTEN_GCC(other.data(), n, key, 7, c.data(), pairs, alpha);
       },
       n * pairs},
      {"normal16 bf16", [&] { _mlir_ciface_normal16_bf16(&h, &m, key); },
       n * pairs},
      {"bf16, N = 16", [&] { _mlir_ciface_normal16_bf16_few(&h, &few, key); },
       n * 8},
      {"f32, N = 16", [&] { _mlir_ciface_normal16_f32_few(&w, &few, key); },
       n * 8},
      {"normal32 f32", [&] { _mlir_ciface_normal32_f32(&w, &m, key); },
       n * pairs},
      {"rademacher f32", [&] { _mlir_ciface_rademacher_f32(&w, &m, key); },
       n * pairs},
      {"low rank, r = 1",
       [&] { _mlir_ciface_low_rank_f32(&square, &manyCoefficients, key); },
       side * side * lowRankPairs},
  };
  for (int round = 0; round < rounds; ++round)
    for (auto &kernel : kernels) {
      double start = now();
      kernel.run();
      kernel.least = std::min(kernel.least, now() - start);
    }
  std::map<std::string, double> rates;
  for (auto &kernel : kernels) {
    rates[kernel.name] = kernel.samples / kernel.least * 1e-9;
    std::printf("%-16s %7.2f G samples/s\n", kernel.name, rates[kernel.name]);
  }
  for (int i = 2; i + 1 < argc; i += 2) {
    rates[argv[i]] = std::atof(argv[i + 1]);
    std::printf("%-16s %7.2f G samples/s\n", argv[i], rates[argv[i]]);
  }
  rates["the better by hand"] =
      std::max(rates["by hand, clang"], rates["by hand, gcc"]);
  const char *ratios[][2] = {{"normal16 f32", "the better by hand"},
                             {"normal16 f32", "PyTorch loop"},
                             {"normal16 f32", "NumPy loop"},
                             {"normal16 bf16", "normal16 f32"},
                             {"bf16, N = 16", "f32, N = 16"},
                             {"rademacher f32", "normal16 f32"},
                             {"low rank, r = 1", "normal16 f32"}};
  for (auto [kernel, of] : ratios)
    if (rates.count(of))
      std::printf("%-16s %7.2f of %s\n", kernel, rates[kernel] / rates[of], of);

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
