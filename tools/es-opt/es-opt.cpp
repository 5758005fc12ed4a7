//===- es-opt.cpp - The es-opt driver -------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An ordinary MLIR opt tool, which with --memory-report says what a model needs
// instead of printing it.
//
//===----------------------------------------------------------------------===//

#include "ReportDriver.h"
#include "es/Foreign/Reader.h"
#include "es/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static llvm::cl::opt<bool> upgradeSyntax(
    "upgrade-syntax",
    llvm::cl::desc("print the input, MLIR text of an older version, in the "
                   "syntax of today"));

/// An opt tool on text that is prepared for its parser.
static LogicalResult runOpt(StringRef inputFile, StringRef outputFile,
                            DialectRegistry &registry) {
  std::string why;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputFile, &why);
  std::unique_ptr<llvm::ToolOutputFile> output =
      input ? openOutputFile(outputFile, &why) : nullptr;
  if (!output) {
    llvm::errs() << why << "\n";
    return failure();
  }
  if (upgradeSyntax) {
    output->os() << es::upgradeSyntax(input->getBuffer());
    output->keep();
    return success();
  }
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  es::ReadOptions reading;
  reading.strict = es::isStrict() || !config.shouldAllowUnregisteredDialects();
  if (failed(es::prepareModelText(input, registry, reading, llvm::errs())) ||
      failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return failure();
  output->keep();
  return success();
}

/// A diagnostic says what is wrong and where; the op behind it, which may be
/// the whole module, follows only on request.
static void keepDiagnosticsShort() {
  mlir::registerMLIRContextCLOptions();
  auto &options = llvm::cl::getRegisteredOptions();
  auto it = options.find("mlir-print-op-on-diagnostic");
  if (it != options.end())
    static_cast<llvm::cl::opt<bool> *>(it->second)->setInitialValue(false);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::es::registerAllDialects(registry);
  mlir::es::registerAllPasses();
  mlir::es::registerReportOptions();
  keepDiagnosticsShort();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "es-opt: the memory of a model, before it runs\n", registry);
  if (mlir::es::isReportRequested())
    return mlir::es::runReport(input, output, registry);
  if (llvm::StringRef flag = mlir::es::getStrayReportFlag(); !flag.empty()) {
    llvm::errs() << "error: --" << flag << " needs --memory-report\n";
    return 1;
  }
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  return asMainReturnCode(runOpt(input, output, registry));
}
