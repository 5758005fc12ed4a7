//===- Accumulate.cpp - Noise of a parameter, and its sum --------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Reference/NoiseVersion1.h"
#include "es/Reference/Update.h"

#include <cmath>

using namespace mlir::es::noise;
using namespace mlir::es::reference;

int64_t Parameter::getNumElements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

double Parameter::getQuantum(uint64_t element) const {
  if (axis < 0)
    return quantum;
  uint64_t stride = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i)
    stride *= shape[i];
  return quanta[element / stride % shape[axis]];
}

static bool isLowRank(const NoiseOptions &options, const Parameter &parameter) {
  return options.rank > 0 && parameter.shape.size() == 2;
}

namespace {
/// Where the factors of element (i, j) of a matrix are.
struct Factors {
  Factors(const NoiseOptions &options, const Parameter &parameter,
          uint32_t pair, uint64_t element)
      : a{options.key, parameter.id, pair, kFactorA},
        b{options.key, parameter.id, pair, kFactorB}, m(parameter.shape[0]),
        n(parameter.shape[1]), i(element / n), j(element % n) {}
  uint64_t getA(unsigned k) const { return k * m + i; }
  uint64_t getB(unsigned k) const { return k * n + j; }

  Stream a, b;
  uint64_t m, n, i, j;
};
} // namespace

float mlir::es::reference::getNoise(const NoiseOptions &options,
                                    const Parameter &parameter, uint32_t pair,
                                    uint64_t element) {
  if (!isLowRank(options, parameter))
    return getSample({options.key, parameter.id, pair, kFullRank},
                     options.noise, element);
  Factors at(options, parameter, pair, element);
  float sum = 0;
  for (unsigned k = 0; k < options.rank; ++k)
    sum = std::fma(getSample(at.a, options.noise, at.getA(k)),
                   getSample(at.b, options.noise, at.getB(k)), sum);
  return sum * float(1.0 / std::sqrt(double(options.rank)));
}

/// Adds the terms of one pair.
static float addPair(const UpdateOptions &options, const Parameter &parameter,
                     uint32_t pair, uint64_t element, float sum) {
  float c = options.coefficients.values[pair];
  if (c == 0)
    return sum;
  const NoiseOptions &noise = options.noise;
  if (!isLowRank(noise, parameter))
    return std::fma(c, getNoise(noise, parameter, pair, element), sum);
  Factors at(noise, parameter, pair, element);
  for (unsigned k = 0; k < noise.rank; ++k) {
    float scaled = c * getSample(at.a, noise.noise, at.getA(k));
    sum = std::fma(scaled, getSample(at.b, noise.noise, at.getB(k)), sum);
  }
  return sum;
}

float mlir::es::reference::accumulate(const UpdateOptions &options,
                                      const Parameter &parameter,
                                      uint64_t element) {
  if (options.order == Order::exact)
    return float(accumulateExactly(options, parameter, element));
  uint32_t pairs = uint32_t(options.coefficients.values.size());
  uint32_t chunk =
      options.order == Order::seq ? pairs : uint32_t(options.chunk);
  float total = 0;
  for (uint32_t first = 0; first < pairs; first += chunk) {
    float sum = 0;
    for (uint32_t p = first; p < pairs && p < first + chunk; ++p)
      sum = addPair(options, parameter, p, element, sum);
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

int64_t mlir::es::reference::accumulateExactly(const UpdateOptions &options,
                                               const Parameter &parameter,
                                               uint64_t element) {
  const NoiseOptions &noise = options.noise;
  int64_t sum = 0;
  for (uint32_t p = 0; p < options.coefficients.values.size(); ++p) {
    int64_t c = int64_t(options.coefficients.values[p]);
    if (!isLowRank(noise, parameter)) {
      sum += c * getIntegerSample({noise.key, parameter.id, p, kFullRank},
                                  noise.noise, element);
      continue;
    }
    Factors at(noise, parameter, p, element);
    for (unsigned k = 0; k < noise.rank; ++k)
      sum += c * getIntegerSample(at.a, noise.noise, at.getA(k)) *
             getIntegerSample(at.b, noise.noise, at.getB(k));
  }
  return sum;
}
