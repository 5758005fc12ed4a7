//===- Clauses.h - The attribute behind a keyword ---------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Printed forms abbreviate: `dims = [1, 0]` of a transpose is its attribute
// `permutation`. The table of these names, and of the attributes that are
// written without any keyword, gives an op that was read from its printed form
// the same attributes as one that was read from its generic form.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_FOREIGN_CLAUSES_H
#define ES_LIB_FOREIGN_CLAUSES_H

#include "mlir/IR/Attributes.h"

namespace mlir::es {
class OpReader;

/// Sets the attribute that `key = value` stands for; `key` itself where the
/// table does not know the clause.
void setClause(OpReader &reader, StringRef key, Attribute value);

/// True if the value of the clause is kept as the text that it is.
bool isTextClause(OpReader &reader, StringRef key);

/// The name of the attribute number `index` without a keyword, `value`; empty
/// if there is no such name.
StringRef getPositionalName(OpReader &reader, Attribute value, unsigned index);

} // namespace mlir::es

#endif // ES_LIB_FOREIGN_CLAUSES_H
