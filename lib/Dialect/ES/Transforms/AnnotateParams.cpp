//===- AnnotateParams.cpp - Write the parameter inventory down ------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments get an attribute; constants and globals get an entry in the
// module's inventory, constants also an es.param op, since nothing else names
// them.
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/RuleOptions.h"
#include "es/Dialect/ES/Transforms/Passes.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::es {
#define GEN_PASS_DEF_ANNOTATEPARAMS
#include "es/Dialect/ES/Transforms/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {
struct AnnotateParamsPass
    : PassWithRules<es::impl::AnnotateParamsBase<AnnotateParamsPass>> {
  void runOnOperation() override;
  void annotate(FunctionOpInterface func, const Inventory &inventory);
  void annotateArgument(FunctionOpInterface func, const StorageInfo &info);
  void annotateContents(FunctionOpInterface func, const StorageInfo &info);
  void addEntry(const StorageInfo &info, ParamAttr param);

  /// The inventory: what is read, in program order, then what is not.
  llvm::SetVector<Attribute> entries, unread;
  /// Names of constants: each is its own parameter in every function.
  llvm::StringMap<Value> constantNames;
};
} // namespace

/// The annotation that says what is known of `info`. An id is stated where it
/// is not the hash of the name.
static ParamAttr makeParam(const StorageInfo &info, StringRef name) {
  MLIRContext *context = info.type.getContext();
  Builder builder(context);
  IntegerAttr id;
  if (name == info.name && *info.id != hashParameterName(name))
    id = builder.getI32IntegerAttr(*info.id);
  return ParamAttr::get(context,
                        info.isTrainedByES ? Trainability::Trainable
                                           : Trainability::Frozen,
                        builder.getStringAttr(name), id, info.stored,
                        info.param ? info.param.getSigma() : FloatAttr(),
                        info.param ? info.param.getLr() : FloatAttr());
}

void AnnotateParamsPass::addEntry(const StorageInfo &info, ParamAttr param) {
  Builder builder(&getContext());
  SmallVector<NamedAttribute> fields = {
      builder.getNamedAttr("param", param),
      builder.getNamedAttr("type", TypeAttr::get(info.type))};
  SymbolRefAttr symbol;
  if (info.global)
    symbol = FlatSymbolRefAttr::get(SymbolTable::getSymbolName(info.global));
  else if (info.value)
    symbol = getLoadedGlobal(info.value.getDefiningOp());
  if (symbol)
    fields.push_back(builder.getNamedAttr("symbol", symbol));
  (info.value ? entries : unread).insert(builder.getDictionaryAttr(fields));
}

void AnnotateParamsPass::annotateArgument(FunctionOpInterface func,
                                          const StorageInfo &info) {
  unsigned index = cast<BlockArgument>(info.value).getArgNumber();
  if (info.isParameter())
    func.setArgAttr(index, "es.param", makeParam(info, info.name));
  else
    func.removeArgAttr(index, "es.param");
}

/// The es.param ops on a constant that say the same, or one that is new.
static void annotateConstant(const StorageInfo &info, ParamAttr param) {
  bool found = false;
  for (Operation *user : info.value.getUsers())
    if (auto use = dyn_cast<ParamOp>(user);
        use && info.param && use.getParam() == info.param) {
      use.setParamAttr(param);
      found = true;
    }
  if (found)
    return;
  Operation *op = info.value.getDefiningOp();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto use = ParamOp::create(builder, op->getLoc(), info.value, param);
  Value constant = info.value;
  constant.replaceAllUsesExcept(use.getResult(), use);
}

void AnnotateParamsPass::annotateContents(FunctionOpInterface func,
                                          const StorageInfo &info) {
  if (!info.isParameter())
    return;
  bool isConstant = info.value && !getLoadedGlobal(info.value.getDefiningOp());
  std::string name = info.name;
  if (isConstant && !info.param) {
    while (true) {
      Value owner = constantNames.try_emplace(name, info.value).first->second;
      if (owner == info.value)
        break;
      name = func.getName().str() + "." + name;
    }
  }
  ParamAttr param = makeParam(info, name);
  addEntry(info, param);
  if (isConstant)
    annotateConstant(info, param);
}

void AnnotateParamsPass::annotate(FunctionOpInterface func,
                                  const Inventory &inventory) {
  for (const StorageInfo &info : inventory.getStorages()) {
    if (isa_and_present<BlockArgument>(info.value))
      annotateArgument(func, info);
    else
      annotateContents(func, info);
  }
}

void AnnotateParamsPass::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<ParameterRules> parsed = parseRules();
  if (failed(parsed))
    return signalPassFailure();
  entries.clear();
  unread.clear();
  constantNames.clear();
  ModuleParameters parameters(module);
  llvm::DenseSet<const ParameterRule *> matched;
  for (auto func : module.getOps<FunctionOpInterface>()) {
    auto symbol = dyn_cast<SymbolOpInterface>(func.getOperation());
    if (func.isExternal() || (symbol && !symbol.isPublic()))
      continue;
    FailureOr<Inventory> inventory =
        Inventory::compute(func, *parsed, &parameters);
    if (failed(inventory))
      return signalPassFailure();
    SmallVector<const ParameterRule *> unmatched = inventory->getUnmatched();
    for (const ParameterRule &rule : parsed->getRules())
      if (!llvm::is_contained(unmatched, &rule))
        matched.insert(&rule);
    for (ParamOp op : inventory->getMisplaced())
      op.emitWarning() << "annotates nothing: its operand is computed";
    annotate(func, *inventory);
  }
  for (const ParameterRule &rule : parsed->getRules())
    if (!matched.contains(&rule))
      module.emitWarning() << getRuleFlag(rule.kind) << "='" << rule.pattern
                           << "' matches nothing";
  entries.insert_range(unread);
  if (entries.empty())
    module->removeAttr(kParametersAttrName);
  else
    module->setAttr(kParametersAttrName,
                    ArrayAttr::get(&getContext(), entries.getArrayRef()));
}
