//===- MembersInFlight.h - Members that run side by side --------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over members becomes one over groups of them: what depends on the
// member is there once for each, the rest once for the group.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_TRAINING_MEMBERSINFLIGHT_H
#define ES_LIB_TRAINING_MEMBERSINFLIGHT_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::es {

/// Replaces `loop`, which counts the members of `step` from 0 to `population`,
/// carries their fitness and nothing else, by a loop over groups of `count`
/// members and, behind it, the members that are left.
void runInFlight(FunctionOpInterface step, scf::ForOp loop, unsigned population,
                 unsigned count);

} // namespace mlir::es

#endif // ES_LIB_TRAINING_MEMBERSINFLIGHT_H
