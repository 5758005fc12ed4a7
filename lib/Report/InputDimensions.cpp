//===- InputDimensions.cpp - Sizes that a model could have ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Resize.h"
#include "es/OpModel/RoleFacts.h"

using namespace mlir;
using namespace mlir::es;

/// The dimensions of inputs that can grow without a parameter growing. Those of
/// one element are left out: too much has them.
SmallVector<InputDimension>
mlir::es::findInputDimensions(FunctionOpInterface func,
                              const Inventory &inventory, Resizer &resizer) {
  auto isInput = [](const StorageInfo &info) {
    return info.role == Role::Input || info.role == Role::State;
  };
  auto isFree = [&] {
    return llvm::none_of(inventory.getStorages(), [&](const StorageInfo &info) {
      return info.value && !isInput(info) && info.role != Role::Constant &&
             resizer.grows(info.value);
    });
  };
  SmallVector<InputDimension> found;
  for (BlockArgument argument : func.getArguments()) {
    const StorageInfo *info = inventory.lookup(argument);
    ShapedType type = getCarriedShape(argument.getType());
    if (!info || !isInput(*info) || !type || !type.hasRank())
      continue;
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      if (size < 2)
        continue;
      bool isKnown = resizer.grow({{argument, unsigned(dim)}});
      if (isKnown && !isFree())
        continue;
      auto it = llvm::find_if(found, [&](const InputDimension &other) {
        return other.dim == dim && other.size == size;
      });
      if (it == found.end()) {
        found.push_back({unsigned(dim), size, {}, ""});
        it = std::prev(found.end());
      }
      it->seeds.push_back({argument, unsigned(dim)});
      if (!isKnown)
        it->reason = resizer.getReason();
    }
  }
  llvm::stable_sort(found, [](auto &a, auto &b) { return a.dim < b.dim; });
  return found;
}

/// `batch` is the first leading dimension of an input that is no vector.
static const InputDimension *findNamed(ArrayRef<InputDimension> dimensions,
                                       const Inventory &inventory,
                                       StringRef name) {
  auto isVector = [](const InputDimension &dimension) {
    return llvm::all_of(dimension.seeds,
                        [](auto seed) { return getRank(seed.first) < 2; });
  };
  const InputDimension *first = nullptr;
  for (const InputDimension &dimension : dimensions) {
    if (name == "batch") {
      if (dimension.dim == 0 && (!first || isVector(*first)))
        first = &dimension;
      if (first && !isVector(*first))
        return first;
      continue;
    }
    for (auto [argument, dim] : dimension.seeds) {
      std::string suffix = "." + std::to_string(dim);
      if (inventory.lookup(argument)->name + suffix == name ||
          "arg" + std::to_string(argument.getArgNumber()) + suffix == name)
        return &dimension;
    }
  }
  return first;
}

FailureOr<std::optional<int64_t>>
mlir::es::resizeInputs(FunctionOpInterface func, const Inventory &inventory,
                       StringRef name, int64_t size) {
  Resizer resizer(func);
  SmallVector<InputDimension> dimensions =
      findInputDimensions(func, inventory, resizer);
  const InputDimension *dimension = findNamed(dimensions, inventory, name);
  if (!dimension)
    return std::optional<int64_t>();
  auto fail = [&](const llvm::Twine &why) {
    return emitError(dimension->seeds.front().first.getLoc())
           << "'" << name << "' cannot be " << size << " instead of "
           << dimension->size << ": " << why;
  };
  if (size < 1)
    return fail("a size is at least 1");
  if (!dimension->reason.empty())
    return fail(dimension->reason);
  if (!resizer.grow(dimension->seeds) || !resizer.isExact() ||
      !resizer.resize(dimension->size, size))
    return fail(resizer.getReason());
  return std::optional<int64_t>(dimension->size);
}
