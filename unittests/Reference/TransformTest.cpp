//===- TransformTest.cpp - Accuracy and statistics of the noise -===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Against double precision and the C library, which share nothing with the
// polynomials under test.
//
//===----------------------------------------------------------------------===//

#include "es/Reference/Noise.h"
#include "es/Reference/NoiseVersion1.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <vector>

using namespace mlir::es::reference;
using namespace mlir::es::noise;

static const double kPi = std::acos(-1.0);

// All 2^16 radii. The worst is at u next to 1, where the radius is 0.0039 and a
// rounding of -2 ln u is worth 1 / (2 * 0.0039) = 128 times itself.
TEST(Normal16, everyRadius) {
  double worst = 0;
  for (uint32_t h = 0; h < 65536; ++h) {
    double exact = std::sqrt(-2.0 * std::log((h + 0.5) / 65536.0));
    double error = std::fabs(getRadius16(h) - exact);
    ASSERT_FALSE(std::isnan(getRadius16(h))) << h;
    worst = std::max(worst, error);
  }
  std::printf("normal16 radius: %.3g at worst\n", worst);
  EXPECT_LT(worst, 8.85e-5);
}

TEST(Normal16, everyAngle) {
  double worst = 0;
  for (uint32_t l = 0; l < 65536; ++l) {
    double angle = 2.0 * kPi * (l + 0.5) / 65536.0;
    std::array<float, 2> value = getSinCos16(l);
    worst = std::max({worst, std::fabs(value[0] - std::sin(angle)),
                      std::fabs(value[1] - std::cos(angle))});
  }
  std::printf("normal16 sine, cosine: %.3g at worst\n", worst);
  EXPECT_LT(worst, 3e-6);
}

// Every 4097th word, and the ends.
TEST(Normal32, radii) {
  double worst = 0, ulps = 0;
  auto check = [&](uint32_t w) {
    double u = std::fmaf(float(w), 0x1p-32f, 0x1p-33f);
    double exact = std::sqrt(-2.0 * std::log(u));
    float radius = getRadius32(w);
    ASSERT_FALSE(std::isnan(radius)) << w;
    double error = std::fabs(radius - exact);
    worst = std::max(worst, error);
    if (exact > 0) {
      float below = std::nextafterf(float(exact), 0.0f);
      ulps = std::max(ulps, error / (float(exact) - below));
    }
  };
  for (uint64_t w = 0; w <= 0xffffffff; w += 4097)
    check(uint32_t(w));
  for (uint32_t w = 0; w < 65536; ++w) {
    check(w);
    check(0xffffffff - w);
  }
  EXPECT_EQ(getRadius32(0xffffffff), 0.0f);
  std::printf("normal32 radius: %.3g at worst, %.3g ulp\n", worst, ulps);
  EXPECT_LT(ulps, 3.0);
}

// The cosine is 1 - sh^2 with sh^2 up to 2: an error of sh of 1.5 half ulps,
// 9e-8, counts 2 sqrt(2) times, and the rounding of the angle, 3e-8, pi times:
// together 3.5e-7; the last product and the polynomial add to it.
TEST(Normal32, angles) {
  double worst = 0;
  for (uint64_t w = 0; w <= 0xffffffff; w += 4097) {
    double angle = kPi * (w + 0.5) / 2147483648.0;
    std::array<float, 2> value = getSinCos32(uint32_t(w));
    worst = std::max({worst, std::fabs(value[0] - std::sin(angle)),
                      std::fabs(value[1] - std::cos(angle))});
  }
  std::printf("normal32 sine, cosine: %.3g at worst\n", worst);
  EXPECT_LT(worst, 6e-7);
}

// Symmetric, at most 46, squares sum to 65122: entry b is minus entry 255 - b.
TEST(Int8, table) {
  double bounds[] = {0, 46};
  int64_t squares = 0;
  for (int i = 0; i < 128; ++i) {
    int8_t entry = kInt8UpperHalf[i];
    bounds[0] = std::max(bounds[0], double(entry));
    squares += 2 * entry * entry;
    // Phi(entry / 16) brackets (128 + i + 0.5) / 256 to half a sixteenth.
    double at = (128.5 + i) / 256.0;
    auto phi = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
    EXPECT_LE(phi((entry - 0.5) / 16), at);
    EXPECT_GE(phi((entry + 0.5) / 16), at);
  }
  EXPECT_EQ(bounds[0], bounds[1]);
  EXPECT_EQ(squares, 65122);
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

/// 2^20 by default; ES_DRAWS=27 for the long run.
static int64_t getDraws() {
  const char *bits = std::getenv("ES_DRAWS");
  return int64_t(1) << (bits ? std::atoi(bits) : 20);
}

static double normalCdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

/// Moments within five standard errors, Kolmogorov-Smirnov at 0.1 %.
static void checkNormal(Noise noise) {
  Stream stream{getStepKey(42, 7), hashName("w"), 3, kFullRank};
  int64_t n = getDraws();
  double sum = 0, squares = 0, fourths = 0;
  int64_t beyond3 = 0;
  std::vector<float> values(n);
  for (int64_t e = 0; e < n; ++e) {
    float z = getSample(stream, noise, e);
    values[e] = z;
    sum += z;
    squares += double(z) * z;
    fourths += double(z) * z * z * z;
    beyond3 += std::fabs(z) > 3;
  }
  double root = std::sqrt(double(n));
  double mean = sum / n, variance = squares / n;
  EXPECT_LT(std::fabs(mean), 5 / root);
  // var(z^2) = 2 and var(z^4) = 105 - 9 = 96.
  EXPECT_LT(std::fabs(variance - 1), 5 * std::sqrt(2.0) / root);
  EXPECT_LT(std::fabs(fourths / n - 3), 5 * std::sqrt(96.0) / root);
  double tail = 2 * normalCdf(-3);
  EXPECT_LT(std::fabs(beyond3 / double(n) - tail), 5 * std::sqrt(tail) / root);
  std::sort(values.begin(), values.end());
  double distance = 0;
  for (int64_t i = 0; i < n; ++i) {
    double cdf = normalCdf(values[i]);
    distance = std::max({distance, std::fabs(cdf - double(i) / n),
                         std::fabs(cdf - double(i + 1) / n)});
  }
  EXPECT_LT(distance * root, 1.95);
  std::printf(
      "mean %.3g, variance - 1 %.3g, kurtosis %.5f, KS %.3f, most %.3f\n", mean,
      variance - 1, fourths / n / (variance * variance), distance * root,
      std::max(std::fabs(values.front()), std::fabs(values.back())));
}

TEST(Statistics, normal16) { checkNormal(Noise::normal16); }
TEST(Statistics, normal32) { checkNormal(Noise::normal32); }

TEST(Statistics, otherNoises) {
  Stream stream{getStepKey(42, 7), hashName("w"), 3, kFullRank};
  int64_t n = 1 << 18;
  // The fourth moments bound the error of the variance: at most 3.
  for (Noise noise : {Noise::rademacher, Noise::int8, Noise::uniform}) {
    double sum = 0, squares = 0;
    for (int64_t e = 0; e < n; ++e) {
      double z = getSample(stream, noise, e);
      sum += z;
      squares += z * z;
    }
    double variance = noise == Noise::int8 ? 65122.0 / 65536.0 : 1.0;
    EXPECT_LT(std::fabs(sum / n), 5 / std::sqrt(double(n)));
    EXPECT_LT(std::fabs(squares / n - variance), 5 * std::sqrt(2.0 / n));
  }
}

/// Streams that differ in one field only do not correlate.
TEST(Statistics, noCorrelation) {
  Key key = getStepKey(1, 0);
  Stream base{key, 10, 3, kFullRank};
  Stream others[] = {{key, 11, 3, kFullRank},
                     {key, 10, 4, kFullRank},
                     {key, 10, 3, kFactorA},
                     {getStepKey(1, 1), 10, 3, kFullRank},
                     {getStepKey(2, 0), 10, 3, kFullRank}};
  int64_t n = 1 << 16;
  for (const Stream &other : others) {
    double sum = 0;
    for (int64_t e = 0; e < n; ++e)
      sum += double(getSample(base, Noise::normal16, e)) *
             getSample(other, Noise::normal16, e);
    EXPECT_LT(std::fabs(sum / n), 5 / std::sqrt(double(n)));
  }
}
