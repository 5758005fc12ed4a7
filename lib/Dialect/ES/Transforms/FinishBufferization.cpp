//===- FinishBufferization.cpp - Tensors to memrefs, all in place ---------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferUtils.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::es {
#define GEN_PASS_DEF_FINISHBUFFERIZATION
#include "es/Dialect/ES/Transforms/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {
struct FinishBufferizationPass
    : es::impl::FinishBufferizationBase<FinishBufferizationPass> {
  void runOnOperation() override {
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    options.allowUnknownOps = true;
    options.setFunctionBoundaryTypeConversion(
        bufferization::LayoutMapOption::IdentityLayoutMap);
    options.inferFunctionResultLayout = true;
    bufferization::BufferizationState state;
    // Upstream visits functions in the order of a hash table of calls. Globals
    // made in the order of the module have the same names and places each time.
    WalkResult globals = getOperation().walk([&](arith::ConstantOp constant) {
      return isa<RankedTensorType>(constant.getType()) &&
                     failed(bufferization::getGlobalFor(
                         constant, state.getSymbolTables(),
                         options.bufferAlignment,
                         options
                             .defaultMemorySpaceFn(
                                 cast<TensorType>(constant.getType()))
                             .value_or(Attribute())))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (globals.wasInterrupted())
      return signalPassFailure();
    if (failed(
            bufferization::bufferizeModuleOp(getOperation(), options, state)))
      return signalPassFailure();
    bufferization::removeBufferizationAttributesInModule(getOperation());
  }
};
} // namespace

void mlir::es::buildBufferizePipeline(OpPassManager &manager) {
  // Private callees are part of their callers, as they are in the report.
  manager.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  manager.addPass(createDestinationForm());
  manager.addPass(createRealizeBuffers());
  manager.addPass(createFinishBufferization());
}

void mlir::es::registerESPipelines() {
  PassPipelineRegistration<>(
      "es-bufferize",
      "bufferize with the in-place decisions, allocations and deallocations "
      "that the memory report counts",
      buildBufferizePipeline);
}
