//===- CountingAllocator.h - An allocator that keeps books ------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Serves the allocations of a compiled program, counts the live bytes, and
// catches leaks, double frees, and writes to freed memory. Fresh and freed
// memory hold a pattern of NaNs, so that reading either changes the results.
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_TEST_ES_RUN_COUNTINGALLOCATOR_H
#define ES_TOOLS_TEST_ES_RUN_COUNTINGALLOCATOR_H

#include <cstddef>
#include <cstdint>

namespace mlir::es::counting {

struct Counts {
  uint64_t liveBytes = 0;
  uint64_t peakBytes = 0;
  unsigned liveBlocks = 0;
  unsigned invalidFrees = 0;
  unsigned writesAfterFree = 0;
};

/// Forgets everything; memory of earlier runs is given back.
void reset();
void *allocate(uint64_t size, uint64_t alignment);
void release(void *pointer);
/// Checks freed memory for writes and returns the books.
Counts getCounts();

} // namespace mlir::es::counting

#endif // ES_TOOLS_TEST_ES_RUN_COUNTINGALLOCATOR_H
