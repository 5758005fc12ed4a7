//===- CheckpointSchedule.cpp - Which states to keep when -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Training/CheckpointSchedule.h"

#include <algorithm>

using namespace mlir::es;

/// With s slots and no step evaluated more than r times, binomial(s + r, s)
/// steps can be reversed. For the least r that suffices for l steps the count
/// is r l - binomial(s + r, s + 1).
uint64_t mlir::es::countAdvances(uint64_t steps, uint64_t slots) {
  if (steps <= 1)
    return 0;
  slots = std::min(slots, steps);
  // Both binomials for r = 0; the next of each exactly divides.
  uint64_t reach = 1, less = 0, repeats = 0;
  while (reach < steps) {
    ++repeats;
    less += reach;
    // No factor exceeds the number of steps, so this does not overflow.
    reach = reach * (slots + repeats) / repeats;
  }
  return repeats * steps - less;
}

/// Where to keep the next state: the first place with the least count. The sum
/// is convex in the place.
static unsigned split(unsigned steps, unsigned slots) {
  auto count = [&](unsigned at) {
    return at + countAdvances(steps - at, slots - 1) + countAdvances(at, slots);
  };
  unsigned first = 1, last = steps - 1;
  while (first < last) {
    unsigned middle = first + (last - first) / 2;
    if (count(middle + 1) < count(middle))
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

std::vector<ReversedStep> mlir::es::scheduleCheckpoints(unsigned steps,
                                                        unsigned slots) {
  struct Part {
    unsigned first, end, slots;
  };
  std::vector<ReversedStep> schedule;
  llvm::SmallVector<unsigned, 2> kept = {0};
  // The parts before a kept state wait until what is behind it is done.
  llvm::SmallVector<Part> parts = {{0, steps, std::max(slots, 1u)}};
  while (!parts.empty()) {
    Part part = parts.pop_back_val();
    if (part.first == part.end)
      continue;
    while (part.end - part.first > 1 && part.slots > 1) {
      unsigned at = part.first + split(part.end - part.first, part.slots);
      kept.push_back(at);
      parts.push_back({part.first, at, part.slots});
      part = {at, part.end, part.slots - 1};
    }
    schedule.push_back({part.end - 1, kept});
    kept.clear();
    parts.push_back({part.first, part.end - 1, part.slots});
  }
  return schedule;
}
