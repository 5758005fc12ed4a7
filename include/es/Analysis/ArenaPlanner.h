//===- ArenaPlanner.h - Offsets for buffers ---------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Places buffers with known live ranges in one arena so that two that are live
// at the same time do not overlap. Plain C++: no MLIR types.
//
//===----------------------------------------------------------------------===//

#ifndef ES_ANALYSIS_ARENAPLANNER_H
#define ES_ANALYSIS_ARENAPLANNER_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace mlir::es {

/// A request for `size` bytes during the points `first` to `last`, inclusive.
struct PlannerBuffer {
  uint64_t size;
  uint32_t first;
  uint32_t last;
};

struct Plan {
  /// One offset per request, in the order of the requests.
  std::vector<uint64_t> offsets;
  uint64_t arenaBytes = 0;
};

/// The most bytes requested at any one point: no arena is smaller.
uint64_t getMaxLiveBytes(llvm::ArrayRef<PlannerBuffer> buffers);

/// Greedy best-fit in several orders (earliest first, largest first, ...),
/// bounded work; the smallest arena wins.
Plan planArena(llvm::ArrayRef<PlannerBuffer> buffers, uint64_t alignment = 1);

/// True if no two requests that are live together overlap.
bool isValidPlan(llvm::ArrayRef<PlannerBuffer> buffers, const Plan &plan);

} // namespace mlir::es

#endif // ES_ANALYSIS_ARENAPLANNER_H
