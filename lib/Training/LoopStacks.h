//===- LoopStacks.h - A value of each iteration -----------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_TRAINING_LOOPSTACKS_H
#define ES_LIB_TRAINING_LOOPSTACKS_H

#include "es/OpModel/CountedLoops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::es {

/// What a stack of values of `type` is made of: types of other dialects are
/// cast to those that slices are defined on. Null for a tensor of unknown rank.
Type getStackableType(OpBuilder &builder, Type type);

/// One slice for each iteration of a loop whose trip count is known.
RankedTensorType getStackType(const CarryingLoop &loop, Type type);

/// The value, of type `type`, that a stack has of an iteration.
Value getSlice(OpBuilder &builder, Location loc, Value stack, Value iteration,
               Type type);

/// The stack with `value` for an iteration.
Value setSlice(OpBuilder &builder, Location loc, Value value, Value stack,
               Value iteration);

/// Which iteration the body of `loop` is at, from 0.
Value countIterations(OpBuilder &builder, const CarryingLoop &loop);

/// `value` as a value of another dialect's type.
Value castTo(OpBuilder &builder, Location loc, Type type, Value value);

} // namespace mlir::es

#endif // ES_LIB_TRAINING_LOOPSTACKS_H
