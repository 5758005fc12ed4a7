//===- Progress.cpp - How far a run is -----------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::es;

/// What is not a number counts in neither.
FitnessSummary::FitnessSummary(ArrayRef<float> fitness, bool maximize)
    : best(std::numeric_limits<float>::quiet_NaN()) {
  unsigned count = 0;
  for (float value : fitness) {
    if (value != value)
      continue;
    mean += value;
    if (count++ == 0 || (maximize ? value > best : value < best))
      best = value;
  }
  mean /= count;
}

Progress::Progress(unsigned generations, unsigned done, bool isWanted)
    : generations(generations), first(done),
      isTerminal(llvm::sys::Process::StandardErrIsDisplayed()) {
  isShown = isTerminal || isWanted;
}

Progress::~Progress() {
  if (isTerminal && width)
    llvm::errs() << '\n';
}

static std::string formatTime(double seconds) {
  uint64_t whole = seconds + 0.5;
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (whole >= 3600)
    stream << whole / 3600 << llvm::format("h%02u", unsigned(whole / 60 % 60));
  else
    stream << whole / 60 << llvm::format(":%02u", unsigned(whole % 60));
  return text;
}

void Progress::show(unsigned generation, const FitnessSummary &fitness) {
  if (!isShown)
    return;
  Clock::time_point now = Clock::now();
  // Ten times a second is enough for an eye.
  if (isTerminal && generation < generations &&
      now - last < std::chrono::milliseconds(100))
    return;
  last = now;
  double passed = std::chrono::duration<double>(now - start).count();
  double left = passed / (generation - first) * (generations - generation);
  std::string line;
  llvm::raw_string_ostream stream(line);
  stream << "generation " << generation << '/' << generations
         << llvm::format("  fitness mean %.5g best %.5g", fitness.mean,
                         double(fitness.best))
         << "  " << formatTime(left) << " left";
  if (!isTerminal) {
    llvm::errs() << line << '\n';
    return;
  }
  size_t size = line.size();
  line.append(width > size ? width - size : 0, ' ');
  width = size;
  llvm::errs() << '\r' << line;
}
