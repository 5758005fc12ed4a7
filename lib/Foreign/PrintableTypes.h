//===- PrintableTypes.h - Opaque text that reads again ----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_FOREIGN_PRINTABLETYPES_H
#define ES_LIB_FOREIGN_PRINTABLETYPES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::es {

/// Opaque types and attributes of a module that was read from `text` print as
/// something that is read as the same.
void makeOpaqueTextPrintable(ModuleOp module, StringRef text);

} // namespace mlir::es

#endif // ES_LIB_FOREIGN_PRINTABLETYPES_H
