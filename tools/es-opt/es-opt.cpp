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
#include "es/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::es::registerAllDialects(registry);
  mlir::es::registerAllPasses();
  mlir::es::registerReportOptions();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "es-opt: the memory of a model, before it runs\n", registry);
  if (mlir::es::isReportRequested())
    return mlir::es::runReport(input, output, registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
