//===- clock.cpp - Cycles a sample of the normal16 kernel -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The clock is what a chain of dependent additions says, one a cycle, in turns
// with the kernel: no counter is needed. Prints GHz and cycles a sample.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

struct Memref {
  void *allocated, *data;
  int64_t offset, size, stride;
};
extern "C" void _mlir_ciface_normal16_f32(Memref *, Memref *, int64_t);

static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

int main() {
  const int64_t n = 1 << 20, pairs = 32, additions = 1 << 24;
  std::vector<float> c(pairs, 0.5f), theta(n, 0.5f);
  Memref w{theta.data(), theta.data(), 0, n, 1};
  Memref m{c.data(), c.data(), 0, pairs, 1};
  double chain = 1e9, kernel = 1e9;
  for (int round = 0; round < 30; ++round) {
    double start = now();
    uint64_t x = 1;
    for (int64_t i = 0; i < additions; i += 16)
      asm volatile(".rept 16\n\tadd %0, %0\n\t.endr" : "+r"(x));
    chain = std::min(chain, now() - start);
    start = now();
    _mlir_ciface_normal16_f32(&w, &m, 1);
    kernel = std::min(kernel, now() - start);
  }
  double clock = double(additions) / chain;
  std::printf("%.9g %.9g\n", clock * 1e-9, kernel * clock / double(n * pairs));
  return 0;
}
