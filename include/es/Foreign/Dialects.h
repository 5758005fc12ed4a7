//===- Dialects.h - Dialects that are not linked in -------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frameworks print models in dialects of their own. Here these dialects are
// known by name alone: any operation, type, and attribute of theirs is read
// from its printed form and kept as unregistered op, opaque type, opaque
// attribute.
//
//===----------------------------------------------------------------------===//

#ifndef ES_FOREIGN_DIALECTS_H
#define ES_FOREIGN_DIALECTS_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::es {

/// Registers StableHLO, torch, ONNX, and the other dialects that models are
/// seen in. A dialect that `registry` has already stays as it is; register real
/// dialects first.
void registerForeignDialects(DialectRegistry &registry);

/// True for the dialects that `registerForeignDialects` registers.
bool isForeignDialect(StringRef name);

/// Registers one more namespace, if `registry` does not have it.
void registerForeignDialect(DialectRegistry &registry, StringRef name);

/// Loads one more namespace into `context`, unless it has a dialect of that
/// name.
void loadForeignDialect(MLIRContext &context, StringRef name);

} // namespace mlir::es

#endif // ES_FOREIGN_DIALECTS_H
