//===- Shape.cpp - Every way of shaping fitness, compared -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "es/Reference/Shaping.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::es;
namespace ref = mlir::es::reference;

static const char *const kShapings[] = {"centered_rank", "zscore", "sign",
                                        "raw"};
static const char *const kPolicies[] = {"error", "worst", "drop"};

static std::vector<ref::ShapingOptions> getAllOptions() {
  std::vector<ref::ShapingOptions> all;
  for (int shaping = 0; shaping < 4; ++shaping)
    for (int nan = 0; nan < 3; ++nan)
      for (bool maximize : {true, false})
        for (bool antithetic : {true, false})
          for (bool integer : {true, false})
            if (!integer || shaping == 0)
              all.push_back({ref::Shaping(shaping), ref::NanPolicy(nan),
                             maximize, antithetic, integer});
  return all;
}

static std::string getText(const ref::ShapingOptions &o, size_t index) {
  std::string f = "memref<?xf32>";
  return "func.func @f" + std::to_string(index) + "(%f: " + f + ", %c: " + f +
         ", %m: memref<1xi64>, %w: memref<1xf64>) attributes "
         "{llvm.emit_c_interface} {\n%z = arith.constant 0 : index\n"
         "%n, %u = es.shape_fitness " +
         kShapings[int(o.shaping)] + (o.maximize ? " maximize" : " minimize") +
         " %f into %c {nan = #es.nan_policy<" + kPolicies[int(o.nan)] + ">" +
         (o.antithetic ? ", antithetic" : "") + (o.integer ? ", integer" : "") +
         "} : " + f + " into " + f +
         "\nmemref.store %n, %m[%z] : memref<1xi64>\n"
         "memref.store %u, %w[%z] : memref<1xf64>\nreturn\n}\n";
}

/// Ties, NaN, infinities, equal values, and one to eight members.
static std::vector<std::vector<float>> getFitness() {
  float nan = std::nanf(""), inf = INFINITY;
  return {{},
          {3},
          {1, 2},
          {2, 1, 2},
          {0.1f, 0.1f, 0.1f, 0.1f},
          {3, 1, 4, 1, 5, 9, 2, 6},
          {-1e30f, 1e30f, 1e-30f, 0, -0.0f, 2.5f},
          {nan, 1, 2, 3},
          {nan, nan, nan, nan},
          {1, inf, -inf, 2},
          {nan, inf, 7, 7, 3, 2, -inf, 1}};
}

static bool same(const void *x, const void *y, size_t bytes) {
  return bytes == 0 || std::memcmp(x, y, bytes) == 0;
}

std::string mlir::es::runShaping(MLIRContext &context, unsigned &count) {
  std::vector<ref::ShapingOptions> all = getAllOptions();
  std::string text;
  for (size_t i = 0; i < all.size(); ++i)
    text += getText(all[i], i);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "does not parse:\n" + text;
  std::unique_ptr<ExecutionEngine> engine = compile(*module, Case());
  if (!engine)
    return "does not compile";
  for (size_t i = 0; i < all.size(); ++i)
    for (std::vector<float> fitness : getFitness()) {
      if (all[i].antithetic && fitness.size() % 2)
        continue;
      ref::Coefficients expected = ref::shapeFitness(fitness, all[i]);
      // The program would stop.
      if (!expected.ok)
        continue;
      size_t pairs = expected.values.size();
      std::vector<float> actual(pairs + 1, -7.0f);
      int64_t members = -1;
      double unit = -1;
      Descriptor f(fitness.data(), {int64_t(fitness.size())}),
          c(actual.data(), {int64_t(pairs)}), m(&members, {1}), u(&unit, {1});
      void *pointers[] = {f.words.data(), c.words.data(), m.words.data(),
                          u.words.data()};
      SmallVector<void *> packed;
      for (void *&pointer : pointers)
        packed.push_back(&pointer);
      if (llvm::Error error = engine->invokePacked(
              "_mlir_ciface_f" + std::to_string(i), packed))
        return llvm::toString(std::move(error));
      if (!same(actual.data(), expected.values.data(), 4 * pairs) ||
          members != expected.members || !same(&unit, &expected.unit, 8) ||
          actual[pairs] != -7.0f)
        return "differs over " + std::to_string(fitness.size()) +
               " members: " + getText(all[i], i);
      ++count;
    }
  return "";
}
