//===- Donations.cpp - Arguments that a function may overwrite ------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/Donations.h"

using namespace mlir;
using namespace mlir::es;

static constexpr StringLiteral kWritable = "bufferization.writable";
static constexpr StringLiteral kBufferDonor = "jax.buffer_donor";
static constexpr StringLiteral kAliasingOutput = "tf.aliasing_output";

bool mlir::es::isDonatedArgument(BlockArgument argument) {
  auto func = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!func || !argument.getOwner()->isEntryBlock())
    return false;
  unsigned index = argument.getArgNumber();
  for (StringRef key : {StringRef(kWritable), StringRef(kBufferDonor)})
    if (auto stated = func.getArgAttrOfType<BoolAttr>(index, key))
      return stated.getValue();
  return bool(func.getArgAttr(index, kAliasingOutput));
}

std::optional<uint64_t> mlir::es::getDeclaredResult(FunctionOpInterface func,
                                                    unsigned index) {
  auto result = func.getArgAttrOfType<IntegerAttr>(index, kAliasingOutput);
  if (!result)
    return std::nullopt;
  return result.getValue().getLimitedValue();
}

DictionaryAttr mlir::es::withDonation(DictionaryAttr attributes,
                                      bool isDonated) {
  NamedAttrList list(attributes);
  for (StringRef key : {kWritable, kBufferDonor, kAliasingOutput})
    list.erase(key);
  if (isDonated)
    list.set(kWritable, BoolAttr::get(attributes.getContext(), true));
  return list.getDictionary(attributes.getContext());
}

void mlir::es::setDonated(FunctionOpInterface func, unsigned index,
                          bool isDonated) {
  DictionaryAttr attributes = func.getArgAttrDict(index);
  if (!attributes)
    attributes = DictionaryAttr::get(func->getContext());
  func.setArgAttrs(index, withDonation(attributes, isDonated));
}
