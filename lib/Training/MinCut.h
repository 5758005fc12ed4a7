//===- MinCut.h - The cheapest set of values to keep ------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_TRAINING_MINCUT_H
#define ES_LIB_TRAINING_MINCUT_H

#include "mlir/Support/LLVM.h"
#include <cstdint>
#include <vector>

namespace mlir::es {

/// A directed graph whose nodes have costs; which nodes to remove so that no
/// path leads from a source to a sink any more, at the least total cost, and
/// among equally cheap sets the one nearest to the sinks.
///
/// Maximum flow by Dinic's algorithm on the graph with every node split in two:
/// O(V^2 E) in the worst case, near linear on the graphs of models, whose
/// flows are short. Its bad case, long chains of nodes of falling cost, is
/// bounded by the limit on phases: past it the answer is a cut, not a cheapest.
class MinCut {
public:
  static constexpr uint64_t kNever = UINT64_MAX / 4;

  /// A node that costs `cost` to remove; kNever if it cannot be.
  unsigned addNode(uint64_t cost);
  void addEdge(unsigned from, unsigned to);
  void addSource(unsigned node);
  void addSink(unsigned node);

  /// For each node, whether it is removed.
  std::vector<bool> solve();
  /// The total cost of what `solve` removed.
  uint64_t getCost() const { return total; }

private:
  struct Edge {
    unsigned to;
    uint64_t capacity;
  };
  void connect(unsigned from, unsigned to, uint64_t capacity);
  bool layer();
  uint64_t augment();

  /// 0 is the source of all, 1 the sink of all; node n enters at 2 + 2n and
  /// leaves at 3 + 2n.
  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> outgoing = {{}, {}};
  std::vector<unsigned> level, next;
  uint64_t total = 0;
};

} // namespace mlir::es

#endif // ES_LIB_TRAINING_MINCUT_H
