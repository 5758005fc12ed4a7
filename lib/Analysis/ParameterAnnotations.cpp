//===- ParameterAnnotations.cpp - es.param and the inventory --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One id names one storage. es.param ops are uses, so a storage may have many
// of them, if they agree. A constant is special in two ways. Equal constants
// may have been merged, so one constant can hold several parameters, each with
// its own annotation. And inlining clones constants, so that two of equal
// contents and with one annotation are one parameter.
//
//===----------------------------------------------------------------------===//

#include "InventoryBuilder.h"

using namespace mlir;
using namespace mlir::es;

static bool isConstant(const StorageInfo &info) {
  Operation *op = info.value ? info.value.getDefiningOp() : nullptr;
  return op && !getLoadedGlobal(op);
}

/// The storage that the constant at `index` is a clone of.
std::optional<unsigned> InventoryBuilder::findTwin(unsigned index,
                                                   ParamAttr param) {
  const StorageInfo &info = result.storages[index];
  if (!isConstant(info))
    return std::nullopt;
  auto [it, inserted] =
      annotatedConstants.try_emplace(param.getEffectiveId(), index);
  if (inserted || it->second == index)
    return std::nullopt;
  const StorageInfo &other = result.storages[it->second];
  Attribute contents = getConstantContents(info.value.getDefiningOp());
  if (!contents || other.param != param ||
      contents != getConstantContents(other.value.getDefiningOp()))
    return std::nullopt;
  return it->second;
}

LogicalResult InventoryBuilder::setParam(unsigned index, ParamAttr param,
                                         Location loc) {
  StorageInfo &info = result.storages[index];
  if (info.param && info.param != param) {
    InFlightDiagnostic error = emitError(loc)
                               << "expects one annotation of a storage, got "
                               << param << " and " << info.param;
    error.attachNote(info.getLoc()) << "the storage is here";
    return error;
  }
  info.param = param;
  info.name = param.getName().str();
  info.stored = param.getStored();
  info.id = param.getEffectiveId();
  info.role = Role::TrainableParameter;
  info.source = RoleSource::Annotation;
  return success();
}

LogicalResult InventoryBuilder::annotate(ParamOp op, unsigned index) {
  ParamAttr param = op.getParam();
  if (std::optional<unsigned> twin = findTwin(index, param)) {
    if (!result.storages[index].param)
      twins[index] = *twin;
    return success();
  }
  const StorageInfo &info = result.storages[index];
  // Another parameter in the same constant.
  if (isConstant(info) && info.param &&
      info.param.getEffectiveId() != param.getEffectiveId()) {
    Value value = info.value;
    unsigned sibling = add(value, value.getType(), "");
    result.indices[value] = index;
    annotatedConstants[param.getEffectiveId()] = sibling;
    index = sibling;
  }
  if (failed(setParam(index, param, op.getLoc())))
    return failure();
  applyRoleRules(result.storages[index]);
  return success();
}

void InventoryBuilder::dropTwins() {
  if (twins.empty())
    return;
  std::vector<StorageInfo> kept;
  std::vector<unsigned> moved(result.storages.size());
  for (auto [index, info] : llvm::enumerate(result.storages)) {
    moved[index] = kept.size();
    if (!twins.contains(index))
      kept.push_back(std::move(info));
  }
  for (auto [index, twin] : twins)
    moved[index] = moved[twin];
  for (auto &entry : result.indices)
    entry.second = moved[entry.second];
  llvm::DenseSet<unsigned> remaining;
  for (unsigned index : statistics)
    remaining.insert(moved[index]);
  statistics = std::move(remaining);
  result.storages = std::move(kept);
}

/// Stated ids have to differ; the others avoid those that are taken.
LogicalResult InventoryBuilder::assignIds() {
  llvm::DenseMap<uint64_t, unsigned> owners;
  for (auto [index, info] : llvm::enumerate(result.storages)) {
    if (!info.param)
      continue;
    auto [it, inserted] = owners.try_emplace(*info.id, index);
    if (inserted)
      continue;
    const StorageInfo &other = result.storages[it->second];
    InFlightDiagnostic error = emitError(info.getLoc())
                               << "parameters '" << other.name << "' and '"
                               << info.name << "' have the same id "
                               << *info.id;
    error.attachNote(other.getLoc()) << "the other one is here";
    return error;
  }
  for (auto [index, info] : llvm::enumerate(result.storages)) {
    if (info.param || !info.isParameter())
      continue;
    uint32_t id = hashParameterName(info.name);
    while (!owners.try_emplace(id, index).second)
      ++id;
    info.id = id;
  }
  return success();
}
