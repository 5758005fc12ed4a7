//===- AnnotateParams.cpp - Write the parameter inventory down ------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/Parameters.h"
#include "es/Dialect/ES/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::es {
#define GEN_PASS_DEF_ANNOTATEPARAMS
#include "es/Dialect/ES/Transforms/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {
struct AnnotateParamsPass : es::impl::AnnotateParamsBase<AnnotateParamsPass> {
  using AnnotateParamsBase::AnnotateParamsBase;

  void runOnOperation() override;
  llvm::Expected<ParameterRules> parseRules();
  void annotate(FunctionOpInterface func, const Inventory &inventory,
                SmallVectorImpl<Attribute> &entries);
};
} // namespace

llvm::Expected<ParameterRules> AnnotateParamsPass::parseRules() {
  std::vector<std::pair<ParameterRule::Kind, std::string>> given;
  auto add = [&](ParameterRule::Kind kind, ArrayRef<std::string> patterns) {
    for (const std::string &pattern : patterns)
      given.push_back({kind, pattern});
  };
  add(ParameterRule::Params, params);
  add(ParameterRule::Inputs, inputs);
  add(ParameterRule::Train, train);
  add(ParameterRule::Freeze, freeze);
  add(ParameterRule::StoredAs, storedAs);
  return ParameterRules::parse(given, &getContext());
}

static ParamAttr makeParam(const StorageInfo &info, ParamAttr old) {
  MLIRContext *context = info.value.getContext();
  Builder builder(context);
  // An id that is not the name's hash has to be stated.
  IntegerAttr id;
  if (*info.id != hashParameterName(info.name))
    id = builder.getI32IntegerAttr(*info.id);
  return ParamAttr::get(
      context,
      info.role == Role::TrainableParameter ? Trainability::Trainable
                                            : Trainability::Frozen,
      builder.getStringAttr(info.name), id, info.stored,
      old ? old.getSigma() : FloatAttr(), old ? old.getLr() : FloatAttr());
}

static SymbolRefAttr getGlobal(Operation *op) {
  for (StringRef key : {"name", "global"})
    if (auto symbol = op->getAttrOfType<SymbolRefAttr>(key))
      return symbol;
  return nullptr;
}

/// The es.param op that uses the constant already.
static ParamOp findUse(Value value) {
  for (Operation *user : value.getUsers())
    if (auto param = dyn_cast<ParamOp>(user))
      return param;
  return nullptr;
}

void AnnotateParamsPass::annotate(FunctionOpInterface func,
                                  const Inventory &inventory,
                                  SmallVectorImpl<Attribute> &entries) {
  Builder builder(&getContext());
  for (const StorageInfo &info : inventory.getStorages()) {
    if (auto argument = dyn_cast<BlockArgument>(info.value)) {
      unsigned index = argument.getArgNumber();
      auto old = func.getArgAttrOfType<ParamAttr>(index, "es.param");
      if (info.isParameter())
        func.setArgAttr(index, "es.param", makeParam(info, old));
      else if (old)
        func.removeArgAttr(index, "es.param");
      continue;
    }
    if (!info.isParameter())
      continue;
    Operation *op = info.value.getDefiningOp();
    SymbolRefAttr symbol = getGlobal(op);
    ParamOp use = findUse(info.value);
    ParamAttr param = makeParam(info, use ? use.getParam() : ParamAttr());
    if (use) {
      use.setParamAttr(param);
    } else if (!symbol) {
      OpBuilder inserter(op->getContext());
      inserter.setInsertionPointAfter(op);
      use = ParamOp::create(inserter, op->getLoc(), info.value, param);
      Value constant = info.value;
      constant.replaceAllUsesExcept(use.getResult(), use);
    }
    SmallVector<NamedAttribute> fields = {
        builder.getNamedAttr("param", param),
        builder.getNamedAttr("type", TypeAttr::get(info.value.getType()))};
    if (symbol)
      fields.push_back(builder.getNamedAttr("symbol", symbol));
    Attribute entry = builder.getDictionaryAttr(fields);
    if (!llvm::is_contained(entries, entry))
      entries.push_back(entry);
  }
}

void AnnotateParamsPass::runOnOperation() {
  llvm::Expected<ParameterRules> rules = parseRules();
  if (!rules) {
    getOperation().emitError()
        << "es-annotate-params: " << llvm::toString(rules.takeError());
    return signalPassFailure();
  }
  SmallVector<Attribute> entries;
  for (auto func : getOperation().getOps<FunctionOpInterface>()) {
    if (func.isExternal() || !cast<SymbolOpInterface>(*func).isPublic())
      continue;
    FailureOr<Inventory> inventory = Inventory::compute(func, *rules);
    if (failed(inventory))
      return signalPassFailure();
    for (const ParameterRule *rule : inventory->getUnmatched())
      func.emitWarning() << getRuleFlag(rule->kind) << "='" << rule->pattern
                         << "' matches nothing";
    annotate(func, *inventory, entries);
  }
  if (!entries.empty())
    getOperation()->setAttr(kParametersAttrName,
                            ArrayAttr::get(&getContext(), entries));
}
