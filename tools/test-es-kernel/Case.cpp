//===- Case.cpp - Choices, and a set that covers all pairs ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Case.h"

#include <cstdint>
#include <set>
#include <tuple>

using namespace mlir::es;

void Case::normalise() {
  bool half = element == "bf16" || element == "f16";
  bool integer = element[0] == 'i';
  if (op == "perturb") {
    order = "seq";
    optimizer = "sgd";
    decay = rounding = "none";
    scale = "exact";
  }
  if (!half || op == "perturb")
    rounding = "nearest";
  if (!integer || op == "perturb")
    fixed = "nearest";
  if (integer) {
    optimizer = "sgd";
    decay = "none";
  }
  if (optimizer == "sgd" || element == "f64")
    moment = "f32";
  if (!integer)
    quantum = "tensor";
  // These know neither vectors nor tiles; blocks of a GPU have 16 x width
  // threads.
  if (path != "vector") {
    width = path == "linalg" ? 1 : width;
    threads = 1;
    tile = 2048;
  }
  if (order == "exact" && noise != "int8")
    noise = "rademacher";
  if (order != "exact")
    accumulator = "s64";
}

std::string Case::print() const {
  std::string text = op + " " + element + " " + noise;
  for (auto [value, usual] : {std::pair(order, "seq"),
                              {accumulator, "s64"},
                              {optimizer, "sgd"},
                              {decay, "none"},
                              {rounding, "nearest"},
                              {fixed, "nearest"},
                              {direction, "maximize"},
                              {scale, "exact"},
                              {moment, "f32"},
                              {quantum, "tensor"},
                              {path, "vector"}})
    if (value != usual)
      text += " " + value;
  if (rank)
    text += " rank " + std::to_string(rank);
  return text + " width " + std::to_string(width) + " tile " +
         std::to_string(tile) + " O" + std::to_string(level) + " threads " +
         std::to_string(threads);
}

namespace {
/// A small generator of its own: the same cases everywhere.
struct Random {
  uint64_t state = 1;
  unsigned below(unsigned n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return unsigned(state >> 33) % n;
  }
};

using Fact = std::pair<unsigned, std::string>;
using FactPair = std::pair<Fact, Fact>;
} // namespace

static Case makeRandomCase(Random &random) {
  auto pick = [&](std::vector<std::string> choices) {
    return choices[random.below(choices.size())];
  };
  auto number = [&](std::vector<unsigned> choices) {
    return choices[random.below(choices.size())];
  };
  Case c;
  c.op = pick({"update", "update", "update", "perturb"});
  c.element = pick({"f32", "f64", "bf16", "f16", "i8", "i16", "i32"});
  c.noise = pick({"normal16", "normal32", "rademacher", "int8", "uniform"});
  c.order = pick({"seq", "chunk", "exact"});
  c.accumulator = pick({"s32", "s64"});
  c.optimizer = pick({"sgd", "momentum", "adam", "adamw"});
  c.decay = pick({"none", "coupled", "decoupled"});
  if (c.optimizer == "adamw" && c.decay == "coupled")
    c.decay = "decoupled";
  c.rounding = pick({"nearest", "stochastic", "compensated", "master"});
  c.fixed = pick({"nearest", "stochastic", "threshold", "error_feedback"});
  c.direction = pick({"maximize", "minimize"});
  c.scale = pick({"exact", "mean", "root"});
  c.moment = pick({"f32", "bf16", "f16"});
  c.quantum = pick({"tensor", "axis"});
  c.path = pick({"vector", "vector", "linalg", "gpu"});
  c.rank = number({0, 0, 1, 3});
  c.width = number({1, 4, 8, 16});
  // 1, 3, 8 and 64 runs of 128 elements.
  c.tile = number({1, 384, 1024, 8192});
  c.level = number({0, 3});
  c.threads = number({1, 2, 3});
  c.normalise();
  return c;
}

static std::vector<FactPair> getPairs(const Case &c) {
  std::vector<std::string> facts = {c.op,
                                    c.element,
                                    c.noise,
                                    c.order,
                                    c.accumulator,
                                    c.optimizer,
                                    c.decay,
                                    c.rounding,
                                    c.fixed,
                                    c.direction,
                                    c.scale,
                                    c.moment,
                                    c.quantum,
                                    c.path,
                                    std::to_string(c.rank),
                                    std::to_string(c.width),
                                    std::to_string(c.tile),
                                    std::to_string(c.level),
                                    std::to_string(c.threads)};
  std::vector<FactPair> pairs;
  for (unsigned i = 0; i < facts.size(); ++i)
    for (unsigned j = 0; j < i; ++j)
      pairs.push_back({{i, facts[i]}, {j, facts[j]}});
  return pairs;
}

/// Of many random cases those that add pairs, the best of forty at a time,
/// until none of 4000 adds any.
std::vector<Case> mlir::es::makePairwiseCases() {
  Random random;
  std::set<FactPair> covered;
  std::vector<Case> cases;
  for (unsigned idle = 0; idle < 100;) {
    Case best;
    unsigned most = 0;
    for (unsigned i = 0; i < 40; ++i) {
      Case candidate = makeRandomCase(random);
      unsigned added = 0;
      for (const FactPair &pair : getPairs(candidate))
        added += !covered.count(pair);
      if (added > most) {
        most = added;
        best = candidate;
      }
    }
    if (most == 0) {
      ++idle;
      continue;
    }
    idle = 0;
    for (const FactPair &pair : getPairs(best))
      covered.insert(pair);
    cases.push_back(best);
  }
  return cases;
}
