//===- Bound.cpp - Whole sums at the bound of 32 bits ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 3 pairs of int8 noise, |eps| <= 46, with coefficients of 15561475: sums up to
// 3 * 46 * 15561475 = 2147483550, 98 below 2^31 and the most that the verifier
// lets 32 bits have (one more in the coefficient is 40 too many). An element
// reaches it, with either sign, where all three draws are 46 or all are -46:
// twice in 256^3. Sums of 64 bits must say the same everywhere.
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::es;

static constexpr int64_t kElements = 1 << 20;

/// theta = 0 and lr s S = 16, a sample being a sixteenth of its entry: theta
/// becomes the sum as f32.
static std::string getText() {
  std::string text;
  for (std::string bits : {"32", "64"})
    text += "func.func @sum" + bits +
            "(%w: memref<1048576xf32>, %c: memref<3xf32>, %key: i64) "
            "attributes {llvm.emit_c_interface} {\n"
            "%n = arith.constant 1 : i64\n%u = arith.constant 1.0 : f64\n"
            "es.update sgd maximize int8 key(%key) "
            "weights(%c, %n, %u : memref<3xf32>) "
            "params(%w : memref<1048576xf32>) as [#es.param<trainable \"w\">] "
            "{sigma = 1.0, lr = 16.0, order = #es.order<exact>, "
            "max_coefficient = 15561475, accumulator = #es.accumulator<s" +
            bits + ">}\nreturn\n}\n";
  return text;
}

std::string mlir::es::runBound(MLIRContext &context) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(getText(), &context);
  if (!module)
    return "does not parse";
  std::unique_ptr<ExecutionEngine> engine = compile(*module, Case());
  if (!engine)
    return "does not compile";
  std::vector<float> coefficients(3, 15561475.0f);
  Descriptor c(coefficients.data(), {3});
  auto sum = [&](const char *name, std::vector<float> &theta, int64_t key) {
    theta.assign(kElements, 0.0f);
    Descriptor w(theta.data(), {kElements});
    void *memrefs[] = {w.words.data(), c.words.data()};
    SmallVector<void *> packed = {&memrefs[0], &memrefs[1], &key};
    llvm::cantFail(engine->invokePacked(name, packed));
  };
  // One key in sixteen has such an element of either sign.
  bool reached[2] = {false, false};
  std::vector<float> narrow, wide;
  for (int64_t key = 0; key < 4096 && !(reached[0] && reached[1]); ++key) {
    sum("_mlir_ciface_sum32", narrow, key);
    sum("_mlir_ciface_sum64", wide, key);
    if (std::memcmp(narrow.data(), wide.data(), 4 * kElements))
      return "sums of 32 bits differ from those of 64";
    for (float value : wide) {
      if (std::fabs(value) > 2147483550.0f)
        return "a sum is above its bound";
      reached[0] |= value == 2147483550.0f;
      reached[1] |= value == -2147483550.0f;
    }
  }
  return reached[0] && reached[1] ? "" : "the bound is not reached";
}
