//===- CheckpointSchedule.h - Which states to keep when ---------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binomial checkpointing (Griewank and Walther, Algorithm 799: Revolve, 2000):
// a chain of equal steps is reversed with a fixed number of kept states and the
// least number of steps that are evaluated again.
//
//===----------------------------------------------------------------------===//

#ifndef ES_TRAINING_CHECKPOINTSCHEDULE_H
#define ES_TRAINING_CHECKPOINTSCHEDULE_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace mlir::es {

/// Before the gradient of `step`: evaluate again from the last state that is
/// kept, keeping those that enter the steps `kept` on the way. The state that
/// enters `step` is given up behind its gradient.
struct ReversedStep {
  unsigned step;
  llvm::SmallVector<unsigned, 2> kept;
};

/// The schedule for `steps` steps, last step first, with at most `slots` states
/// kept at any one time. The state that enters step 0 takes the first slot. The
/// first entry is for the forward pass, which starts there.
std::vector<ReversedStep> scheduleCheckpoints(unsigned steps, unsigned slots);

/// The least number of steps that are advanced over, those of the forward pass
/// included; what is evaluated to be differentiated right away is not counted.
uint64_t countAdvances(uint64_t steps, uint64_t slots);

} // namespace mlir::es

#endif // ES_TRAINING_CHECKPOINTSCHEDULE_H
