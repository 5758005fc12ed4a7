//===- Shaping.cpp - From fitness to coefficients ------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Reference/Shaping.h"

#include <cmath>

using namespace mlir::es::reference;

namespace {
/// The members that count, with bad values replaced.
struct Members {
  std::vector<double> fitness;
  std::vector<bool> counts;
};
} // namespace

/// Ranks and signs order infinities; the others cannot compute with them.
static bool isBad(double fitness, Shaping shaping) {
  bool ordered = shaping == Shaping::centered_rank || shaping == Shaping::sign;
  return std::isnan(fitness) || (!ordered && std::isinf(fitness));
}

/// Replaces bad fitness by the worst of the others, which is 0 if there are
/// none.
static void replaceByWorst(Members &members, const ShapingOptions &options) {
  bool any = false;
  double worst = 0;
  for (double f : members.fitness) {
    if (isBad(f, options.shaping))
      continue;
    if (!any || (options.maximize ? f < worst : f > worst))
      worst = f;
    any = true;
  }
  for (double &f : members.fitness)
    if (isBad(f, options.shaping))
      f = worst;
}

/// A bad member takes the other of its antithetic pair with it.
static void dropBad(Members &members, const ShapingOptions &options) {
  for (size_t m = 0; m < members.fitness.size(); ++m) {
    if (!isBad(members.fitness[m], options.shaping))
      continue;
    members.counts[m] = false;
    if (options.antithetic)
      members.counts[m ^ 1] = false;
  }
}

static bool allEqual(const Members &members) {
  bool any = false;
  double first = 0;
  for (size_t m = 0; m < members.fitness.size(); ++m) {
    if (!members.counts[m])
      continue;
    if (any && members.fitness[m] != first)
      return false;
    first = members.fitness[m];
    any = true;
  }
  return true;
}

/// How many members are worse, less how many are better: ties share their mean,
/// and every value is whole.
static double getCenteredRank(const Members &members, size_t m) {
  int64_t rank = 0;
  for (size_t i = 0; i < members.fitness.size(); ++i) {
    if (!members.counts[i])
      continue;
    rank += members.fitness[i] < members.fitness[m];
    rank -= members.fitness[i] > members.fitness[m];
  }
  return double(rank);
}

static double getSign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

static std::vector<double> getWeights(const Members &members, int64_t count,
                                      const ShapingOptions &options) {
  size_t n = members.fitness.size();
  std::vector<double> weights(n, 0.0);
  double mean = 0, variance = 0;
  for (size_t m = 0; m < n; ++m)
    if (members.counts[m])
      mean = mean + members.fitness[m];
  mean = mean / double(count);
  for (size_t m = 0; m < n; ++m) {
    double d = members.fitness[m] - mean;
    if (members.counts[m])
      variance = variance + d * d;
  }
  double deviation = std::sqrt(variance / double(count));
  for (size_t m = 0; m < n; ++m) {
    if (!members.counts[m])
      continue;
    switch (options.shaping) {
    case Shaping::centered_rank:
      weights[m] = getCenteredRank(members, m);
      if (!options.integer)
        weights[m] = weights[m] / double(2 * (count - 1));
      break;
    case Shaping::zscore:
      weights[m] = deviation > 0 ? (members.fitness[m] - mean) / deviation : 0;
      break;
    case Shaping::sign:
      // Of a pair, the sign of its difference, carried by its first member.
      if (!options.antithetic)
        weights[m] = getSign(getCenteredRank(members, m));
      else if (m % 2 == 0)
        weights[m] = members.fitness[m] == members.fitness[m + 1]
                         ? 0
                         : getSign(members.fitness[m] - members.fitness[m + 1]);
      break;
    case Shaping::raw:
      weights[m] = members.fitness[m];
      break;
    }
  }
  return weights;
}

Coefficients
mlir::es::reference::shapeFitness(const std::vector<float> &fitness,
                                  const ShapingOptions &options) {
  Coefficients result;
  size_t n = fitness.size();
  Members members{{fitness.begin(), fitness.end()}, std::vector<bool>(n, true)};
  if (options.nan == NanPolicy::error)
    for (double f : members.fitness)
      result.ok &= !isBad(f, options.shaping);
  if (options.nan == NanPolicy::worst)
    replaceByWorst(members, options);
  if (options.nan == NanPolicy::drop)
    dropBad(members, options);
  for (bool counts : members.counts)
    result.members += counts;

  size_t pairs = options.antithetic ? n / 2 : n;
  result.values.assign(pairs, 0.0f);
  if (options.shaping == Shaping::centered_rank && options.integer &&
      result.members > 1)
    result.unit = 1.0 / double(2 * (result.members - 1));
  if (!result.ok || allEqual(members))
    return result;
  std::vector<double> weights = getWeights(members, result.members, options);
  for (size_t p = 0; p < pairs; ++p)
    result.values[p] = options.antithetic
                           ? float(weights[2 * p] - weights[2 * p + 1])
                           : float(weights[p]);
  return result;
}

float mlir::es::reference::getScale(Scale scale, int64_t members, double sigma,
                                    double unit) {
  if (members == 0)
    return 0.0f;
  double n = double(members);
  switch (scale) {
  case Scale::exact:
    return float(unit / (n * sigma));
  case Scale::mean:
    return float(unit / n);
  case Scale::sqrt:
    return float(unit * sigma / std::sqrt(n));
  }
  __builtin_unreachable();
}
