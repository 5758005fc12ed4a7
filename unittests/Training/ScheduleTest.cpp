//===- ScheduleTest.cpp - Checkpoints of uniform chains -------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Training/CheckpointSchedule.h"

#include <gtest/gtest.h>

using namespace mlir::es;

namespace {
struct Execution {
  uint64_t advances = 0;
  size_t mostKept = 0;
  bool isValid = true;
};
} // namespace

/// Plays the schedule step by step.
static Execution execute(unsigned steps, unsigned slots) {
  Execution result;
  std::vector<unsigned> kept;
  unsigned next = steps;
  for (const ReversedStep &reversed : scheduleCheckpoints(steps, slots)) {
    result.isValid &= reversed.step == --next;
    unsigned state = kept.empty() ? 0 : kept.back();
    result.advances += reversed.step - state;
    for (unsigned at : reversed.kept) {
      result.isValid &= at >= state && at <= reversed.step;
      result.isValid &= kept.empty() ? at == 0 : at > kept.back();
      kept.push_back(at);
    }
    result.mostKept = std::max(result.mostKept, kept.size());
    if (!kept.empty() && kept.back() == reversed.step)
      kept.pop_back();
  }
  result.isValid &= next == 0 && kept.empty();
  return result;
}

// Published for Revolve: the least advances for chains of l steps and c states.
TEST(CheckpointSchedule, NeedsThePublishedAdvances) {
  const unsigned slots[] = {1, 2, 3, 5, 8};
  const struct {
    unsigned steps;
    uint64_t advances[5];
  } published[] = {{10, {45, 20, 15, 13, 10}},
                   {20, {190, 65, 45, 33, 30}},
                   {56, {1540, 340, 210, 140, 113}},
                   {100, {4950, 845, 490, 316, 245}}};
  for (const auto &row : published)
    for (unsigned i = 0; i < 5; ++i) {
      Execution done = execute(row.steps, slots[i]);
      EXPECT_TRUE(done.isValid);
      EXPECT_EQ(done.advances, row.advances[i])
          << row.steps << " steps, " << slots[i] << " states";
      EXPECT_EQ(countAdvances(row.steps, slots[i]), row.advances[i]);
      EXPECT_LE(done.mostKept, slots[i]);
    }
}

// The recurrence that defines the minimum: advance to the next kept state,
// reverse what is behind it with one state less, then what is before it.
TEST(CheckpointSchedule, IsMinimalForAllSmallChains) {
  constexpr unsigned kSteps = 40, kSlots = 12;
  std::vector<std::vector<uint64_t>> least(
      kSteps + 1, std::vector<uint64_t>(kSlots + 1, 0));
  for (unsigned l = 2; l <= kSteps; ++l)
    for (unsigned c = 1; c <= kSlots; ++c) {
      least[l][c] = uint64_t(l) * (l - 1) / 2;
      for (unsigned m = 1; m < l && c > 1; ++m)
        least[l][c] =
            std::min(least[l][c], m + least[l - m][c - 1] + least[m][c]);
      Execution done = execute(l, c);
      EXPECT_TRUE(done.isValid);
      EXPECT_EQ(done.advances, least[l][c]) << l << " steps, " << c;
      EXPECT_EQ(countAdvances(l, c), least[l][c]);
      EXPECT_LE(done.mostKept, c);
    }
}

TEST(CheckpointSchedule, Ends) {
  EXPECT_TRUE(scheduleCheckpoints(0, 3).empty());
  EXPECT_EQ(scheduleCheckpoints(1, 1).size(), 1u);
  // As many states as steps: every step but the last once.
  EXPECT_EQ(execute(5000, 5000).advances, 4999u);
  EXPECT_EQ(execute(5000, 1000000).advances, 4999u);
  EXPECT_EQ(countAdvances(1000000, 1), 499999500000u);
}
