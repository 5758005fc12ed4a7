//===- OrderedPlacement.h - Placement in a given order ----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_ANALYSIS_ORDEREDPLACEMENT_H
#define ES_LIB_ANALYSIS_ORDEREDPLACEMENT_H

#include "es/Analysis/ArenaPlanner.h"
#include <optional>

namespace mlir::es {

/// Each buffer, in the order given, goes into the smallest gap between those
/// already placed that are live with it. `sections` are the times of the
/// buffers, numbered so that few are empty. Ranges looked at are taken off
/// `steps`; nullopt where there are not enough.
std::optional<Plan>
placeInOrder(llvm::ArrayRef<PlannerBuffer> buffers,
             llvm::ArrayRef<std::pair<uint32_t, uint32_t>> sections,
             llvm::ArrayRef<uint32_t> order, uint64_t alignment,
             uint64_t &steps);

} // namespace mlir::es

#endif // ES_LIB_ANALYSIS_ORDEREDPLACEMENT_H
