//===- PropertyTest.cpp - What holds of any step
//---------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Reference/Update.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace mlir::es::reference;

static constexpr Noise kNoises[] = {Noise::normal16, Noise::normal32,
                                    Noise::rademacher, Noise::int8,
                                    Noise::uniform};

static Parameter makeMatrix(std::vector<float> &data, int64_t rows) {
  Parameter p;
  p.id = hashName("w");
  p.shape = {rows, int64_t(data.size()) / rows};
  p.data = data.data();
  return p;
}

// theta = 0 and sigma = 1 perturb to eps; c = 1, lr = 1 and S = 1 / (1 * 1)
// update to eps: the same bits, of low rank too where 1 / sqrt(1) = 1.
TEST(Noise, perturbationAndUpdateShareIt) {
  for (Noise noise : kNoises)
    for (unsigned rank : {0, 1}) {
      std::vector<float> theta(600, 0.0f), perturbed(600);
      Parameter p = makeMatrix(theta, 20);
      p.sigma = p.lr = 1;
      UpdateOptions options;
      options.noise = {getStepKey(3, 4), noise, rank};
      options.coefficients.values = {1};
      options.coefficients.members = 1;
      perturb(options.noise, p, 0, false, perturbed.data());
      update(options, p);
      EXPECT_EQ(theta, perturbed);
      EXPECT_NE(theta, std::vector<float>(600, 0.0f));
    }
}

// Of theta = 0 the two of a pair are each other's negative, in every type that
// has one: the rounding is symmetric.
TEST(Noise, pairsMirrorInEveryType) {
  std::vector<char> theta(8 * 100, 0), plus(8 * 100), minus(8 * 100);
  for (Storage storage :
       {Storage::f32, Storage::f64, Storage::bf16, Storage::f16, Storage::i8,
        Storage::i16, Storage::i32}) {
    Parameter p;
    p.storage = storage;
    p.shape = {100};
    p.data = theta.data();
    p.sigma = 10;
    NoiseOptions options{getStepKey(1, 2), Noise::normal16, 0};
    perturb(options, p, 7, false, plus.data());
    perturb(options, p, 7, true, minus.data());
    for (int e = 0; e < 100; ++e)
      EXPECT_EQ(load(storage, plus.data(), e), -load(storage, minus.data(), e));
  }
}

// Ten thousand evaluations later the parameter has the bits it had.
TEST(Noise, evaluationNeverWrites) {
  std::vector<float> theta = {0.1f, -0.0f, 3e-40f, 1e30f, 5, 6}, out(6);
  std::vector<float> before = theta;
  Parameter p = makeMatrix(theta, 2);
  for (uint32_t member = 0; member < 10000; ++member)
    perturb({getStepKey(1, member), Noise::normal16, member % 3}, p, member / 2,
            member & 1, out.data());
  EXPECT_EQ(std::memcmp(theta.data(), before.data(), 4 * 6), 0);
}

// f(x) = |x|^2, from x = 1 with 64 antithetic pairs; one step of either sign
// convention goes down, as the estimate has a cosine of about
// sqrt(64 / (64 + 10)) with the gradient in 10 dimensions.
TEST(Step, bothDirectionsDescend) {
  for (bool maximize : {false, true}) {
    std::vector<float> theta(10, 1.0f), member(10);
    Parameter p = makeMatrix(theta, 10);
    p.sigma = 0.01;
    p.lr = 0.05;
    UpdateOptions options;
    options.noise.key = getStepKey(5, 6);
    options.maximize = maximize;
    auto valueOf = [](const std::vector<float> &x) {
      double sum = 0;
      for (float value : x)
        sum += double(value) * value;
      return sum;
    };
    std::vector<float> fitness;
    for (uint32_t i = 0; i < 128; ++i) {
      perturb(options.noise, p, i / 2, i & 1, member.data());
      fitness.push_back(float(maximize ? -valueOf(member) : valueOf(member)));
    }
    ShapingOptions shaping;
    shaping.shaping = Shaping::raw;
    shaping.maximize = maximize;
    shaping.antithetic = true;
    options.coefficients = shapeFitness(fitness, shaping);
    ASSERT_TRUE(options.coefficients.ok);
    double before = valueOf(theta);
    update(options, p);
    EXPECT_LT(valueOf(theta), before);
  }
}

// 2000 updates of 1e-5 from 0.25: c is the sign of the draw, so that every step
// goes up by lr S = 1e-5. bf16 has steps of 2^-9 above 0.25, and 1e-5 is 0.005
// of one: to nearest nothing moves. At random a step up has the variance p (1 -
// p) 2^-18 with p = 1e-5 * 2^9; 2000 of them deviate by 2^-9 sqrt(2000 *
// 0.0051) = 0.0062, the mean of 16 runs by a quarter of it.
TEST(Step, bf16SmallSteps) {
  double mean = 0;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    uint16_t nearest = toBf16(0.25f), random = nearest;
    Parameter p;
    p.id = 1;
    p.storage = Storage::bf16;
    p.shape = {1};
    p.sigma = 1;
    p.lr = 1e-5;
    UpdateOptions options;
    options.noise.noise = Noise::rademacher;
    options.coefficients.members = 1;
    for (int step = 0; step < 2000; ++step) {
      options.noise.key = getStepKey(seed, step);
      options.coefficients.values = {getNoise(options.noise, p, 0, 0)};
      p.data = &nearest;
      p.rounding = Rounding::nearest;
      update(options, p);
      p.data = &random;
      p.rounding = Rounding::stochastic;
      update(options, p);
    }
    EXPECT_EQ(fromBf16(nearest), 0.25f);
    mean += fromBf16(random) / 16;
  }
  EXPECT_NEAR(mean, 0.27, 4 * 0.0062 / 4);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static std::vector<int8_t> stepByThreshold(std::vector<int8_t> theta,
                                           double tau) {
  Parameter p;
  p.id = 1;
  p.storage = Storage::i8;
  p.shape = {int64_t(theta.size())};
  p.data = theta.data();
  p.rounding = Rounding::threshold;
  p.tau = tau;
  UpdateOptions options;
  options.noise = {getStepKey(1, 2), Noise::rademacher, 0};
  options.order = Order::exact;
  options.coefficients.values = {4};
  options.coefficients.members = 1;
  update(options, p);
  return theta;
}

// One pair with c = 4 sums to 4 or -4, the threshold is tau * sqrt(4^2): with
// tau = 1 the sum is exactly at it and every element steps, one ulp above none
// does.
TEST(Integers, exactlyAtTheThreshold) {
  std::vector<int8_t> zero(64, 0), moved = stepByThreshold(zero, 1.0);
  for (int8_t value : moved)
    EXPECT_EQ(std::abs(value), 1);
  EXPECT_EQ(stepByThreshold(zero, std::nextafterf(1.0f, 2.0f)), zero);
}

// At the ends of the type a step goes inwards or nowhere.
TEST(Integers, theEndsSaturate) {
  std::vector<int8_t> signs = stepByThreshold(std::vector<int8_t>(64, 0), 1);
  std::vector<int8_t> top = stepByThreshold(std::vector<int8_t>(64, 127), 1);
  std::vector<int8_t> low = stepByThreshold(std::vector<int8_t>(64, -128), 1);
  for (int e = 0; e < 64; ++e) {
    EXPECT_EQ(top[e], signs[e] > 0 ? 127 : 126);
    EXPECT_EQ(low[e], signs[e] > 0 ? -127 : -128);
  }
}

//===----------------------------------------------------------------------===//
// Moments of 16 bits
//===----------------------------------------------------------------------===//

// g = S sum is 1 or -1 at every step, so v goes to 1 as 1 - beta2^n: 0.632
// after 1000 steps. bf16 has steps of 2^-8 there, ten times the increment of
// 0.0004: to nearest v would have stuck long before. At random a step has the
// variance p (1 - p) 2^-16 with p = 0.1; after 1000 the deviation of an element
// is at most sqrt(1000 * 0.09) * 2^-8 = 0.037, of the mean of 64 0.005.
TEST(Moments, bf16FollowsASlowAverage) {
  const int n = 64;
  std::vector<float> theta(n, 0.0f);
  std::vector<uint16_t> m(n, 0), v(n, 0);
  Parameter p = makeMatrix(theta, 8);
  p.sigma = 1;
  p.momentStorage = Storage::bf16;
  p.moments[0] = m.data();
  p.moments[1] = v.data();
  UpdateOptions options;
  options.noise.noise = Noise::rademacher;
  options.rule.optimizer = Optimizer::adam;
  options.coefficients.values = {1};
  options.coefficients.members = 1;
  for (int step = 1; step <= 1000; ++step) {
    options.noise.key = getStepKey(9, step);
    options.rule.step = step;
    update(options, p);
  }
  double mean = 0;
  for (uint16_t value : v)
    mean += fromBf16(value) / n;
  EXPECT_NEAR(mean, 1 - std::pow(0.999, 1000), 4 * 0.005);
}
