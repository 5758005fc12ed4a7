//===- StripAnnotations.cpp - Remove parameter annotations ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Removes what es-annotate-params adds.
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"
#include "es/Dialect/ES/Transforms/Passes.h"

namespace mlir::es {
#define GEN_PASS_DEF_STRIPANNOTATIONS
#include "es/Dialect/ES/Transforms/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {
struct StripAnnotationsPass
    : es::impl::StripAnnotationsBase<StripAnnotationsPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      op->removeDiscardableAttr(kParametersAttrName);
      if (auto param = dyn_cast<ParamOp>(op)) {
        param.getResult().replaceAllUsesWith(param.getValue());
        param.erase();
        return;
      }
      if (auto func = dyn_cast<FunctionOpInterface>(op))
        for (unsigned i = 0, e = func.getNumArguments(); i < e; ++i)
          func.removeArgAttr(i, "es.param");
    });
  }
};
} // namespace
