//===- LargestFirst.h - Placement by size -----------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_ANALYSIS_LARGESTFIRST_H
#define ES_LIB_ANALYSIS_LARGESTFIRST_H

#include "es/Analysis/ArenaPlanner.h"
#include <optional>

namespace mlir::es {

/// Each buffer, the largest first, goes into the smallest gap between those
/// already placed that are live with it. `sections` are the times of the
/// buffers, numbered so that few are empty. Nullopt once more than `limit`
/// ranges were looked at.
std::optional<Plan>
placeLargestFirst(llvm::ArrayRef<PlannerBuffer> buffers,
                  llvm::ArrayRef<std::pair<uint32_t, uint32_t>> sections,
                  uint64_t alignment, uint64_t limit);

} // namespace mlir::es

#endif // ES_LIB_ANALYSIS_LARGESTFIRST_H
