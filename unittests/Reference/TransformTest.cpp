//===- TransformTest.cpp - Accuracy and statistics of the noise -===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Against the C library in long double (11 bits more than double on x86), which
// shares nothing with the polynomials under test.
//
//===----------------------------------------------------------------------===//

#include "es/Reference/Noise.h"
#include "es/Reference/NoiseVersion1.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace mlir::es::reference;
using namespace mlir::es::noise;

using Exact = long double;

static const Exact kPi = std::acos(Exact(-1));

/// Errors at worst: absolute, and in ulp of the exact value.
struct Worst {
  Exact error = 0, ulps = 0;

  void add(float value, Exact exact) {
    ASSERT_FALSE(std::isnan(value));
    Exact difference = std::fabs(value - exact);
    int exponent;
    std::frexp(exact, &exponent);
    error = std::max(error, difference);
    if (exact != 0)
      ulps = std::max(ulps, difference / std::ldexp(Exact(1), exponent - 24));
  }
  void print(const char *name) const {
    std::printf("%s: %.3Lg at worst, %.4Lg ulp\n", name, error, ulps);
  }
};

/// As the kernels evaluate it.
template <unsigned N> static float evaluate(const float (&c)[N], float x) {
  float value = c[N - 1];
  for (unsigned i = N - 1; i > 0; --i)
    value = std::fma(value, x, c[i - 1]);
  return value;
}

//===----------------------------------------------------------------------===//
// Polynomials, where they have no root in ulp of the value
//===----------------------------------------------------------------------===//

// The bounds are what the frozen fits leave, rounded up; docs/Design states
// them. Those of normal16 are of low degree, which sixteen bits hide: see
// everyRadius and everyAngle.
//
// All 2^16 arguments that occur. -2 ln m goes to 0 at m = 1, so that only the
// absolute error means something: an ulp of 1 is 1.2e-7.
TEST(Polynomials, log16) {
  Worst worst;
  for (uint32_t h = 0; h < 65536; ++h) {
    int exponent;
    float m = 2 * std::frexp(float(h) + 0.5f, &exponent);
    worst.add(evaluate(kLog16, m), -2 * std::log(Exact(m)));
  }
  worst.print("normal16 -2 ln m");
  EXPECT_LT(worst.error, 5.5e-6);
}

/// sqrt(2) sin(pi x / 2) / x, and the cosine, which goes to 0 at x = 1.
template <unsigned N, unsigned M>
static void addAngle(const float (&sine)[N], const float (&cosine)[M], float x,
                     Worst &s, Worst &c) {
  float square = x * x;
  Exact root = std::sqrt(Exact(2)), y = std::sqrt(Exact(square));
  s.add(evaluate(sine, square), root * std::sin(kPi * y / 2) / y);
  c.add(evaluate(cosine, square), root * std::cos(kPi * y / 2));
}

TEST(Polynomials, sineAndCosine16) {
  Worst sine, cosine;
  for (int l = -65535; l < 65536; l += 2)
    addAngle(kSin16, kCos16, float(l) * 0x1p-16f, sine, cosine);
  sine.print("normal16 sqrt(2) sin(pi x / 2) / x");
  cosine.print("normal16 sqrt(2) cos(pi x / 2)");
  EXPECT_LT(sine.ulps, 33);
  EXPECT_LT(cosine.error, 2.2e-7);
}

// All 2^23 mantissas.
TEST(Polynomials, log32) {
  Worst worst;
  for (uint32_t bits = kSqrtHalfBits; bits < kSqrtHalfBits + (1 << 23);
       ++bits) {
    float m;
    std::memcpy(&m, &bits, 4);
    float f = m - 1;
    if (f != 0)
      worst.add(evaluate(kLog32, f), -2 * std::log1p(Exact(f)) / f);
  }
  worst.print("normal32 -2 ln(1 + f) / f");
  EXPECT_LT(worst.ulps, 1.5);
}

TEST(Polynomials, sineAndCosine32) {
  Worst sine, cosine;
  for (uint64_t w = 0; w <= 0xffffffff; w += 4097)
    addAngle(kSin32, kCos32,
             std::fma(float(int32_t(uint32_t(w))), 0x1p-31f, 0x1p-32f), sine,
             cosine);
  sine.print("normal32 sqrt(2) sin(pi x / 2) / x");
  cosine.print("normal32 sqrt(2) cos(pi x / 2)");
  EXPECT_LT(sine.ulps, 1.3);
  EXPECT_LT(cosine.error, 1.3e-7);
}

//===----------------------------------------------------------------------===//
// The transforms
//===----------------------------------------------------------------------===//

// All 2^16 radii. The worst is at u next to 1, where the radius is 0.0039 and a
// rounding of -2 ln u is worth 1 / (2 * 0.0039) = 128 times itself. A step to
// the next radius is 2^-16 / (u R). With d = 5.8e-6 of -2 ln u, the
// polynomial's 5.5e-6 and the rounding of the sum, the error is d / (2 R), a
// share of d u 2^15 < 0.19 of a step; sixteen bits leave half of one open.
TEST(Normal16, everyRadius) {
  Worst small, large;
  auto getExact = [](uint32_t h) {
    return std::sqrt(-2 * std::log((h + Exact(0.5)) / 65536));
  };
  Exact share = 0;
  for (uint32_t h = 0; h < 65536; ++h) {
    Exact exact = getExact(h), next = getExact(h ? h - 1 : 1);
    (exact > 0.5 ? large : small).add(getRadius16(h), exact);
    share =
        std::max(share, std::fabs((getRadius16(h) - exact) / (next - exact)));
  }
  small.print("normal16 radius up to 0.5");
  large.print("normal16 radius above 0.5");
  std::printf("normal16 radius: %.3Lg of a step at worst\n", share);
  EXPECT_LT(small.error, 8.85e-5);
  EXPECT_LT(large.error, 2.9e-6);
  EXPECT_LT(share, 0.19);
}

TEST(Normal16, everyAngle) {
  Worst worst;
  for (uint32_t l = 0; l < 65536; ++l) {
    Exact angle = 2 * kPi * (l + Exact(0.5)) / 65536;
    std::array<float, 2> value = getSinCos16(l);
    worst.add(value[0], std::sin(angle));
    worst.add(value[1], std::cos(angle));
  }
  std::printf("normal16 sine, cosine: %.3Lg at worst\n", worst.error);
  EXPECT_LT(worst.error, 3e-6);
}

// Every 4097th word, and the ends.
TEST(Normal32, radii) {
  Worst worst;
  auto check = [&](uint32_t w) {
    Exact u = std::fmaf(float(w), 0x1p-32f, 0x1p-33f);
    worst.add(getRadius32(w), std::sqrt(-2 * std::log(u)));
  };
  for (uint64_t w = 0; w <= 0xffffffff; w += 4097)
    check(uint32_t(w));
  for (uint32_t w = 0; w < 65536; ++w) {
    check(w);
    check(0xffffffff - w);
  }
  EXPECT_EQ(getRadius32(0xffffffff), 0.0f);
  worst.print("normal32 radius");
  EXPECT_LT(worst.ulps, 3.0);
}

// The cosine is 1 - sh^2 with sh^2 up to 2: an error of sh of 1.5 half ulps,
// 9e-8, counts 2 sqrt(2) times, and the rounding of the angle, 3e-8, pi times:
// together 3.5e-7; the last product and the polynomial add to it.
TEST(Normal32, angles) {
  Worst worst;
  for (uint64_t w = 0; w <= 0xffffffff; w += 4097) {
    Exact angle = kPi * (w + Exact(0.5)) / 2147483648.0L;
    std::array<float, 2> value = getSinCos32(uint32_t(w));
    worst.add(value[0], std::sin(angle));
    worst.add(value[1], std::cos(angle));
  }
  std::printf("normal32 sine, cosine: %.3Lg at worst\n", worst.error);
  EXPECT_LT(worst.error, 6e-7);
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
