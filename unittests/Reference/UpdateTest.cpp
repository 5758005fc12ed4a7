//===- UpdateTest.cpp - Perturbation, update, storage ----------===//
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

static UpdateOptions makeOptions(std::vector<float> coefficients) {
  UpdateOptions options;
  options.noise.key = getStepKey(1, 2);
  options.coefficients.members = coefficients.size();
  options.coefficients.values = std::move(coefficients);
  return options;
}

static Parameter makeParameter(std::vector<float> &data) {
  Parameter p;
  p.id = hashName("w");
  p.shape = {int64_t(data.size())};
  p.data = data.data();
  p.sigma = 0.5;
  p.lr = 0.25;
  return p;
}

// alpha = lr S = 0.25 * 1 / (2 * 0.5) = 0.25; the sum is eps_0 - 2 eps_1.
TEST(Update, sgdByHand) {
  std::vector<float> theta = {1, 2, 3};
  UpdateOptions options = makeOptions({1, -2});
  Parameter p = makeParameter(theta);
  std::vector<float> expected;
  for (int e = 0; e < 3; ++e) {
    float sum = getNoise(options.noise, p, 0, e);
    sum = std::fma(-2.0f, getNoise(options.noise, p, 1, e), sum);
    expected.push_back(std::fma(0.25f, sum, theta[e]));
  }
  update(options, p);
  EXPECT_EQ(theta, expected);
}

TEST(Update, directionsMirror) {
  std::vector<float> up(100, 0.0f), down(100, 0.0f);
  UpdateOptions options = makeOptions({1, -2, 0.5});
  update(options, makeParameter(up));
  options.maximize = false;
  update(options, makeParameter(down));
  for (int e = 0; e < 100; ++e)
    EXPECT_EQ(up[e], -down[e]);
}

// Not one bit, -0 and states included, whatever the rule.
TEST(Update, allEqualChangesNothing) {
  std::vector<float> theta = {-0.0f, 1.5f}, m = {1, 1}, v = {1, 1};
  std::vector<float> before = theta;
  UpdateOptions options = makeOptions({0, 0});
  options.rule.optimizer = Optimizer::adam;
  Parameter p = makeParameter(theta);
  p.moments[0] = m.data();
  p.moments[1] = v.data();
  update(options, p);
  EXPECT_EQ(std::memcmp(theta.data(), before.data(), 8), 0);
  EXPECT_EQ(m, (std::vector<float>{1, 1}));
}

TEST(Update, chunksAddInOrder) {
  std::vector<float> theta(1, 0.0f);
  UpdateOptions options = makeOptions({1, 2, 3});
  Parameter p = makeParameter(theta);
  auto eps = [&](int pair) { return getNoise(options.noise, p, pair, 0); };
  options.order = Order::chunk;
  options.chunk = 2;
  float first = std::fma(2.0f, eps(1), std::fma(1.0f, eps(0), 0.0f));
  EXPECT_EQ(accumulate(options, p, 0), first + std::fma(3.0f, eps(2), 0.0f));
  // A chunk that holds all pairs is seq.
  options.chunk = 3;
  float chunked = accumulate(options, p, 0);
  options.order = Order::seq;
  EXPECT_EQ(accumulate(options, p, 0), chunked);
}

TEST(Update, exactEqualsFloatWhereNothingRounds) {
  std::vector<float> theta(4096, 0.0f);
  UpdateOptions options = makeOptions({1, -3, 2});
  options.noise.noise = Noise::rademacher;
  Parameter p = makeParameter(theta);
  for (int e = 0; e < 4096; ++e) {
    options.order = Order::exact;
    float exact = accumulate(options, p, e);
    options.order = Order::seq;
    EXPECT_EQ(accumulate(options, p, e), exact);
  }
}

// The gradient of f(x) = -|x - a|^2 / 2 at 0 is a; with antithetic pairs the
// difference of fitness is 2 sigma a.eps, so that the mean of c_p eps_e is a_e
// times the variance of the noise, 1, or 65122 / 65536 of int8 (squared of low
// rank). The square of a term has the mean E (a.eps)^2 eps_e^2 <=
// |a|^2 E eps^4, by Cauchy-Schwarz: E eps^4 is 3 at most, of rank r 9 at most.
TEST(Update, estimatorIsUnbiasedOnAQuadratic) {
  const int n = 4, pairs = 1 << 15;
  for (Noise noise : {Noise::normal16, Noise::normal32, Noise::rademacher,
                      Noise::int8, Noise::uniform})
    for (unsigned rank : {0, 1, 2}) {
      std::vector<float> theta(n, 0.0f);
      Parameter p = makeParameter(theta);
      p.shape = {2, 2};
      p.sigma = 0.1;
      p.lr = 1;
      float a[n] = {1, -2, 0.5f, 0.25f};
      UpdateOptions options = makeOptions({});
      options.noise.noise = noise;
      options.noise.rank = rank;
      for (int pair = 0; pair < pairs; ++pair) {
        double difference = 0;
        for (int e = 0; e < n; ++e) {
          double eps = p.sigma * getNoise(options.noise, p, pair, e);
          difference +=
              (eps + a[e]) * (eps + a[e]) / 2 - (eps - a[e]) * (eps - a[e]) / 2;
        }
        options.coefficients.values.push_back(float(difference));
      }
      options.coefficients.members = 2 * pairs;
      update(options, p);
      double norm = std::sqrt(1 + 4 + 0.25 + 0.0625);
      double variance = noise == Noise::int8 ? 65122.0 / 65536 : 1;
      if (rank)
        variance *= variance;
      double error = std::sqrt(rank ? 9.0 : 3.0) * norm / std::sqrt(pairs);
      for (int e = 0; e < n; ++e)
        EXPECT_NEAR(theta[e], a[e] * variance, 5 * error);
    }
}

// m = g / 2, v = g^2 / 4; corrected both are g and g^2: the step is lr * sign.
TEST(Update, firstStepOfAdamIsTheSign) {
  std::vector<float> theta(50, 0.0f), m(50, 0.0f), v(50, 0.0f);
  UpdateOptions options = makeOptions({1});
  options.rule = {Optimizer::adam, 0.5, 0.75, 0.0};
  Parameter p = makeParameter(theta);
  p.moments[0] = m.data();
  p.moments[1] = v.data();
  update(options, p);
  for (int e = 0; e < 50; ++e)
    EXPECT_NEAR(std::fabs(theta[e]), 0.25, 1e-6);
}

TEST(LowRank, raisingTheRankKeepsColumns) {
  std::vector<float> theta(15, 0.0f);
  Parameter p = makeParameter(theta);
  p.shape = {3, 5};
  NoiseOptions one{getStepKey(1, 2), Noise::normal16, 1}, two = one;
  two.rank = 2;
  // Element (1, 2): A element k * 3 + 1, B element k * 5 + 2.
  Stream a{one.key, p.id, 0, 1}, b{one.key, p.id, 0, 2};
  auto term = [&](int k, float sum) {
    return std::fma(getSample(a, one.noise, 3 * k + 1),
                    getSample(b, one.noise, 5 * k + 2), sum);
  };
  EXPECT_EQ(getNoise(one, p, 0, 7), term(0, 0));
  EXPECT_EQ(getNoise(two, p, 0, 7),
            term(1, term(0, 0)) * float(1 / std::sqrt(2.0)));
}

TEST(Perturb, pairsMirror) {
  std::vector<int8_t> theta = {0, 5, -7, 100, -100}, plus(5), minus(5);
  Parameter p;
  p.id = 1;
  p.storage = Storage::i8;
  p.shape = {5};
  p.data = theta.data();
  p.sigma = 10;
  NoiseOptions options{getStepKey(1, 2), Noise::normal16, 0};
  perturb(options, p, 0, false, plus.data());
  perturb(options, p, 0, true, minus.data());
  for (int e = 0; e < 5; ++e)
    EXPECT_EQ(plus[e] - theta[e], theta[e] - minus[e]);
}

// Saturated, never wrapped.
TEST(Perturb, integersSaturate) {
  std::vector<int8_t> theta(200, 127), out(200);
  Parameter p;
  p.storage = Storage::i8;
  p.shape = {200};
  p.data = theta.data();
  p.sigma = 30;
  perturb({getStepKey(1, 2), Noise::normal16, 0}, p, 0, false, out.data());
  for (int8_t value : out)
    EXPECT_GT(value, -100);
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

TEST(Storage, everyHalfRoundsToItself) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    uint16_t h = uint16_t(bits);
    if (!std::isnan(fromF16(h))) {
      EXPECT_EQ(toF16(fromF16(h)), h);
      EXPECT_EQ(toF16(fromF16(h), 0xffff), h);
    }
    if (!std::isnan(fromBf16(h))) {
      EXPECT_EQ(toBf16(fromBf16(h)), h);
      EXPECT_EQ(toBf16(fromBf16(h), 0xffff), h);
    }
  }
}

// The compiler's own conversion is the other opinion.
TEST(Storage, f16AsTheCompilerRounds) {
  for (uint64_t bits = 0; bits <= 0xffffffff; bits += 9973) {
    uint32_t word = uint32_t(bits);
    float value;
    std::memcpy(&value, &word, 4);
    if (std::isnan(value))
      continue;
    _Float16 half = _Float16(value);
    uint16_t expected;
    std::memcpy(&expected, &half, 2);
    ASSERT_EQ(toF16(value), expected) << value;
  }
}

// 0.25 + 2000 x 1e-5 = 0.27. Next to 0.25 bf16 has steps of 2^-9, so nearest
// never moves; one stochastic step has variance at most 2^-9 * 1e-5, 2000 of
// them a deviation of sqrt(2000 * 2^-9 * 1e-5) = 0.0063.
TEST(Storage, bf16SmallSteps) {
  uint16_t nearest = toBf16(0.25f), random = nearest;
  for (uint32_t i = 0; i < 2000; ++i) {
    nearest = toBf16(fromBf16(nearest) + 1e-5f);
    random = toBf16(fromBf16(random) + 1e-5f,
                    getRoundingBits({getStepKey(0, i), 1, 0xffffffff, 3}, 0));
  }
  EXPECT_EQ(fromBf16(nearest), 0.25f);
  EXPECT_NEAR(fromBf16(random), 0.27, 3 * 0.0063);
}
