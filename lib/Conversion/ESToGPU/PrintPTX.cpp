//===- PrintPTX.cpp - The text of compiled kernels ------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::es {
#define GEN_PASS_DEF_ESPRINTPTX
#include "es/Conversion/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {
struct PrintPTXPass : es::impl::ESPrintPTXBase<PrintPTXPass> {
  using Base = es::impl::ESPrintPTXBase<PrintPTXPass>;
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([](gpu::BinaryOp binary) {
      for (Attribute object : binary.getObjects())
        llvm::outs() << cast<gpu::ObjectAttr>(object).getObject().getValue();
    });
  }
};
} // namespace
