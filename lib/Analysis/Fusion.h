//===- Fusion.h - Values that are never in memory ---------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `fused` memory model: which producers their consumers compute on the fly.
// An absorbed op has no buffer; what it reads is read by its consumers instead,
// and so lives longer.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_ANALYSIS_FUSION_H
#define ES_LIB_ANALYSIS_FUSION_H

#include "es/Analysis/LastReads.h"
#include "es/OpModel/OpModel.h"

namespace mlir::es {

/// A value in memory that an absorbed op reads, directly or through others.
struct FusedLeaf {
  Value value;
  /// Element i of the result depends on element i of the value only.
  bool elementwise;
};

class FusionPlan {
public:
  /// Linear in the ops of the program (a producer reads at most kMaxLeaves
  /// values). `isOwned` says of an argument of the function whether it dies.
  FusionPlan(const ProgramOrder &order, const LastReads &lastReads,
             llvm::function_ref<bool(BlockArgument)> isOwned);

  bool isAbsorbed(Operation *op) const { return absorbed.contains(op); }

  /// The transpose of a matrix product that nothing else reads: the product is
  /// written transposed.
  bool isFolded(Operation *op) const { return folded.contains(op); }

  /// What `value` is computed from: itself if it is in memory.
  SmallVector<FusedLeaf, 2> getLeaves(Value value) const;

private:
  static constexpr unsigned kMaxLeaves = 32;

  void findBases(const LastReads &lastReads,
                 llvm::function_ref<bool(BlockArgument)> isOwned);
  void findCandidate(Operation *op);
  void decide(Operation *op);
  SmallVector<FusedLeaf, 2> computeLeaves(Operation *op,
                                          const OpFacts &facts) const;
  std::optional<uint64_t> getExtendedBytes(ArrayRef<FusedLeaf> leaves,
                                           unsigned lastUse) const;
  void addStorage(Value value, Value base, const LastReads &lastReads);
  Value getBase(Value value) const;

  /// An op that all its consumers could absorb.
  struct Candidate {
    /// The last point at which a consumer would compute it.
    unsigned lastUse = 0;
    /// The one op whose result in memory it becomes part of; null if there are
    /// several.
    Operation *root = nullptr;
  };

  const ProgramOrder &order;
  llvm::DenseMap<Operation *, Candidate> candidates;
  llvm::DenseSet<Operation *> absorbed;
  llvm::DenseSet<Operation *> folded;
  /// What the result of an absorbed op is computed from.
  llvm::DenseMap<Value, SmallVector<FusedLeaf, 2>> expressions;
  /// The value that a view is a view of.
  llvm::DenseMap<Value, Value> bases;
  /// The last point that reads a value in memory, its views included.
  llvm::DenseMap<Value, unsigned> lastPoints;
};

} // namespace mlir::es

#endif // ES_LIB_ANALYSIS_FUSION_H
