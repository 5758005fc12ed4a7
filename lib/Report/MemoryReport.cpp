//===- MemoryReport.cpp - The report of a module --------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Report/MemoryReport.h"
#include "ForwardBackward.h"
#include "FunctionBuilder.h"
#include "PerDevice.h"
#include "Prepare.h"

using namespace mlir;
using namespace mlir::es;

uint64_t mlir::es::getNeed(const GraphReport &graph,
                           const ReportOptions &options) {
  return llvm::SaturatingAdd(graph.getNeed(), options.reserve);
}

static bool exceedsBudget(const GraphReport &graph,
                          const ReportOptions &options) {
  return options.budget &&
         graph.kind == stringifyGraphKind(options.budgetGraph) &&
         getNeed(graph, options) > *options.budget;
}

bool MemoryReport::isOverBudget() const {
  return llvm::any_of(functions, [&](const FunctionReport &function) {
    return llvm::any_of(function.graphs, [&](const GraphReport &graph) {
      return exceedsBudget(graph, options);
    });
  });
}

std::string MemoryReport::getBudgetMessage() const {
  std::string text =
      "the budget of " + formatBytes(*options.budget) + " is exceeded";
  const char *separator = ": ";
  for (const FunctionReport &function : functions)
    for (const GraphReport &graph : function.graphs) {
      if (!exceedsBudget(graph, options))
        continue;
      text += separator + ("@" + function.name) + " needs " +
              std::to_string(getNeed(graph, options)) + " B for " +
              (graph.label.empty() ? graph.kind : graph.label);
      separator = ", ";
    }
  return text;
}

static size_t countOps(FunctionOpInterface func) {
  size_t count = 0;
  func.getFunctionBody().walk([&](Operation *) { ++count; });
  return count;
}

LogicalResult
mlir::es::selectEntries(ModuleOp module, const ReportOptions &options,
                        SmallVectorImpl<FunctionOpInterface> &entries,
                        SmallVectorImpl<FunctionOpInterface> &others) {
  bool all = llvm::is_contained(options.entries, "*");
  if (!options.forward.empty()) {
    FailureOr<FunctionOpInterface> step = composeStep(module, options);
    if (failed(step))
      return failure();
    entries.push_back(*step);
    return success();
  }
  if (!options.stepFunction.empty()) {
    auto func = dyn_cast_if_present<FunctionOpInterface>(
        SymbolTable::lookupSymbolIn(module, options.stepFunction));
    if (!func || func.isExternal())
      return module.emitError()
             << "--training names no function with a body: '@"
             << options.stepFunction << "'";
    entries.push_back(func);
    return success();
  }
  if (!options.entries.empty() && !all) {
    for (const std::string &name : options.entries) {
      auto func = dyn_cast_if_present<FunctionOpInterface>(
          SymbolTable::lookupSymbolIn(module, name));
      if (!func || func.isExternal())
        return module.emitError()
               << "--entry names no function with a body: '@" << name << "'";
      entries.push_back(func);
    }
    return success();
  }
  FunctionOpInterface largest;
  size_t most = 0;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto func = dyn_cast<FunctionOpInterface>(op);
    if (!func)
      return isa<ModuleOp>(op) ? WalkResult::advance() : WalkResult::skip();
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (!func.isExternal() && (!symbol || symbol.isPublic())) {
      others.push_back(func);
      if (size_t count = countOps(func); count > most) {
        most = count;
        largest = func;
      }
    }
    return WalkResult::skip();
  });
  if (!largest)
    return module.emitError()
           << "no public function with a body to report; name one with "
              "'--entry=@f'";
  if (all) {
    entries.swap(others);
    return success();
  }
  entries.push_back(largest);
  llvm::erase(others, largest);
  return success();
}

FailureOr<MemoryReport>
mlir::es::buildMemoryReport(ModuleOp module, const ReportOptions &options) {
  MemoryReport report;
  report.options = options;
  if (std::optional<StringRef> name = module.getSymName())
    report.module = name->str();
  SmallVector<FunctionOpInterface> entries, others;
  if (failed(selectEntries(module, options, entries, others)))
    return failure();
  FailureOr<PreparedModule> prepared = prepareModule(module, entries, options);
  if (failed(prepared))
    return failure();
  ModuleParameters parameters(module);
  for (FunctionOpInterface func : entries) {
    FunctionBuilder builder(func, options, parameters, prepared->assumed);
    if (failed(builder.computeInventory()))
      return failure();
    FailureOr<FunctionReport> function = builder.build();
    if (failed(function) ||
        failed(addPerDevice(module, func, options, *function)))
      return failure();
    for (const auto &[resized, dimension] : prepared->resized)
      if (resized == func) {
        function->resized.push_back(dimension);
        function->assumptions.insert(
            function->assumptions.begin(),
            dimension.name + " " + std::to_string(dimension.to) +
                " instead of " + std::to_string(dimension.from) +
                ", with all that runs with it (--shape)");
      }
    report.functions.push_back(std::move(*function));
  }
  bool isExplained = llvm::any_of(report.functions, [](auto &function) {
    return !function.explanation.empty();
  });
  if (!options.explain.empty() && !isExplained)
    return module.emitError()
           << "no buffer is called '" << options.explain << "' (--explain)";
  for (FunctionOpInterface func : others) {
    FunctionBuilder builder(func, options, parameters);
    SizeOptions size = options.size;
    size.leadingDynamic = options.getBatch().value_or(1);
    if (failed(builder.computeInventory()))
      return failure();
    FailureOr<MemoryProfile> profile = builder.profile(size);
    if (failed(profile))
      return failure();
    report.others.push_back({func.getName().str(), profile->peakBytes});
  }
  return report;
}
