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

namespace {
/// The layout that compiled programs pass unranked memrefs in.
struct Descriptor {
  char *allocated;
  char *aligned;
  int64_t offset;
  int64_t sizesAndStrides[];
};
struct Unranked {
  int64_t rank;
  Descriptor *descriptor;
};
} // namespace

/// memref.copy between layouts that are not both contiguous, row by row of the
/// last dimension.
extern "C" void memrefCopy(int64_t bytes, void *from, void *to) {
  auto *source = static_cast<Unranked *>(from);
  auto *target = static_cast<Unranked *>(to);
  int64_t rank = source->rank, count = 1;
  const int64_t *sizes = source->descriptor->sizesAndStrides;
  for (int64_t i = 0; i < rank; ++i)
    count *= sizes[i];
  for (int64_t linear = 0; linear < count; ++linear) {
    int64_t rest = linear, read = source->descriptor->offset,
            write = target->descriptor->offset;
    for (int64_t i = rank - 1; i >= 0; --i) {
      read += rest % sizes[i] * sizes[rank + i];
      write += rest % sizes[i] * target->descriptor->sizesAndStrides[rank + i];
      rest /= sizes[i];
    }
    std::memcpy(target->descriptor->aligned + write * bytes,
                source->descriptor->aligned + read * bytes, bytes);
  }
}
