//===- ShardingPropagation.h - How unstated values are split ----*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_REPORT_SHARDINGPROPAGATION_H
#define ES_LIB_REPORT_SHARDINGPROPAGATION_H

#include "es/OpModel/Sharding.h"

#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::es {

/// No dimension is split.
Sharding getReplicated(Value value);

/// A loop whose results are what it carries.
bool isWhile(Operation *op);

/// `case`, `if`: regions that yield the results.
bool isBranch(Operation *op);

/// How every value of `func` is split. Values that no sharding reaches are
/// not. Generators that are needed in several shardings are cloned.
llvm::MapVector<Value, Sharding> propagateShardings(FunctionOpInterface func,
                                                    ShardingReader &reader);

} // namespace mlir::es

#endif // ES_LIB_REPORT_SHARDINGPROPAGATION_H
