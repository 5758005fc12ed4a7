//===- NamedOps.h - Facts of ops that are known by name ---------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dialects that are not linked in have no interfaces to ask. Their tables put
// each op, by name, into a family; the facts follow from the family and from
// the types of the op.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_OPMODEL_NAMEDOPS_H
#define ES_LIB_OPMODEL_NAMEDOPS_H

#include "Models.h"

#include "llvm/ADT/StringMap.h"

namespace mlir::es {

/// What the ops of a family have in common.
enum class Family : uint8_t {
  Elementwise,
  /// Elementwise with a transcendental function or a division.
  Costly,
  Movement,
  /// Produces elements out of its attributes.
  Generator,
  Reduction,
  Contraction,
  /// Needs its operands in memory and nothing more is known.
  Materializing,
  /// Result i is operand i, or operand 0 where there are fewer operands.
  View,
  /// Writes its first operand; the result is that operand.
  Mutation,
  /// Reads the shape of its operands, or nothing at all.
  Query,
  /// A constant; a splat if its `value` is one.
  Constant,
  /// Hands values to the op around it.
  Terminator,
};

using FamilyTable = llvm::StringMap<Family>;

/// One line of a table: the names, separated by blanks, of a family.
struct FamilyLine {
  Family family;
  const char *names;
};

FamilyTable makeFamilyTable(ArrayRef<FamilyLine> lines);

/// The facts of `op` as a member of `family`.
OpFacts getFamilyFacts(Operation *op, Family family);

/// Results [0, count) are written in place into operands [0, count), whose old
/// contents remain where they are not overwritten.
void makeUpdate(Operation *op, OpFacts &facts, unsigned count = 1);

/// True if `value` is a constant of equal elements, seen through a bounded
/// number of ops that keep that so (broadcast, reshape, convert, transpose).
bool isSplatValue(Value value);

/// Scratch memory of the ATen operator `name`, as PyTorch's CPU implementation
/// allocates it: what it frees before it returns.
uint64_t getAtenWorkspace(Operation *op, StringRef name);

/// Elements of a shaped value of static shape, or nullopt.
std::optional<int64_t> getStaticElements(Value value);

} // namespace mlir::es

#endif // ES_LIB_OPMODEL_NAMEDOPS_H
