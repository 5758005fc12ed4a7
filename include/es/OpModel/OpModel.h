//===- OpModel.h - What the analyses know of an op --------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one extension point for knowledge of single ops: where results get their
// memory, what operands are read for, and how expensive an op is to recompute.
// Registered upstream ops answer through their interfaces, other ops by name.
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_OPMODEL_H
#define ES_OPMODEL_OPMODEL_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::es {

/// Where a result of an op finds its memory.
enum class ResultKind : uint8_t {
  /// Not a value that occupies memory (a scalar, a token, a shape).
  None,
  /// A buffer of its own.
  New,
  /// The memory of the source operand: reshape, cast, slice, es.param.
  View,
  /// The source operand is a destination that the op writes into.
  Destination,
  /// Contents undefined, no memory until the first write: tensor.empty.
  Undefined,
  /// A constant all of whose elements are equal.
  Splat,
  /// Any other constant, or a read-only global.
  Constant,
};

/// What an op does with the memory of an operand.
enum class OperandUse : uint8_t {
  /// Does not touch the memory (a scalar, or only the shape is read).
  None,
  /// Read, in any order.
  Read,
  /// Element i is read before element i of every result is written, and no
  /// later: the result may take over the operand's memory.
  ReadElementwise,
  /// A destination whose old contents are not read.
  Write,
  /// A destination whose old contents are read as well.
  ReadWrite,
};

/// True if the op needs what the operand's memory holds.
inline bool readsContents(OperandUse use) {
  return use == OperandUse::Read || use == OperandUse::ReadElementwise ||
         use == OperandUse::ReadWrite;
}

/// How an op relates to fusion and recomputation.
enum class OpClass : uint8_t {
  /// Nothing is known.
  Opaque,
  /// Elementwise, a few instructions an element.
  Elementwise,
  /// Elementwise with a transcendental function or a division.
  ElementwiseCostly,
  /// Moves or replicates elements: broadcast, transpose, slice, pad, concat.
  DataMovement,
  /// Produces elements out of nothing: iota, fill, splat.
  Generator,
  Reduction,
  /// Matrix products, convolutions.
  Contraction,
  /// Needs its operands in memory: sort, gather tables, custom calls.
  Materializing,
  ControlFlow,
  Call,
  Terminator,
};

struct ResultFact {
  ResultKind kind = ResultKind::None;
  /// Operand index for View and Destination.
  unsigned source = 0;

  bool operator==(const ResultFact &other) const {
    return kind == other.kind && source == other.source;
  }
};

struct OpFacts {
  SmallVector<ResultFact, 2> results;
  SmallVector<OperandUse, 4> operands;
  OpClass opClass = OpClass::Opaque;
  /// False if these facts are the conservative default for an op that no
  /// interface or table describes.
  bool known = true;
  /// Destinations are overwritten and dying operands taken over in every memory
  /// model: what accumulates gradients and updates parameters does so even
  /// where ops run one by one.
  bool alwaysInPlace = false;
  /// Bytes of scratch memory that the op needs while it runs.
  uint64_t workspaceBytes = 0;

  /// Facts are shared between ops on which all of this agrees.
  bool operator==(const OpFacts &other) const {
    return results == other.results && operands == other.operands &&
           opClass == other.opClass && known == other.known &&
           alwaysInPlace == other.alwaysInPlace &&
           workspaceBytes == other.workspaceBytes;
  }
};

/// What is known of `op`. Never fails: an op that nothing describes reads all
/// its operands and allocates all its results, with `known` false.
OpFacts getOpFacts(Operation *op);

/// True if values of this type occupy memory: ranked or unranked tensors,
/// memrefs, and types of foreign dialects that carry a shape.
bool isMemoryType(Type type);

/// True if `op` runs each of its regions at most once, and at most one of them
/// (scf.if, scf.index_switch, scf.execute_region); every other op with regions
/// is taken to run them any number of times.
bool isBranchOp(Operation *op);

/// True if `op` is called `if` or `case`, in whatever foreign dialect: regions
/// that yield its results.
bool isForeignIf(Operation *op);

/// True if `op` looks rows of its first operand up by integer indices.
bool isTableLookup(Operation *op);

/// True if `op` permutes the dimensions of its operand and does nothing else.
bool isTranspose(Operation *op);

/// True if `op`, of a foreign dialect, gives elements of its first operand as
/// they are and nothing else: a slice, rows that are looked up, a transpose.
bool takesForeignElements(Operation *op);

/// True if `op` writes its second operand into a slice of its first.
bool isSliceUpdate(Operation *op);

/// True if what is on the two sides of `op` is kept apart on purpose: it marks
/// where a part begins that is to be evaluated again.
bool isRecomputationBoundary(Operation *op);

/// True if evaluating `op` again gives other numbers. Dropout is not among
/// these: where it is evaluated again, frameworks restore the state of the
/// generator.
bool drawsRandomNumbers(Operation *op);

/// True if what `op` compiles to addresses memory by element type, so that a
/// result can only take over an operand of the very same type; for other ops
/// the size decides.
bool hasTypedMemory(Operation *op);

/// True if the result of `op` stands for its one source: a view, a conversion
/// of the element type, a dequantisation, a transpose.
bool isParameterChain(Operation *op);

} // namespace mlir::es

#endif // ES_OPMODEL_OPMODEL_H
