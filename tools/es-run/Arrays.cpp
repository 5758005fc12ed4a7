//===- Arrays.cpp - Tensors as files -------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace mlir;
using namespace mlir::es;

static constexpr llvm::StringRef kMagic("\x93NUMPY\x01\x00", 8);

uint64_t mlir::es::getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  unsigned bits = llvm::PowerOf2Ceil(type.getIntOrFloatBitWidth());
  return std::max(1u, bits / 8);
}

uint64_t mlir::es::getBytes(ShapedType type) {
  return type.getNumElements() * getElementBytes(type.getElementType());
}

std::string mlir::es::getArrayPath(StringRef folder, StringRef name) {
  std::string file;
  for (char c : name)
    file += llvm::isAlnum(c) || StringRef("._-").contains(c) ? c : '_';
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, file + ".npy");
  return path.str().str();
}

static std::string describe(ShapedType type) {
  Type element = type.getElementType();
  std::string text = "{'descr': '";
  uint64_t bytes = getElementBytes(element);
  if (element.isInteger(1))
    text += "|b1";
  else
    text += std::string(bytes == 1 ? "|" : "<") +
            (element.isBF16()              ? "u"
             : isa<FloatType>(element)     ? "f"
             : element.isUnsignedInteger() ? "u"
                                           : "i") +
            std::to_string(bytes);
  text += "', 'fortran_order': False, 'shape': (";
  for (int64_t size : type.getShape())
    text += std::to_string(size) + ", ";
  if (type.getRank() > 1)
    text.resize(text.size() - 2);
  else if (type.getRank() == 1)
    text.resize(text.size() - 1);
  return text + "), }";
}

llvm::Error mlir::es::writeArray(StringRef path, ShapedType type,
                                 const void *data) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return llvm::createStringError(error, path + ": " + error.message());
  std::string header = describe(type);
  // The data starts at a multiple of 64 bytes.
  size_t before = kMagic.size() + 2;
  header.append((64 - (before + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  os << StringRef(kMagic) << char(header.size() & 0xff)
     << char(header.size() >> 8) << header;
  os.write(static_cast<const char *>(data), getBytes(type));
  os.close();
  if (os.has_error()) {
    error = os.error();
    os.clear_error();
    return llvm::createStringError(error, path + ": " + error.message());
  }
  return llvm::Error::success();
}

/// Without spaces, which writers place as they like.
static std::string squeeze(StringRef text) {
  std::string result;
  for (char c : text)
    if (!llvm::isSpace(c))
      result += c;
  // "(3,)" of one dimension is "(3,)", of more "(3,4)"; a comma may end the
  // rest.
  StringRef view(result);
  view.consume_back("}");
  view.consume_back(",");
  return view.str();
}

llvm::Error mlir::es::readArray(StringRef path, ShapedType type, void *data) {
  auto fail = [&](const llvm::Twine &text) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   path + ": " + text);
  };
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return fail(file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  if (!bytes.consume_front(kMagic) || bytes.size() < 2)
    return fail("expects a file of NumPy's format .npy, version 1.0");
  size_t size = uint8_t(bytes[0]) | uint8_t(bytes[1]) << 8;
  bytes = bytes.drop_front(2);
  if (bytes.size() < size)
    return fail("ends inside its header");
  std::string found = squeeze(bytes.take_front(size));
  std::string expected = squeeze(describe(type));
  if (found != expected)
    return fail("expects " + expected + "}, got " + found + "}");
  bytes = bytes.drop_front(size);
  if (bytes.size() != getBytes(type))
    return fail("expects " + llvm::Twine(getBytes(type)) +
                " bytes of data, got " + llvm::Twine(bytes.size()));
  std::memcpy(data, bytes.data(), bytes.size());
  return llvm::Error::success();
}
