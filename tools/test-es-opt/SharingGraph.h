//===- SharingGraph.h - Two opinions on who shares memory -------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every place where two values of a function may share memory is an edge:
// a view and its source, a destination and its result, what control flow hands
// on. Our buffers and One-Shot analysis each join some edges and cut others, so
// a difference in one decision can be led back to the edge that they disagree
// on.
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_TEST_ES_OPT_SHARINGGRAPH_H
#define ES_TOOLS_TEST_ES_OPT_SHARINGGRAPH_H

#include "es/Analysis/Buffers.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::es {

enum class EdgeKind : uint8_t {
  /// A view and its source.
  View,
  /// A destination whose old contents are read, and its result.
  Update,
  /// A destination whose old contents are not read, and its result.
  Overwrite,
  /// An operand and the result that takes its memory over.
  TakeOver,
  /// What a loop begins with, yields, carries and results in.
  Loop,
  /// What a branch yields, and its result.
  Branch,
};

struct SharingEdge {
  Value from, to;
  EdgeKind kind;
  /// Whether the memory is shared: by our buffers, by One-Shot analysis.
  bool ours, theirs;
  /// The side of a branch that yields `from`.
  Region *region = nullptr;
  /// From what a loop yields to what its next iteration begins with.
  bool isBackEdge = false;
};

class SharingGraph {
public:
  SharingGraph(func::FuncOp func, const BufferAssignment &ours,
               const bufferization::OneShotAnalysisState &theirs);

  enum class Side : uint8_t { Ours, Theirs };

  /// Follows the edges that `side` joins from `source` to `target`, not through
  /// the op `except`. The kind of the first edge on the way that the other side
  /// cuts; nullopt if there is no way or no such edge.
  std::optional<EdgeKind> findCut(Value source, Value target, Side side,
                                  Operation *except) const;

  /// The kind of the edge from a destination to its result, if One-Shot
  /// analysis joins it and our buffers do not.
  std::optional<EdgeKind> getTheirs(OpOperand &destination) const;

  /// True if our buffers connect the two, through any number of edges.
  bool areConnected(Value a, Value b) const;

private:
  void addOp(Operation *op);
  void addLoop(Operation *op);
  void addBranch(Operation *op);
  void add(Value from, Value to, EdgeKind kind, bool isShared,
           Region *region = nullptr);

  const BufferAssignment &ours;
  const bufferization::OneShotAnalysisState &theirs;
  std::vector<SharingEdge> edges;
  llvm::DenseMap<Value, SmallVector<unsigned, 4>> edgesOf;
  llvm::EquivalenceClasses<Value> connected;
};

} // namespace mlir::es

#endif // ES_TOOLS_TEST_ES_OPT_SHARINGGRAPH_H
