//===- ArgumentNames.h - Names that arguments have in the text --*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_FOREIGN_ARGUMENTNAMES_H
#define ES_LIB_FOREIGN_ARGUMENTNAMES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace mlir::es {

/// Arguments of functions whose location is a place in `text` get their SSA
/// name there as the name of the location: `%weight` becomes "weight". Numbers
/// and `%argN`, which printers make up, name nothing.
void nameArguments(ModuleOp module, llvm::MemoryBufferRef text);

} // namespace mlir::es

#endif // ES_LIB_FOREIGN_ARGUMENTNAMES_H
