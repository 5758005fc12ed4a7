//===- Allocator.h - The memory of the program -------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Serves the allocations of the compiled program and counts the bytes that are
// live.
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_ES_RUN_ALLOCATOR_H
#define ES_TOOLS_ES_RUN_ALLOCATOR_H

#include <cstdint>

namespace mlir::es::memory {

/// What buffers are rounded up to.
constexpr uint64_t kAlignment = 64;

void *allocate(uint64_t bytes);
/// Does nothing with what is not ours.
void release(void *pointer);
/// True if `pointer` is what allocate() returned and was not released since.
bool isLive(void *pointer);
uint64_t getLiveBytes();
/// The most bytes since the last call of resetPeak().
uint64_t getPeakBytes();
void resetPeak();

} // namespace mlir::es::memory

#endif // ES_TOOLS_ES_RUN_ALLOCATOR_H
