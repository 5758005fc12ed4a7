//===- NoiseTest.cpp - Addresses and the generator -------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Reference/Noise.h"

#include <gtest/gtest.h>
#include <set>
#include <tuple>

using namespace mlir::es::reference;

// The published test vectors of philox4x32-10.
TEST(Philox, knownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t f = 0xffffffff;
  EXPECT_EQ(philox({f, f, f, f}, {f, f}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Addresses, keysAndNames) {
  EXPECT_EQ(getStepKey(0x0123456789abcdef, 5), (Key{0x5f5982ee, 0x5f27f04a}));
  EXPECT_EQ(getStepKey(0, 0), (Key{0x5c652d52, 0x7e2555af}));
  EXPECT_EQ(hashName("layers.0.attn.wq"), 0x01d3936cu);
  EXPECT_EQ(hashName("head.weight"), 0x040a9513u);
}

// An independent implementation made these words.
TEST(Addresses, goldens) {
  struct {
    uint32_t id, pair, purpose;
    uint64_t block;
    Words words;
  } goldens[] = {
      {0x01d3936c, 0, 0, 0, {0xbf2e2c3c, 0x7df7ac70, 0x41ba0434, 0xa3a02c14}},
      {0x01d3936c, 3, 0, 0, {0xe28c9770, 0x33473474, 0x93129dae, 0x838bbbc7}},
      {0x01d3936c,
       3,
       0,
       0x3fffffffff,
       {0x3594ce1d, 0x835f6d73, 0x53baefb9, 0x1af0b5a0}},
      {0x01d3936c,
       0xfffffffe,
       0,
       0,
       {0x8756af24, 0x1186cf40, 0x96aa4e47, 0x4cfdf96e}},
      {0x01d3936c, 3, 1, 0, {0x5ad5d65b, 0x42b6b344, 0xaec1154e, 0xcf978c41}},
      {0x01d3936c, 3, 2, 0, {0x8637882a, 0xbba9e28c, 0x8c0607d8, 0x815248f3}},
      {0x01d3936c,
       0xffffffff,
       3,
       0,
       {0x0988ce8f, 0x96024f1e, 0xd8512766, 0x1f338a0d}},
      {0x040a9513, 3, 0, 0, {0xfba93149, 0x26bf1ecf, 0x482169f9, 0x2437008c}},
  };
  Key key = getStepKey(0x0123456789abcdef, 5);
  for (auto &golden : goldens)
    EXPECT_EQ(
        getBlock({key, golden.id, golden.pair, golden.purpose}, golden.block),
        golden.words);
}

// normal16 has 8 samples a block, so runs of 128 elements. Element 300 is in
// run 2, at 300 - 256 = 44 = 2 * 16 + 12: block 2 * 16 + 12, sample 2.
TEST(Addresses, places) {
  EXPECT_EQ(getPlace(300, 8).block, 44u);
  EXPECT_EQ(getPlace(300, 8).sample, 2u);
  // normal32, runs of 64: 300 = 4 * 64 + 2 * 16 + 12.
  EXPECT_EQ(getPlace(300, 4).block, 76u);
  EXPECT_EQ(getPlace(300, 4).sample, 2u);
  // int8, runs of 256: 300 = 256 + 2 * 16 + 12.
  EXPECT_EQ(getPlace(300, 16).block, 28u);
  EXPECT_EQ(getPlace(300, 16).sample, 2u);
  // rademacher, runs of 2048.
  EXPECT_EQ(getPlace(2047, 128).block, 15u);
  EXPECT_EQ(getPlace(2047, 128).sample, 127u);
  EXPECT_EQ(getPlace(2048, 128).block, 16u);
}

// No two elements share a sample, and none is skipped.
TEST(Addresses, placesAreDistinct) {
  for (unsigned samples : {4u, 8u, 16u, 128u}) {
    std::set<std::pair<uint64_t, unsigned>> seen;
    for (uint64_t e = 0; e < 4096; ++e) {
      Place place = getPlace(e, samples);
      EXPECT_LT(place.sample, samples);
      EXPECT_TRUE(seen.insert({place.block, place.sample}).second);
    }
    EXPECT_EQ(seen.rbegin()->first, 4096 / samples - 1);
  }
}
