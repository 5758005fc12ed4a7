//===- Verdict.h - One in-place decision of two analyses ----------- -*- C++
//-*-===//
//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares our decision about a destination with that of One-Shot analysis, and
// leads a difference back to a rule of docs/Design/MemoryModel.md ("Against
// One-Shot analysis"): to what stands in the way of the analysis that copies,
// and to where the two analyses disagree on the way there.
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_TEST_ES_OPT_VERDICT_H
#define ES_TOOLS_TEST_ES_OPT_VERDICT_H

#include "SharingGraph.h"

namespace mlir::es {

/// Where a decision ends up. The names are those of the documentation.
enum class Verdict : uint8_t {
  BothInPlace,
  BothCopy,
  Undefined,
  Overwrite,
  View,
  Subset,
  Branch,
  Loop,
  Unread,
  Equivalent,
  Follows,
  Unclassified,
};
constexpr StringRef kVerdicts[] = {
    "both in place", "both copy",  "undefined", "overwrite",
    "view",          "subset",     "branch",    "loop",
    "unread",        "equivalent", "follows",   "UNCLASSIFIED"};

/// The verdict on a difference that begins at an edge of this kind.
Verdict getVerdict(EdgeKind kind);

/// Compares the decisions of one function.
class Comparison {
public:
  Comparison(func::FuncOp func, const BufferAssignment &ours,
             bufferization::OneShotAnalysisState &theirs)
      : ours(ours), theirs(theirs), graph(func, ours, theirs) {}

  Verdict judge(OpOperand &init, OpResult result, bool readsOld);

private:
  bool isCutView(Value value) const;
  Verdict explainOurCopy(OpOperand &init);
  Verdict explainTheirCopy(OpOperand &init, OpResult result);
  void collectObstacles(OpOperand &init, SmallVectorImpl<Value> &obstacles);
  bool isReadAfter(Value value, Operation *op) const;
  bool isOldAndRead(Value value, Operation *op) const;
  bool mayBeSame(Value a, Value b) const;
  Verdict explainUnread(Value value, OpOperand &init) const;
  std::optional<EdgeKind> findObstacle(Value value, Value end, Value old,
                                       OpResult result);
  SmallVector<OpOperand *> findWritesBeforeRead(Value value, Value old,
                                                OpResult result);
  OpOperand *findOverwrite(Value value, Value old, OpResult result);

  const BufferAssignment &ours;
  bufferization::OneShotAnalysisState &theirs;
  SharingGraph graph;
};

} // namespace mlir::es

#endif // ES_TOOLS_TEST_ES_OPT_VERDICT_H
