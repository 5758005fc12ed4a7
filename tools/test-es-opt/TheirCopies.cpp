//===- TheirCopies.cpp - Why One-Shot analysis copies where we do not -----===//
//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verdict.h"

using namespace mlir;
using namespace mlir::es;

/// A write of One-Shot analysis over `value` before the last read of what `op`
/// made. A loop reads what it begins with all the time.
OpOperand *Comparison::findOverwrite(Value value, Value old, OpResult result) {
  Operation *op = result.getOwner();
  for (OpOperand &use : value.getUses()) {
    Operation *writer = use.getOwner();
    if (writer == op || !theirs.bufferizesToMemoryWrite(use) ||
        !theirs.isInPlace(use))
      continue;
    bool isRead = false;
    // The old and the new contents, in one op that writes one of them.
    for (OpOperand &other : writer->getOpOperands())
      isRead |= &other != &use && other.get() != value &&
                isa<TensorType>(other.get().getType()) &&
                theirs.bufferizesToMemoryRead(other) &&
                (theirs.areAliasingBufferizedValues(other.get(), result) ||
                 theirs.areAliasingBufferizedValues(other.get(), old));
    theirs.applyOnAliases(result, [&](Value alias) {
      if (alias != result && !graph.areConnected(alias, result))
        return;
      isRead |= isReadAfter(alias, writer) ||
                llvm::any_of(alias.getUsers(), [&](Operation *user) {
                  return user->isProperAncestor(writer);
                });
    });
    if (isRead)
      return &use;
  }
  return nullptr;
}

/// True if `value` is read after `op`, or is a view of what is: One-Shot
/// analysis takes a view for as old as its source, copied or not.
bool Comparison::isOldAndRead(Value value, Operation *op) const {
  while (true) {
    if (isReadAfter(value, op))
      return true;
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return false;
    ResultFact fact =
        getOpFacts(result.getOwner()).results[result.getResultNumber()];
    if (fact.kind != ResultKind::View)
      return false;
    value = result.getOwner()->getOperand(fact.source);
  }
}

/// Where One-Shot analysis, with memory shared, would write over `value` at
/// some other op before it is read.
SmallVector<OpOperand *>
Comparison::findWritesBeforeRead(Value value, Value old, OpResult result) {
  SmallVector<OpOperand *> found;
  for (Value end : {old, Value(result)})
    theirs.applyOnAliases(end, [&](Value alias) {
      for (OpOperand &use : alias.getUses())
        if (use.getOwner() != result.getOwner() &&
            theirs.bufferizesToMemoryWrite(use) && theirs.isInPlace(use) &&
            isReadAfter(value, use.getOwner()))
          found.push_back(&use);
    });
  return found;
}

/// What keeps One-Shot analysis from writing in place: with memory shared,
/// `value` would be memory that must not be written, or old contents that are
/// read later, or be overwritten before the new contents are read. The kind of
/// the edge that lets it share, and not us.
std::optional<EdgeKind> Comparison::findObstacle(Value value, Value end,
                                                 Value old, OpResult result) {
  Operation *op = result.getOwner();
  SmallVector<OpOperand *> writes = findWritesBeforeRead(value, old, result);
  if (OpOperand *overwrite = findOverwrite(value, old, result))
    writes.push_back(overwrite);
  for (OpOperand *write : writes)
    if (std::optional<EdgeKind> kind = graph.getTheirs(*write))
      return kind;
  bool isSibling = llvm::is_contained(op->getOperands(), value);
  bool isObstacle = !writes.empty() || isSibling || !theirs.isWritable(value) ||
                    isOldAndRead(value, op);
  if (value == end || !isObstacle)
    return std::nullopt;
  return graph.findCut(end, value, SharingGraph::Side::Theirs, op);
}

Verdict Comparison::explainTheirCopy(OpOperand &init, OpResult result) {
  Verdict verdict = Verdict::Unclassified;
  for (Value end : {init.get(), Value(result)})
    theirs.applyOnAliases(end, [&](Value value) {
      if (verdict != Verdict::Unclassified)
        return;
      if (auto kind = findObstacle(value, end, init.get(), result))
        verdict = getVerdict(*kind);
    });
  return verdict;
}
