//===- ModuleParameters.cpp - Parameters outside of functions -------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parameter that nothing reads is still one: it is in the inventory
// attribute, or a global that holds data.
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/Parameters.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::es;

ModuleParameters::ModuleParameters(Operation *module) {
  if (!module)
    return;
  llvm::DenseSet<Attribute> loaded;
  llvm::DenseSet<uint64_t> usedIds;
  module->walk([&](Operation *op) {
    if (auto param = dyn_cast<ParamOp>(op))
      usedIds.insert(param.getParam().getEffectiveId());
    else if (SymbolRefAttr symbol = getLoadedGlobal(op))
      loaded.insert(FlatSymbolRefAttr::get(symbol.getLeafReference()));
    else if (SymbolRefAttr symbol = getStoredGlobal(op))
      written.insert(FlatSymbolRefAttr::get(symbol.getLeafReference()));
    else if (getGlobalFacts(op))
      globals[FlatSymbolRefAttr::get(SymbolTable::getSymbolName(op))] = op;
  });
  if (auto entries = module->getAttrOfType<ArrayAttr>(kParametersAttrName))
    for (auto entry : entries.getAsRange<DictionaryAttr>()) {
      auto param = entry.getAs<ParamAttr>("param");
      auto symbol = entry.getAs<SymbolRefAttr>("symbol");
      if (symbol)
        stated[symbol] = param;
      if (symbol ? loaded.contains(symbol)
                 : usedIds.contains(param.getEffectiveId()))
        continue;
      unread.push_back({param, entry.getAs<TypeAttr>("type").getValue(),
                        symbol ? globals.lookup(symbol) : nullptr, symbol});
    }
  for (auto [symbol, op] : globals)
    if (!loaded.contains(symbol) && !stated.contains(symbol))
      unread.push_back(
          {nullptr, getGlobalFacts(op)->type, op, cast<SymbolRefAttr>(symbol)});
}
