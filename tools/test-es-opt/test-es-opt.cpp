//===- test-es-opt.cpp - An opt tool with the passes of the tests ---------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "es/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::es::registerAllDialects(registry);
  mlir::es::registerAllPasses();
  mlir::es::registerTestPasses();
  return asMainReturnCode(MlirOptMain(
      argc, argv, "es-opt with the passes of its tests\n", registry));
}
