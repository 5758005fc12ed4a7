//===- Case.h - One update or perturbation to check -------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_TEST_ES_KERNEL_CASE_H
#define ES_TOOLS_TEST_ES_KERNEL_CASE_H

#include <string>
#include <vector>

namespace mlir::es {

/// The choices of a case, by name as in the IR.
struct Case {
  std::string op = "update", element = "f32", noise = "normal16", order = "seq",
              accumulator = "s64", optimizer = "sgd", decay = "none",
              rounding = "nearest", fixed = "nearest", direction = "maximize",
              scale = "exact", moment = "f32", quantum = "tensor",
              path = "vector";
  unsigned rank = 0, width = 16, tile = 2048, level = 3, threads = 1;

  /// Takes back what does not go together.
  void normalise();
  std::string print() const;
};

/// Cases in which every two choices of different kinds meet at least once.
std::vector<Case> makePairwiseCases();

} // namespace mlir::es

#endif // ES_TOOLS_TEST_ES_KERNEL_CASE_H
