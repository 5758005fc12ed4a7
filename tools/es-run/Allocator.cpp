//===- Allocator.cpp - The memory of the program
//---------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Allocator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

using namespace mlir::es;

static std::unordered_map<void *, uint64_t> live;
static uint64_t liveBytes, peakBytes;

void *memory::allocate(uint64_t bytes) {
  uint64_t padded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void *pointer = std::aligned_alloc(kAlignment, std::max(padded, kAlignment));
  if (!pointer)
    std::abort();
  live[pointer] = padded;
  liveBytes += padded;
  peakBytes = std::max(peakBytes, liveBytes);
  return pointer;
}

void memory::release(void *pointer) {
  auto it = live.find(pointer);
  if (it == live.end())
    return;
  liveBytes -= it->second;
  live.erase(it);
  std::free(pointer);
}

bool memory::isLive(void *pointer) { return live.count(pointer) != 0; }

uint64_t memory::getLiveBytes() { return liveBytes; }
uint64_t memory::getPeakBytes() { return peakBytes; }
void memory::resetPeak() { peakBytes = liveBytes; }

//===----------------------------------------------------------------------===//
// What the compiled program calls
//===----------------------------------------------------------------------===//

extern "C" void *_mlir_memref_to_llvm_alloc(uint64_t bytes) {
  return memory::allocate(bytes);
}
extern "C" void *_mlir_memref_to_llvm_aligned_alloc(uint64_t, uint64_t bytes) {
  return memory::allocate(bytes);
}
extern "C" void _mlir_memref_to_llvm_free(void *pointer) {
  memory::release(pointer);
}
