//===- Storage.cpp - Rounding to storage types ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Reference/Storage.h"

#include <cmath>
#include <cstring>

using namespace mlir::es::reference;

static uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

static float toFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

static constexpr uint32_t kInfinity = 0x7f800000;

unsigned mlir::es::reference::getBytes(Storage storage) {
  switch (storage) {
  case Storage::f64:
    return 8;
  case Storage::f32:
  case Storage::i32:
    return 4;
  case Storage::bf16:
  case Storage::f16:
  case Storage::i16:
    return 2;
  case Storage::i8:
    return 1;
  }
  __builtin_unreachable();
}

//===----------------------------------------------------------------------===//
// bf16: the upper half of f32
//===----------------------------------------------------------------------===//

float mlir::es::reference::fromBf16(uint16_t bits) {
  return toFloat(uint32_t(bits) << 16);
}

/// Adds `increment` below the cut; NaN stays NaN, made quiet.
static uint16_t cutBf16(uint32_t bits, uint32_t increment) {
  if ((bits & 0x7fffffff) > kInfinity)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + increment) >> 16);
}

uint16_t mlir::es::reference::toBf16(float value) {
  uint32_t bits = toBits(value);
  return cutBf16(bits, 0x7fff + (bits >> 16 & 1));
}

uint16_t mlir::es::reference::toBf16(float value, uint32_t random) {
  uint32_t bits = toBits(value);
  // Infinity has nothing to cut off, and no random bits reach the sum.
  return cutBf16(bits, random);
}

//===----------------------------------------------------------------------===//
// f16
//===----------------------------------------------------------------------===//

float mlir::es::reference::fromF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  if (exponent == 31)
    return toFloat(sign | kInfinity | mantissa << 13);
  if (exponent == 0)
    return toFloat(sign | toBits(float(mantissa) * 0x1p-24f));
  return toFloat(sign | (exponent + 112) << 23 | mantissa << 13);
}

/// Of magnitudes from 2^-14 on: 13 bits are cut off after `increment` is added.
static uint16_t cutNormalF16(uint32_t magnitude, uint32_t increment) {
  uint32_t cut = (magnitude + increment) >> 13;
  // 112 is the difference of the biases; 2^16 is the first that overflows.
  uint32_t bits = cut - (112u << 10);
  return uint16_t(bits >= 0x7c00 ? 0x7c00 : bits);
}

static uint16_t finishF16(uint32_t bits, uint16_t magnitude) {
  uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  if ((bits & 0x7fffffff) > kInfinity)
    return uint16_t(sign | 0x7e00 | (bits >> 13 & 0x3ff));
  return uint16_t(sign | magnitude);
}

static constexpr uint32_t kSmallestNormalF16 = 0x38800000; // 2^-14

uint16_t mlir::es::reference::toF16(float value) {
  uint32_t bits = toBits(value), magnitude = bits & 0x7fffffff;
  if (magnitude >= kSmallestNormalF16)
    return finishF16(bits,
                     cutNormalF16(magnitude, 0xfff + (magnitude >> 13 & 1)));
  return finishF16(bits,
                   uint16_t(std::nearbyint(toFloat(magnitude) * 0x1p24f)));
}

uint16_t mlir::es::reference::toF16(float value, uint32_t random) {
  uint32_t bits = toBits(value), magnitude = bits & 0x7fffffff;
  if (magnitude >= kSmallestNormalF16)
    return finishF16(bits, cutNormalF16(magnitude, random >> 3));
  // A sum of both in one float would round whole units up.
  float units = toFloat(magnitude) * 0x1p24f, whole = std::trunc(units);
  bool up = (units - whole) + float(random) * 0x1p-16f >= 1.0f;
  return finishF16(bits, uint16_t(uint16_t(whole) + up));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename T> static T at(const void *data, uint64_t element) {
  return static_cast<const T *>(data)[element];
}

double mlir::es::reference::load(Storage storage, const void *data,
                                 uint64_t element) {
  switch (storage) {
  case Storage::f32:
    return at<float>(data, element);
  case Storage::f64:
    return at<double>(data, element);
  case Storage::bf16:
    return fromBf16(at<uint16_t>(data, element));
  case Storage::f16:
    return fromF16(at<uint16_t>(data, element));
  case Storage::i8:
    return at<int8_t>(data, element);
  case Storage::i16:
    return at<int16_t>(data, element);
  case Storage::i32:
    return at<int32_t>(data, element);
  }
  __builtin_unreachable();
}
