//===- BuildEvolutionGraph.cpp - The ES step as a pass --------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/RuleOptions.h"
#include "es/Training/EvolutionGraph.h"
#include "es/Training/InlineCallees.h"
#include "es/Training/Options.h"
#include "es/Training/Passes.h"

namespace mlir::es {
#define GEN_PASS_DEF_BUILDESSTEP
#include "es/Training/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {
struct BuildESStepPass
    : PassWithRules<es::impl::BuildESStepBase<BuildESStepPass>> {
  BuildESStepPass() = default;
  // Options copy themselves in Pass::clone.
  BuildESStepPass(const BuildESStepPass &other) : PassWithRules(other) {}

  void runOnOperation() override;
  LogicalResult buildAll(const ParameterRules &rules,
                         const EvolutionOptions &options);
  llvm::Expected<EvolutionOptions> parse();

#define ES_OPTION(member, flag, value, help)                                   \
  Option<std::string> member{*this, flag, llvm::cl::desc(help),                \
                             llvm::cl::init(value)};
#include "es/Training/Evolution.def"
#undef ES_OPTION
#undef ES_SWITCH
  Option<std::string> loss{*this, "loss",
                           llvm::cl::desc("auto, xent, mse, sum, or the number "
                                          "of the result that is the loss"),
                           llvm::cl::init("auto")};
  Option<std::string> entry{*this, "entry",
                            llvm::cl::desc("the function, if not all")};
};
} // namespace

LogicalResult BuildESStepPass::buildAll(const ParameterRules &rules,
                                        const EvolutionOptions &options) {
  ModuleOp module = getOperation();
  ModuleParameters parameters(module);
  StringRef name = StringRef(entry).ltrim('@');
  SmallVector<FunctionOpInterface> models;
  for (auto func : module.getOps<FunctionOpInterface>()) {
    auto symbol = dyn_cast<SymbolOpInterface>(func.getOperation());
    bool isPublic = !symbol || symbol.isPublic();
    if (!func.isExternal() &&
        (name.empty() ? isPublic : func.getName() == name))
      models.push_back(func);
  }
  if (models.empty())
    return module.emitError("no function with a body to train");
  for (FunctionOpInterface func : models) {
    FailureOr<Inventory> inventory =
        Inventory::compute(func, rules, &parameters);
    if (failed(inventory) ||
        failed(buildEvolutionGraph(func, *inventory, options)))
      return failure();
  }
  return success();
}

llvm::Expected<EvolutionOptions> BuildESStepPass::parse() {
  RawTrainingOptions raw;
  raw.loss = loss;
  llvm::Expected<TrainingOptions> training =
      parseTrainingOptions(raw, &getContext());
  if (!training)
    return training.takeError();
  llvm::Expected<EvolutionOptions> options =
      parseEvolutionOptions(collectEvolutionOptions(*this));
  if (!options)
    return options;
  options->loss = training->loss;
  options->lossResults = training->lossResults;
  return options;
}

void BuildESStepPass::runOnOperation() {
  FailureOr<ParameterRules> rules = parseRules();
  if (failed(rules))
    return signalPassFailure();
  llvm::Expected<EvolutionOptions> options = parse();
  if (!options) {
    getOperation().emitError()
        << getArgument() << ": " << llvm::toString(options.takeError());
    return signalPassFailure();
  }
  inlinePrivateCallees(getOperation());
  if (failed(buildAll(*rules, *options)))
    signalPassFailure();
}
