//===- test-es-kernel.cpp - Kernels against the reference -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles updates and perturbations for this machine, runs them over
// parameters of many shapes, and compares every bit of parameters and states
// with lib/Reference. Prints a line a case; exits with 1 if one differs.
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "es/Dialect/ES/IR/ES.h"

#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace mlir::es;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  Case one;
  bool pairwise = false;
  llvm::cl::opt<bool, true> all("pairwise", llvm::cl::location(pairwise),
                                llvm::cl::desc("all pairs of choices"));
  llvm::cl::opt<bool> shaping("shaping", llvm::cl::desc("es.shape_fitness"));
  llvm::cl::opt<bool> bound("bound", llvm::cl::desc("greatest whole sums"));
  llvm::cl::opt<bool> properties("properties",
                                 llvm::cl::desc("what changes no bit"));
  llvm::cl::opt<unsigned> statistics(
      "statistics", llvm::cl::init(0),
      llvm::cl::desc("of 2 to this many draws of --noise"));
  llvm::cl::opt<unsigned> part("part", llvm::cl::init(0)),
      parts("parts", llvm::cl::init(1));
  std::vector<std::unique_ptr<llvm::cl::opt<std::string, true>>> names;
  auto addName = [&](StringRef name, std::string &value) {
    names.push_back(std::make_unique<llvm::cl::opt<std::string, true>>(
        name, llvm::cl::location(value), llvm::cl::init(value)));
  };
  addName("es-op", one.op);
  addName("element", one.element);
  addName("noise", one.noise);
  addName("sum-order", one.order);
  addName("accumulator", one.accumulator);
  addName("optimizer", one.optimizer);
  addName("decay", one.decay);
  addName("es-rounding", one.rounding);
  addName("fixed", one.fixed);
  addName("direction", one.direction);
  addName("es-scale", one.scale);
  addName("moment", one.moment);
  addName("quantum", one.quantum);
  addName("path", one.path);
  llvm::cl::opt<unsigned, true> rank("rank", llvm::cl::location(one.rank)),
      width("width", llvm::cl::location(one.width)),
      tile("tile", llvm::cl::location(one.tile)),
      level("level", llvm::cl::location(one.level)),
      threads("threads-of-kernels", llvm::cl::location(one.threads));
  llvm::cl::ParseCommandLineOptions(argc, argv);

  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<ESDialect>();
  registerAllToLLVMIRTranslations(registry);
  MLIRContext context(registry);
  if (shaping) {
    unsigned count = 0;
    std::string error = runShaping(context, count);
    llvm::outs() << "shaping: " << (error.empty() ? "equal" : error) << ", "
                 << count << " runs\n";
    return error.empty() ? 0 : 1;
  }
  if (bound) {
    std::string error = runBound(context);
    llvm::outs() << (error.empty() ? "at the bound: equal" : error) << "\n";
    return error.empty() ? 0 : 1;
  }
  if (properties) {
    std::string error = runProperties(context);
    llvm::outs() << (error.empty() ? "properties hold" : error) << "\n";
    return error.empty() ? 0 : 1;
  }
  if (statistics) {
    std::string error = runStatistics(context, one.noise, statistics);
    llvm::outs() << (error.empty() ? "within bounds"
                                   : "out of bounds: " + error)
                 << "\n";
    return error.empty() ? 0 : 1;
  }
  one.normalise();
  std::vector<Case> cases =
      pairwise ? makePairwiseCases() : std::vector<Case>{one};
  bool ok = true;
  unsigned count = 0;
  for (size_t i = part; i < cases.size(); i += parts) {
    if (!canRun(cases[i])) {
      llvm::outs() << cases[i].print() << ": skipped, no libomp\n";
      continue;
    }
    std::string error = runCase(context, cases[i]);
    llvm::outs() << cases[i].print() << ": "
                 << (error.empty() ? "equal" : error) << "\n";
    llvm::outs().flush();
    ok &= error.empty();
    ++count;
  }
  llvm::outs() << count << " cases\n";
  return ok && count ? 0 : 1;
}
