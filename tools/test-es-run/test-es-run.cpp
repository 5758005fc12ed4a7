//===- test-es-run.cpp - Prediction against execution ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each function of a file that is marked `test.run`: predicts the peak of
// the module as it is written, compiles it with es-bufferize, runs it with a
// counting allocator, and compares; then compares the results with those of
// upstream's bufferization. A step of Evolution Strategies is also compared
// with the reference. Prints a line a function; exits with 1 if one of them
// differs, leaks, or frees twice.
//
//===----------------------------------------------------------------------===//

#include "EmitPrograms.h"
#include "EvolutionStep.h"
#include "Harness.h"
#include "es/InitAll.h"
#include "es/Report/MemoryReport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace mlir::es;

static constexpr StringRef kOurs = "es-bufferize";
static constexpr StringRef kStock =
    "func.func(convert-elementwise-to-linalg),"
    "es-destination-form,one-shot-bufferize{bufferize-function-boundaries "
    "allow-return-allocs-from-loops "
    "function-boundary-type-conversion=identity-layout-map}";

/// For programs with branches: the run takes one path, the prediction is the
/// most over all.
static llvm::cl::opt<bool>
    atMost("at-most",
           llvm::cl::desc("the count may be less than the prediction"));

static llvm::cl::opt<std::string> emitFolder(
    "emit", llvm::cl::desc("compile the programs to a C program in this folder "
                           "instead of running them"));

static FailureOr<uint64_t> predict(ModuleOp module, StringRef entry) {
  RawReportOptions raw;
  raw.entry = entry.str();
  raw.alignment = "64";
  llvm::Expected<ReportOptions> options =
      ReportOptions::parse(raw, module.getContext());
  if (!options) {
    llvm::errs() << llvm::toString(options.takeError()) << "\n";
    return failure();
  }
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<MemoryReport> report = buildMemoryReport(*copy, *options);
  if (failed(report))
    return failure();
  return report->functions.front().graphs.front().peakBytes;
}

/// Prints a line; true if everything agrees.
static bool check(ModuleOp module, StringRef entry) {
  llvm::outs() << "@" << entry << ": ";
  FailureOr<uint64_t> predicted = predict(module, entry);
  if (failed(predicted)) {
    llvm::outs() << "not analysed\n";
    return false;
  }
  llvm::outs() << "predicted " << *predicted << ", ";
  FailureOr<RunResult> ours = compileAndRun(module, entry, kOurs);
  if (failed(ours)) {
    llvm::outs() << "not run\n";
    return false;
  }
  llvm::outs() << "counted " << ours->peakBytes;
  bool ok =
      *predicted == ours->peakBytes || (atMost && ours->peakBytes < *predicted);
  auto fault = [&](bool is, const llvm::Twine &text) {
    if (is)
      llvm::outs() << ", " << text;
    ok &= !is;
  };
  fault(!ok, "DIFFERENT");
  fault(ours->leakedBlocks, llvm::Twine(ours->leakedBlocks) + " LEAKED");
  fault(ours->counts.invalidFrees,
        llvm::Twine(ours->counts.invalidFrees) + " INVALID FREES");
  fault(ours->counts.writesAfterFree,
        llvm::Twine(ours->counts.writesAfterFree) + " WRITES AFTER FREE");
  FailureOr<RunResult> stock = compileAndRun(module, entry, kStock);
  fault(failed(stock), "STOCK PIPELINE FAILED");
  fault(succeeded(stock) && stock->values != ours->values, "VALUES DIFFER");
  if (ok)
    llvm::outs() << (*predicted == ours->peakBytes ? ", equal" : ", less")
                 << ", values equal";
  llvm::outs() << "\n";
  return ok;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::cl::opt<std::string> file(llvm::cl::Positional, llvm::cl::Required);
  llvm::cl::ParseCommandLineOptions(argc, argv);
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::es::registerAllDialects(registry);
  mlir::es::registerAllPasses();
  registerAllToLLVMIRTranslations(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(file, sources, &context);
  if (!module)
    return 1;
  if (!emitFolder.empty())
    return failed(emitPrograms(*module, emitFolder));
  bool ok = true;
  unsigned count = 0;
  for (auto func : module->getOps<func::FuncOp>())
    if (func->hasAttr("test.run")) {
      ok &= check(*module, func.getName());
      if (func.getName().ends_with(".es_step"))
        ok &= checkEvolutionStep(*module, func.getName());
      ++count;
    }
  llvm::outs() << count << " programs\n";
  return ok && count ? 0 : 1;
}
