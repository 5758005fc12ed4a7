//===- CheckpointPass.cpp - Recomputation as a pass -----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Training/Passes.h"
#include "es/Training/TrainingGraph.h"

#include "es/Dialect/ES/IR/ES.h"

namespace mlir::es {
#define GEN_PASS_DEF_CHECKPOINT
#include "es/Training/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {
struct CheckpointPass : es::impl::CheckpointBase<CheckpointPass> {
  using CheckpointBase::CheckpointBase;
  void runOnOperation() override;
};
} // namespace

/// True if gradients follow ops of which they read values, in one block.
static bool isTrainingStep(FunctionOpInterface func) {
  if (func.isExternal() || !func.getFunctionBody().hasOneBlock())
    return false;
  return func.walk([](VjpOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static FailureOr<TrainingGraph> readStep(FunctionOpInterface func,
                                         ModuleParameters &parameters) {
  FailureOr<Inventory> inventory =
      Inventory::compute(func, ParameterRules(), &parameters);
  if (failed(inventory))
    return failure();
  TrainingGraph graph;
  graph.func = func;
  for (const StorageInfo &info : inventory->getStorages())
    if (info.value)
      graph.storages[info.value] = {info.role, info.getStoredType(), info.name};
  return graph;
}

void CheckpointPass::runOnOperation() {
  ModuleOp module = getOperation();
  llvm::Expected<CheckpointChoice> options = parseCheckpointChoice(checkpoint);
  if (!options) {
    module.emitError() << getArgument() << ": "
                       << llvm::toString(options.takeError());
    return signalPassFailure();
  }
  StringRef name = StringRef(entry).ltrim('@');
  SmallVector<FunctionOpInterface> steps;
  for (auto func : module.getOps<FunctionOpInterface>())
    if (isTrainingStep(func) && (name.empty() || func.getName() == name))
      steps.push_back(func);
  if (steps.empty()) {
    module.emitError() << getArgument()
                       << ": no training step with gradients (es.vjp) in one "
                          "block; es-build-training-graph makes one";
    return signalPassFailure();
  }
  ModuleParameters parameters(module);
  for (FunctionOpInterface func : steps) {
    FailureOr<TrainingGraph> graph = readStep(func, parameters);
    if (failed(graph))
      return signalPassFailure();
    std::vector<TrainingGraph> same;
    same.push_back(std::move(*graph));
    if (failed(checkpointStep(std::move(same), *options)))
      return signalPassFailure();
  }
}
