//===- CountingAllocator.cpp - An allocator that keeps books --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CountingAllocator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace mlir::es;

namespace {
struct BlockInfo {
  uint64_t size;
  bool isLive;
};
} // namespace

/// A byte that reads as NaN in every float type.
static constexpr unsigned char kPoison = 0xff;

static std::map<void *, BlockInfo> blocks;
static counting::Counts counts;

void counting::reset() {
  for (auto &[pointer, block] : blocks)
    std::free(pointer);
  blocks.clear();
  counts = Counts();
}

void *counting::allocate(uint64_t size, uint64_t alignment) {
  alignment = std::max<uint64_t>(alignment, 16);
  uint64_t padded = std::max<uint64_t>(
      (size + alignment - 1) / alignment * alignment, alignment);
  void *pointer = std::aligned_alloc(alignment, padded);
  if (!pointer)
    std::abort();
  std::memset(pointer, kPoison, padded);
  blocks[pointer] = {size, true};
  counts.liveBytes += size;
  counts.peakBytes = std::max(counts.peakBytes, counts.liveBytes);
  ++counts.liveBlocks;
  return pointer;
}

/// The memory stays ours until the next reset: later writes to it are seen.
void counting::release(void *pointer) {
  auto it = blocks.find(pointer);
  if (it == blocks.end() || !it->second.isLive) {
    ++counts.invalidFrees;
    return;
  }
  it->second.isLive = false;
  std::memset(pointer, kPoison, it->second.size);
  counts.liveBytes -= it->second.size;
  --counts.liveBlocks;
}

counting::Counts counting::getCounts() {
  counts.writesAfterFree = 0;
  for (auto &[pointer, block] : blocks) {
    const auto *bytes = static_cast<const unsigned char *>(pointer);
    if (!block.isLive &&
        std::any_of(bytes, bytes + block.size,
                    [](unsigned char byte) { return byte != kPoison; }))
      ++counts.writesAfterFree;
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// What compiled programs call
//===----------------------------------------------------------------------===//

extern "C" void *_mlir_memref_to_llvm_alloc(uint64_t size) {
  return counting::allocate(size, 1);
}
extern "C" void *_mlir_memref_to_llvm_aligned_alloc(uint64_t alignment,
                                                    uint64_t size) {
  return counting::allocate(size, alignment);
}
extern "C" void _mlir_memref_to_llvm_free(void *pointer) {
  counting::release(pointer);
}
