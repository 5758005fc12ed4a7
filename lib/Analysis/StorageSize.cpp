//===- StorageSize.cpp - Bytes of a type ----------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/StorageSize.h"
#include "es/Foreign/Types.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::es;

std::optional<uint64_t> mlir::es::checkedAdd(uint64_t a, uint64_t b) {
  uint64_t sum;
  if (__builtin_add_overflow(a, b, &sum))
    return std::nullopt;
  return sum;
}

std::optional<uint64_t> mlir::es::checkedMul(uint64_t a, uint64_t b) {
  uint64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    return std::nullopt;
  return product;
}

static llvm::Error makeError(Type type, const llvm::Twine &why) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "type '" << type << "' has no static size: " << why;
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

static llvm::Error makeOverflow(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "size of type '" << type << "' exceeds 64 bits";
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// Bits of a scalar as it is stored.
static uint64_t adjustBits(uint64_t bits, const SizeOptions &options) {
  if (bits == 1)
    return options.packI1 ? 1 : 8;
  if (options.llvmStorage)
    return std::max<uint64_t>(8, llvm::PowerOf2Ceil(bits));
  if (bits < 8 && options.subByte == SubByte::Byte)
    return 8;
  return bits;
}

llvm::Expected<uint64_t> mlir::es::getElementBits(Type type,
                                                  const SizeOptions &options) {
  uint64_t factor = 1;
  while (true) {
    if (auto complex = dyn_cast<ComplexType>(type)) {
      factor *= 2;
      type = complex.getElementType();
    } else if (auto vector = dyn_cast<VectorType>(type)) {
      if (vector.isScalable())
        return makeError(type, "it is a scalable vector");
      std::optional<uint64_t> product =
          checkedMul(factor, vector.getNumElements());
      if (!product)
        return makeOverflow(type);
      factor = *product;
      type = vector.getElementType();
    } else {
      break;
    }
  }
  uint64_t bits;
  if (type.isIndex())
    bits = options.indexBits;
  else if (type.isIntOrFloat())
    bits = adjustBits(type.getIntOrFloatBitWidth(), options);
  else if (auto quantized = dyn_cast<quant::QuantizedType>(type))
    bits = adjustBits(quantized.getStorageTypeIntegralWidth(), options);
  else
    return makeError(type, "nothing is known of its layout");
  std::optional<uint64_t> product = checkedMul(bits, factor);
  if (!product)
    return makeOverflow(type);
  return *product;
}

/// Bits of the scales and zero points that a quantised type keeps beside the
/// elements: one of the expressed type's width each.
static uint64_t getQuantizationBits(Type type) {
  auto width = [](Type expressed) {
    return expressed && expressed.isIntOrFloat()
               ? expressed.getIntOrFloatBitWidth()
               : 32;
  };
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type))
    return 2 * perAxis.getScales().size() * width(perAxis.getExpressedType());
  if (auto sub = dyn_cast<quant::UniformQuantizedSubChannelType>(type))
    return 2 * uint64_t(sub.getScales().getNumElements()) *
           width(sub.getExpressedType());
  return 0;
}

/// The elements a shaped type's allocation spans, strides included.
static llvm::Expected<uint64_t> countElements(ShapedType type,
                                              const SizeOptions &options) {
  if (!type.hasRank())
    return makeError(type, "it is unranked; bind a shape with "
                           "'--shape=NAME:4x2048'");
  uint64_t count = 1;
  for (auto [index, size] : llvm::enumerate(type.getShape())) {
    uint64_t bound = size;
    if (ShapedType::isDynamic(size)) {
      if (index != 0 || options.leadingDynamic == 0)
        return makeError(type, "dimension " + llvm::Twine(index) +
                                   " is dynamic; bind it with "
                                   "'--shape=NAME:4x2048'");
      bound = options.leadingDynamic;
    }
    std::optional<uint64_t> product = checkedMul(count, bound);
    if (!product)
      return makeOverflow(type);
    count = *product;
  }
  return count;
}

llvm::Expected<uint64_t> mlir::es::getStorageBytes(Type type,
                                                   const SizeOptions &options) {
  if (std::optional<Type> foreign = getForeignShapedType(type))
    type = *foreign;
  auto shaped = dyn_cast<ShapedType>(type);
  Type element = type;
  uint64_t count = 1;
  if (shaped && !isa<VectorType>(type)) {
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && tensor.getEncoding() &&
        tensor.getEncoding().getDialect().getNamespace() == "sparse_tensor")
      return makeError(type, "a sparse encoding's size depends on its data");
    llvm::Expected<uint64_t> elements = countElements(shaped, options);
    if (!elements)
      return elements.takeError();
    count = *elements;
    element = shaped.getElementType();
  }
  llvm::Expected<uint64_t> elementBits = getElementBits(element, options);
  if (!elementBits)
    return elementBits.takeError();
  std::optional<uint64_t> bits = checkedMul(count, *elementBits);
  if (bits)
    bits = checkedAdd(*bits, getQuantizationBits(element));
  if (bits)
    bits = checkedAdd(*bits, 7);
  if (!bits)
    return makeOverflow(type);
  uint64_t bytes = *bits / 8;
  if (!checkedAdd(bytes, options.alignment))
    return makeOverflow(type);
  return options.alignment > 1 ? llvm::alignTo(bytes, options.alignment)
                               : bytes;
}

llvm::Expected<uint64_t> mlir::es::parseByteSize(StringRef text) {
  StringRef digits =
      text.take_while([](char c) { return llvm::isDigit(c) || c == '.'; });
  StringRef unit = text.drop_front(digits.size()).trim();
  double scale = llvm::StringSwitch<double>(unit)
                     .Cases({"", "B"}, 1)
                     .Cases({"KiB", "K"}, 1024.0)
                     .Cases({"MiB", "M"}, 1024.0 * 1024)
                     .Cases({"GiB", "G"}, 1024.0 * 1024 * 1024)
                     .Cases({"TiB", "T"}, 1024.0 * 1024 * 1024 * 1024)
                     .Case("KB", 1e3)
                     .Case("MB", 1e6)
                     .Case("GB", 1e9)
                     .Case("TB", 1e12)
                     .Default(0);
  uint64_t whole;
  if (scale == 1 && !digits.getAsInteger(10, whole) && whole <= INT64_MAX)
    return whole;
  double number;
  if (scale == 0 || digits.getAsDouble(number) || number * scale >= 9.2e18)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "expects a size such as 512MiB or 24GiB, got '" + text + "'");
  return uint64_t(number * scale);
}
