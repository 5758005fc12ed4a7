//===- Attributes.cpp - Lists of integers in attributes -------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/Attributes.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::es;

std::optional<SmallVector<int64_t, 4>>
mlir::es::getIntegers(Attribute attribute) {
  SmallVector<int64_t, 4> values;
  if (auto array = dyn_cast_if_present<DenseI64ArrayAttr>(attribute)) {
    values.append(array.asArrayRef().begin(), array.asArrayRef().end());
    return values;
  }
  if (auto array = dyn_cast_if_present<DenseI32ArrayAttr>(attribute)) {
    values.append(array.asArrayRef().begin(), array.asArrayRef().end());
    return values;
  }
  if (auto elements = dyn_cast_if_present<DenseIntElementsAttr>(attribute)) {
    // Sizes are short lists; anything else is data.
    constexpr int64_t kMost = 64;
    if (elements.getNumElements() > kMost)
      return std::nullopt;
    for (const APInt &value : elements.getValues<APInt>())
      values.push_back(value.getBitWidth() == 1 ? value.getZExtValue()
                                                : value.getSExtValue());
    return values;
  }
  if (auto integer = dyn_cast_if_present<IntegerAttr>(attribute)) {
    values.push_back(integer.getInt());
    return values;
  }
  auto array = dyn_cast_if_present<ArrayAttr>(attribute);
  if (!array)
    return std::nullopt;
  for (Attribute entry : array) {
    auto integer = dyn_cast<IntegerAttr>(entry);
    if (!integer)
      return std::nullopt;
    values.push_back(integer.getInt());
  }
  return values;
}

SmallVector<int64_t, 4> mlir::es::getIntegerList(Attribute attribute,
                                                 StringRef key) {
  SmallVector<int64_t, 4> values;
  auto opaque = dyn_cast_if_present<OpaqueAttr>(attribute);
  if (!opaque)
    return values;
  StringRef text = opaque.getAttrData();
  size_t at = text.find(key);
  if (at == StringRef::npos)
    return values;
  text = text.drop_front(at + key.size()).ltrim();
  if (!text.consume_front("="))
    return values;
  text = text.ltrim();
  if (!text.consume_front("["))
    return values;
  SmallVector<StringRef> parts;
  text.take_until([](char c) { return c == ']'; })
      .split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    int64_t value;
    if (!part.trim().getAsInteger(10, value))
      values.push_back(value);
  }
  return values;
}
