//===- StorageSize.h - Bytes of a type --------------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many bytes a value of a type occupies. Storage is counted in bits,
// rounded up to bytes once a buffer, then up to the alignment. A type that has
// no size is an error that says why, never 0.
//
//===----------------------------------------------------------------------===//

#ifndef ES_ANALYSIS_STORAGESIZE_H
#define ES_ANALYSIS_STORAGESIZE_H

#include "mlir/IR/Types.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace mlir::es {

/// Sub-byte element types: packed, or one byte an element.
enum class SubByte : uint8_t { Packed, Byte };

struct SizeOptions {
  uint64_t alignment = 1;
  SubByte subByte = SubByte::Packed;
  /// i1 takes one bit instead of one byte.
  bool packI1 = false;
  /// Count what LLVM allocates for the element (i4: 1 byte, i24: 4, f80: 16)
  /// instead of its logical bits.
  bool llvmStorage = false;
  /// Bits of `index`.
  unsigned indexBits = 64;
  /// What an unbound leading dimension counts as; 0 makes it an error.
  uint64_t leadingDynamic = 0;
};

/// Bits of one element of `elementType`.
llvm::Expected<uint64_t> getElementBits(Type elementType,
                                        const SizeOptions &options);

/// Bytes of a tensor, memref, vector, or scalar. Error on a dynamic dimension,
/// an unranked shape, a sparse encoding, an opaque type, or 64-bit overflow.
llvm::Expected<uint64_t> getStorageBytes(Type type, const SizeOptions &options);

/// `1024`, `512MiB`, `24GiB`, `1.5GB`: bytes, or an error.
llvm::Expected<uint64_t> parseByteSize(StringRef text);

/// `a + b` and `a * b`, or nullopt on 64-bit overflow.
std::optional<uint64_t> checkedAdd(uint64_t a, uint64_t b);
std::optional<uint64_t> checkedMul(uint64_t a, uint64_t b);

} // namespace mlir::es

#endif // ES_ANALYSIS_STORAGESIZE_H
