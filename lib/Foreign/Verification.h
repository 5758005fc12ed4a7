//===- Verification.h - Ops that do not verify ------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_FOREIGN_VERIFICATION_H
#define ES_LIB_FOREIGN_VERIFICATION_H

#include "es/Foreign/Reader.h"

namespace mlir::es {

/// Gives ops of an older version the attributes of this one, where only a name
/// has changed.
void upgradeOps(ModuleOp module);

/// Every value is defined before it is used.
LogicalResult verifyDominance(ModuleOp module);

/// Verifies each op. Those that do not hold are counted in `summary`; a value
/// that is used where it is not defined is an error.
LogicalResult verifyLeniently(ModuleOp module, ReadSummary &summary);

} // namespace mlir::es

#endif // ES_LIB_FOREIGN_VERIFICATION_H
