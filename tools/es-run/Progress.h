//===- Progress.h - How far a run is ---------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_ES_RUN_PROGRESS_H
#define ES_TOOLS_ES_RUN_PROGRESS_H

#include "mlir/Support/LLVM.h"
#include <chrono>
#include <vector>

namespace mlir::es {

struct FitnessSummary {
  FitnessSummary(ArrayRef<float> fitness, bool maximize);
  double mean = 0;
  float best;
};

/// A line on standard error: one that is written over on a terminal, one for
/// each generation elsewhere if it was asked for.
class Progress {
public:
  Progress(unsigned generations, unsigned done, bool isWanted);
  ~Progress();
  void show(unsigned generation, const FitnessSummary &fitness);

private:
  using Clock = std::chrono::steady_clock;
  unsigned generations, first;
  bool isShown, isTerminal;
  size_t width = 0;
  Clock::time_point start = Clock::now(), last;
};

} // namespace mlir::es

#endif // ES_TOOLS_ES_RUN_PROGRESS_H
