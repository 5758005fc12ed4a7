//===- ShapingTest.cpp - From fitness to coefficients ----------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Reference/Shaping.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mlir::es::reference;

using Values = std::vector<float>;

static const float kNan = std::nanf("");

static Coefficients shape(const Values &fitness, Shaping shaping,
                          bool antithetic = false, bool integer = false,
                          NanPolicy nan = NanPolicy::error,
                          bool maximize = true) {
  return shapeFitness(fitness, {shaping, nan, maximize, antithetic, integer});
}

// Worse less better: 10 has none worse and three better, -3; over 2 (4 - 1)
// = 6.
TEST(CenteredRank, fourMembers) {
  EXPECT_EQ(shape({10, 40, 20, 30}, Shaping::centered_rank).values,
            (Values{-0.5f, 0.5f, float(-1 / 6.0), float(1 / 6.0)}));
}

// The two 20s are better than one and worse than one: 0 each.
TEST(CenteredRank, tiesShareTheirMean) {
  Coefficients c = shape({10, 20, 20, 30}, Shaping::centered_rank, false, true);
  EXPECT_EQ(c.values, (Values{-3, 0, 0, 3}));
  EXPECT_EQ(c.unit, 1.0 / 6.0);
}

// Pair 0: -3 - 3; pair 1: -1 - 1.
TEST(CenteredRank, pairs) {
  EXPECT_EQ(shape({10, 40, 20, 30}, Shaping::centered_rank, true, true).values,
            (Values{-6, -2}));
}

TEST(AnyShaping, allEqualIsZero) {
  for (Shaping s :
       {Shaping::centered_rank, Shaping::zscore, Shaping::sign, Shaping::raw})
    for (bool antithetic : {false, true})
      EXPECT_EQ(shape({0.1f, 0.1f, 0.1f, 0.1f}, s, antithetic).values,
                Values(antithetic ? 2 : 4, 0.0f));
}

TEST(AnyShaping, smallPopulations) {
  EXPECT_EQ(shape({5}, Shaping::centered_rank).values, (Values{0}));
  EXPECT_EQ(shape({5}, Shaping::zscore).values, (Values{0}));
  EXPECT_EQ(shape({5, 6}, Shaping::centered_rank).values, (Values{-.5f, .5f}));
  EXPECT_EQ(shape({5, 6, 7}, Shaping::centered_rank).values,
            (Values{-.5f, 0, .5f}));
  EXPECT_TRUE(shape({}, Shaping::raw).values.empty());
}

// Mean 2, deviations -1, 1, -1, 1.
TEST(ZScore, fourMembers) {
  EXPECT_EQ(shape({1, 3, 1, 3}, Shaping::zscore).values,
            (Values{-1, 1, -1, 1}));
}

TEST(Sign, againstTheMedianOrTheOtherOfThePair) {
  EXPECT_EQ(shape({1, 2, 9}, Shaping::sign).values, (Values{-1, 0, 1}));
  EXPECT_EQ(shape({1, 2, 9, 9, 8, 7}, Shaping::sign, true).values,
            (Values{-1, 0, 1}));
}

TEST(BadFitness, error) {
  EXPECT_FALSE(shape({1, kNan}, Shaping::centered_rank).ok);
  EXPECT_FALSE(shape({1, INFINITY}, Shaping::raw).ok);
  EXPECT_TRUE(shape({1, INFINITY}, Shaping::centered_rank).ok);
}

// NaN becomes 1 if the greatest wins, 3 if the least does.
TEST(BadFitness, worst) {
  EXPECT_EQ(
      shape({1, kNan, 3}, Shaping::raw, false, false, NanPolicy::worst).values,
      (Values{1, 1, 3}));
  EXPECT_EQ(
      shape({1, kNan, 3}, Shaping::raw, false, false, NanPolicy::worst, false)
          .values,
      (Values{1, 3, 3}));
  EXPECT_EQ(
      shape({kNan, kNan}, Shaping::raw, false, false, NanPolicy::worst).values,
      (Values{0, 0}));
}

// A pair goes as a whole; ranks and the count are those of the rest.
TEST(BadFitness, drop) {
  Coefficients c = shape({1, kNan, 3}, Shaping::centered_rank, false, false,
                         NanPolicy::drop);
  EXPECT_EQ(c.values, (Values{-.5f, 0, .5f}));
  EXPECT_EQ(c.members, 2);
  c = shape({1, kNan, 3, 4}, Shaping::centered_rank, true, false,
            NanPolicy::drop);
  EXPECT_EQ(c.values, (Values{0, -1}));
  EXPECT_EQ(c.members, 2);
  EXPECT_EQ(getScale(Scale::exact, 0, 0.1, 1), 0.0f);
}

TEST(Scales, conventions) {
  EXPECT_EQ(getScale(Scale::exact, 8, 0.25, 1), 0.5f);
  EXPECT_EQ(getScale(Scale::mean, 8, 0.25, 1), 0.125f);
  EXPECT_EQ(getScale(Scale::sqrt, 16, 0.5, 1), 0.125f);
}
