//===- Arrays.h - Tensors as files -----------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files of NumPy's format .npy, version 1.0: little-endian, row-major. bf16 has
// no name there and is stored as unsigned words of 16 bits.
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_ES_RUN_ARRAYS_H
#define ES_TOOLS_ES_RUN_ARRAYS_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Error.h"

namespace mlir::es {

/// Bytes of an element in memory.
uint64_t getElementBytes(Type type);
uint64_t getBytes(ShapedType type);

/// The file of a tensor called `name`: `folder`/`name`.npy, with characters
/// that are none of a file's name replaced.
std::string getArrayPath(StringRef folder, StringRef name);
llvm::Error writeArray(StringRef path, ShapedType type, const void *data);
/// Refuses a file of another element type or shape.
llvm::Error readArray(StringRef path, ShapedType type, void *data);

} // namespace mlir::es

#endif // ES_TOOLS_ES_RUN_ARRAYS_H
