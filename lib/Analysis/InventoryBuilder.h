//===- InventoryBuilder.h - Takes the parameter inventory -------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_ANALYSIS_INVENTORYBUILDER_H
#define ES_LIB_ANALYSIS_INVENTORYBUILDER_H

#include "StorageUses.h"
#include "es/Analysis/Parameters.h"

namespace mlir::es {

class InventoryBuilder {
public:
  InventoryBuilder(Inventory &result, FunctionOpInterface func,
                   const ParameterRules &rules, const ModuleParameters &module)
      : result(result), func(func), rules(rules), module(module) {}
  LogicalResult run();

private:
  // Finding storages and what is said of them.
  void addArgument(BlockArgument argument);
  void findParametersOfMoments();
  unsigned addConstant(OpResult value);
  unsigned addGlobal(OpResult load, SymbolRefAttr symbol);
  void describeGlobal(StorageInfo &info, SymbolRefAttr symbol);
  void addUnread();
  unsigned add(Value value, Type type, std::string name);
  void setRoleOfContents(StorageInfo &info, Attribute contents);

  // Annotations.
  LogicalResult annotate(ParamOp op, unsigned index);
  LogicalResult setParam(unsigned index, ParamAttr param, Location loc);
  std::optional<unsigned> findTwin(unsigned index, ParamAttr param);

  // Deciding.
  void applyRoleRules(StorageInfo &info);
  void applyEvidence(unsigned index, uint8_t evidence);
  void makeNamesUnique();
  void decideTrainability();
  LogicalResult assignIds();
  void findUnmatched();
  void dropTwins();

  Inventory &result;
  FunctionOpInterface func;
  const ParameterRules &rules;
  const ModuleParameters &module;
  /// The storage of each global.
  llvm::DenseMap<Attribute, unsigned> globals;
  /// Annotated constants, by id (wider than an id, whose every value is valid
  /// and so no key to reserve): uses that are tied share one storage.
  llvm::DenseMap<uint64_t, unsigned> annotatedConstants;
  /// Storages that turned out to be others: uses of one constant that was
  /// cloned, as inlining does.
  llvm::DenseMap<unsigned, unsigned> twins;
  llvm::DenseSet<unsigned> statistics;
};

} // namespace mlir::es

#endif // ES_LIB_ANALYSIS_INVENTORYBUILDER_H
