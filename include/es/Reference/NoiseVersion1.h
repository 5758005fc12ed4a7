//===- NoiseVersion1.h - Constants of the noise, frozen -*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every constant that a bit of noise depends on. Once released they never
// change: other constants would be another noise version. The fits are least
// squares with the weights of Lawson's iteration, coefficients rounded to f32;
// test/Reference measures what is left of the error.
//
//===----------------------------------------------------------------------===//

#ifndef ES_REFERENCE_NOISEVERSION1_H
#define ES_REFERENCE_NOISEVERSION1_H

#include <cstdint>

namespace mlir::es::noise {

/// Purposes: what the random words of a block are for.
enum Purpose : uint32_t {
  kFullRank = 0,
  kFactorA = 1,
  kFactorB = 2,
  kRoundParameter = 3,
  kRoundMoment1 = 4,
  kRoundMoment2 = 5,
  kInitialise = 8,
};

/// The pair field of blocks that belong to no pair (stochastic rounding).
constexpr uint32_t kNoPair = 0xffffffff;

constexpr uint32_t kPhiloxMultiplier0 = 0xD2511F53;
constexpr uint32_t kPhiloxMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kPhiloxWeyl0 = 0x9E3779B9;
constexpr uint32_t kPhiloxWeyl1 = 0xBB67AE85;
constexpr unsigned kPhiloxRounds = 10;
constexpr uint32_t kStepKeyTag = 0x45534F50; // "ESOP"

constexpr float kMinusTwoLn2 = -1.38629436f;

/// normal16: -2 ln m on [1, 2), in powers of m; sqrt(2) sin(pi x / 2) / x and
/// sqrt(2) cos(pi x / 2) on [-1, 1], in powers of x^2.
constexpr float kLog16[] = {4.16803046f,  -8.2772936f, 7.060743f,
                            -4.23817452f, 1.59339268f, -0.337418227f,
                            0.0307154207f};
constexpr float kSin16[] = {2.22143395f, -0.913430428f, 0.112337128f,
                            -0.0061279222f};
constexpr float kCos16[] = {1.4142135f, -1.74471275f, 0.358716325f,
                            -0.0294306741f, 0.00121366588f};

/// normal32: -2 ln(1 + f) / f on [sqrt(1/2) - 1, sqrt(2) - 1], in powers of f;
/// the others as above.
constexpr float kLog32[] = {-2.0f,         0.999999762f,  -0.666683733f,
                            0.500041485f,  -0.399136662f, 0.331247866f,
                            -0.299045324f, 0.287336856f,  -0.174447104f};
constexpr float kSin32[] = {2.22144151f, -0.913530707f, 0.112698577f,
                            -0.00661025709f, 0.000214505839f};
constexpr float kCos32[] = {1.41421354f,    -1.74471605f,   0.358742595f,
                            -0.0295042973f, 0.00129785889f, -3.36935227e-05f};
/// The f32 bits of sqrt(1/2), where normal32 splits exponent from mantissa.
constexpr uint32_t kSqrtHalfBits = 0x3f3504f3;

/// uniform: sqrt(3), so that the variance is 1.
constexpr float kSqrt3 = 1.73205078f;

/// int8: the upper half of round_half_away(16 * Phi^-1((b + 0.5) / 256)); entry
/// b < 128 is minus entry 255 - b. A sample is a sixteenth of its entry.
constexpr int8_t kInt8UpperHalf[128] = {
    0,  0,  0,  1,  1,  1,  1,  1,  1,  1,  2,  2,  2,  2,  2,  2,  3,  3,  3,
    3,  3,  3,  4,  4,  4,  4,  4,  4,  5,  5,  5,  5,  5,  5,  6,  6,  6,  6,
    6,  6,  7,  7,  7,  7,  7,  7,  8,  8,  8,  8,  8,  8,  9,  9,  9,  9,  9,
    10, 10, 10, 10, 10, 10, 11, 11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13,
    13, 14, 14, 14, 14, 15, 15, 15, 15, 16, 16, 16, 16, 17, 17, 17, 17, 18, 18,
    18, 19, 19, 19, 20, 20, 20, 21, 21, 21, 22, 22, 22, 23, 23, 24, 24, 25, 25,
    26, 27, 27, 28, 29, 29, 30, 31, 32, 34, 35, 37, 40, 46};
constexpr float kInt8Scale = 0.0625f;

} // namespace mlir::es::noise

#endif // ES_REFERENCE_NOISEVERSION1_H
