//===- BuildTrainingGraph.cpp - The training step as a pass ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/RuleOptions.h"
#include "es/Training/InlineCallees.h"
#include "es/Training/Options.h"
#include "es/Training/Passes.h"

namespace mlir::es {
#define GEN_PASS_DEF_BUILDTRAININGGRAPH
#include "es/Training/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {
struct BuildTrainingGraphPass
    : PassWithRules<es::impl::BuildTrainingGraphBase<BuildTrainingGraphPass>> {
  BuildTrainingGraphPass() = default;
  // Options copy themselves in Pass::clone.
  BuildTrainingGraphPass(const BuildTrainingGraphPass &other)
      : PassWithRules(other) {}

  void runOnOperation() override;
  LogicalResult buildAll(const ParameterRules &rules,
                         const TrainingOptions &options);

#define ES_OPTION(member, flag, value, help)                                   \
  Option<std::string> member{*this, flag, llvm::cl::desc(help),                \
                             llvm::cl::init(value)};
#define ES_SWITCH(member, flag, help)                                          \
  Option<bool> member{*this, flag, llvm::cl::desc(help), llvm::cl::init(false)};
#include "es/Training/Options.def"
#undef ES_OPTION
#undef ES_SWITCH
  Option<std::string> entry{*this, "entry",
                            llvm::cl::desc("the function, if not all")};
  Option<bool> eager{*this, "eager",
                     llvm::cl::desc("one gradient op for each op"),
                     llvm::cl::init(false)};
};
} // namespace

LogicalResult BuildTrainingGraphPass::buildAll(const ParameterRules &rules,
                                               const TrainingOptions &options) {
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
  llvm::SmallPtrSet<const ParameterRule *, 4> matched;
  for (FunctionOpInterface func : models) {
    FailureOr<Inventory> inventory =
        Inventory::compute(func, rules, &parameters);
    if (failed(inventory))
      return failure();
    for (const ParameterRule &rule : rules.getRules())
      if (!llvm::is_contained(inventory->getUnmatched(), &rule))
        matched.insert(&rule);
    FailureOr<TrainingGraph> graph =
        buildTrainingGraph(func, *inventory, options);
    if (failed(graph))
      return failure();
    for (const std::string &note : graph->notes)
      func->emitRemark() << note;
  }
  for (const ParameterRule &rule : rules.getRules())
    if (!matched.contains(&rule))
      module.emitWarning() << getRuleFlag(rule.kind) << "='" << rule.pattern
                           << "' matches nothing";
  return success();
}

void BuildTrainingGraphPass::runOnOperation() {
  FailureOr<ParameterRules> rules = parseRules();
  if (failed(rules))
    return signalPassFailure();
  llvm::Expected<TrainingOptions> options =
      parseTrainingOptions(collectTrainingOptions(*this), &getContext());
  if (!options) {
    getOperation().emitError()
        << getArgument() << ": " << llvm::toString(options.takeError());
    return signalPassFailure();
  }
  options->eager = eager;
  inlinePrivateCallees(getOperation());
  if (failed(buildAll(*rules, *options)))
    signalPassFailure();
}
