//===- PrintParameters.cpp - Print the parameter inventory ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/RuleOptions.h"
#include "es/Dialect/ES/Transforms/Passes.h"

namespace mlir::es {
#define GEN_PASS_DEF_PRINTPARAMETERS
#include "es/Dialect/ES/Transforms/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {
struct PrintParametersPass
    : PassWithRules<es::impl::PrintParametersBase<PrintParametersPass>> {
  void runOnOperation() override;
};
} // namespace

static void print(const StorageInfo &info, raw_ostream &os) {
  os << "  " << stringifyRole(info.role) << " " << info.name << " : "
     << info.getStoredType();
  if (info.isParameter())
    os << " id " << *info.id;
  os << " from " << stringifyRoleSource(info.source);
  if (info.isParameter() && info.isTrainedByES &&
      info.role == Role::FrozenParameter)
    os << ", trained by es only";
  if (info.donated)
    os << ", donated";
  if (!info.isRead)
    os << ", never read";
  os << "\n";
}

void PrintParametersPass::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<ParameterRules> parsed = parseRules();
  if (failed(parsed))
    return signalPassFailure();
  markAllAnalysesPreserved();
  ModuleParameters parameters(module);
  for (auto func : module.getOps<FunctionOpInterface>()) {
    auto symbol = dyn_cast<SymbolOpInterface>(func.getOperation());
    if (func.isExternal() || (symbol && !symbol.isPublic()))
      continue;
    FailureOr<Inventory> inventory =
        Inventory::compute(func, *parsed, &parameters);
    if (failed(inventory))
      return signalPassFailure();
    llvm::outs() << "@" << func.getName() << ":\n";
    for (const StorageInfo &info : inventory->getStorages())
      print(info, llvm::outs());
  }
}
