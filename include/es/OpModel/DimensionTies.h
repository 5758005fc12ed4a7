//===- DimensionTies.h - Which dimensions run together ----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What follows for the dimensions of the values around an op if one of them
// becomes larger: of ops of all dialects, linked in or not. Sharding asks a
// narrower question (Sharding.h), which has to be answered exactly.
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_DIMENSIONTIES_H
#define ES_OPMODEL_DIMENSIONTIES_H

#include "es/OpModel/Shapes.h"

namespace mlir::es {

struct DimensionRef {
  Value value;
  unsigned dim;
};

struct DimensionTie {
  enum Kind : uint8_t {
    /// The same dimension.
    Same,
    /// `to` is `from`, without or with some more elements at its ends: slices,
    /// pads, and one of the parts of a concatenation.
    Offset,
    /// `to` is in proportion to `from`: windows.
    Scale,
    /// All elements of the values are the same in the same order; dimensions
    /// are merged and split. `dim` says nothing.
    Reshape,
  };
  DimensionRef from, to;
  Kind kind = Same;
};

struct DimensionTies {
  SmallVector<DimensionTie, 8> ties;
  /// False if nothing describes the op and sizes alone were compared:
  /// dimensions of equal size may then have been mistaken for each other.
  bool isExact = true;
};

/// The ties of an op without control flow. `known` are the integers that
/// operands hold, where they are known.
DimensionTies getDimensionTies(Operation *op, const KnownIntegers &known);

} // namespace mlir::es

#endif // ES_OPMODEL_DIMENSIONTIES_H
