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

/// The dimensions of a value; 0 if it has no shape.
unsigned getRank(Value value);

/// No dimension is split.
Sharding getReplicated(Value value);

/// The sharding among the attributes of an argument, a result or an op.
Attribute getShardingAttr(DictionaryAttr attributes);

/// `sdy.manual_computation`: its body is written for one device, as far as its
/// manual axes go.
bool isManual(Operation *op);

/// A loop whose results are what it carries.
bool isWhile(Operation *op);

/// `case`, `if`: regions that yield the results.
bool isBranch(Operation *op);

/// Ops that say how a value is split and do nothing else.
bool isConstraint(Operation *op);

/// The sharding that is written at an op for its result.
std::optional<Sharding> getStatedSharding(OpResult result,
                                          ShardingReader &reader);

/// How every value of `func` is split. Values that no sharding reaches are
/// not. Generators that are needed in several shardings are cloned.
llvm::MapVector<Value, Sharding> propagateShardings(FunctionOpInterface func,
                                                    ShardingReader &reader);

} // namespace mlir::es

#endif // ES_LIB_REPORT_SHARDINGPROPAGATION_H
