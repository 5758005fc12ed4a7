//===- BufferSweep.h - The sweep behind BufferAssignment --------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Visits the program points once, in order. Single ops are decided in
// BufferSweep.cpp, ownership across control flow in BufferControlFlow.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_ANALYSIS_BUFFERSWEEP_H
#define ES_LIB_ANALYSIS_BUFFERSWEEP_H

#include "Fusion.h"

#include "es/Analysis/Buffers.h"
#include "es/Analysis/LastReads.h"
#include "llvm/ADT/DenseSet.h"
#include <deque>

namespace mlir::es {

class BufferSweep {
public:
  BufferSweep(BufferAssignment &result, const BufferOptions &options);
  void run();

private:
  /// A value without memory of its own until something needs it.
  enum class Virtual : uint8_t { Undefined, Splat };
  /// The reads of all the values that live in one buffer.
  struct Reads {
    unsigned last = 0;
    bool pathDependent = false;
    SmallVector<Value, 1> members;
  };
  /// How a branch hands one of its results on.
  enum class Handover : uint8_t { Owned, Borrowed, MustCopy };

  // Buffers (BufferSweep.cpp).
  BufferId create(Value root, Type type, bool owned);
  void join(Value value, BufferId buffer);
  void addRead(BufferId buffer, Value value);
  BufferId copy(OpOperand &operand);
  BufferId createAlias(Value root);
  void addTarget(BufferId alias, BufferId target);
  BufferId getBuffer(Value value) const {
    return result.getBuffer(getNumber(value));
  }
  BufferId getBuffer(OpOperand &operand) const;
  ValueNumber getNumber(Value value) const;
  unsigned getPoint(Operation *op) const;

  // Single ops (BufferSweep.cpp).
  void visitOp(Operation *op, const OpFacts &facts);
  void visitDestination(OpOperand &destination, const OpFacts &facts,
                        OpResult value);
  void allocateOrTakeOver(OpResult value, const OpFacts &facts);
  bool takeOverLeaf(OpResult value, const OpFacts &facts);
  void visitAbsorbed(OpResult value);
  void visitView(Value value, Value source);
  void visitConstant(OpResult value);
  void materialize(Operation *op, const OpFacts &facts);
  void materializeOperand(OpOperand &operand);
  bool isDying(BufferId buffer, Operation *op) const;
  bool mayOverwrite(BufferId buffer, Operation *op) const;
  bool isWholeBuffer(Value value, BufferId buffer) const;
  bool hasConflictingRead(OpOperand &destination, BufferId buffer,
                          const OpFacts &facts) const;
  bool isFreshInit(Value value) const;

  // Control flow (BufferControlFlow.cpp).
  void visitBlockStart(Block *block);
  void visitTerminator(Operation *op);
  void visitCall(Operation *op, const OpFacts &facts);
  void enterRegions(Operation *op);
  void joinInvariant(OpOperand &init, ArrayRef<BlockArgument> arguments);
  void leaveRegions(Operation *op);
  void visitBranchTerminator(Operation *op);
  void visitBlockBranch(Operation *op);
  void visitReturn(Operation *op);
  void joinBranchResult(OpResult value);
  void passBorrowed(OpOperand &operand, Value target);
  Handover classify(OpOperand &operand,
                    llvm::SmallDenseSet<BufferId> &handedOver) const;
  void give(OpOperand &operand, BufferId buffer);
  void handOver(OpOperand &operand, llvm::SmallDenseSet<BufferId> &handedOver);

  BufferAssignment &result;
  const BufferOptions &options;
  const ProgramOrder &order;
  const LastReads &lastReads;
  /// Where the sweep is.
  unsigned current = 0;
  /// What the `fused` model never has in memory.
  std::optional<FusionPlan> fusion;
  std::deque<Reads> reads;
  llvm::DenseMap<Value, Virtual> virtuals;
  llvm::DenseMap<Attribute, BufferId> globals;
  llvm::DenseMap<OpOperand *, Handover> handovers;
  /// Buffers that some earlier op handed on to their next owner.
  llvm::DenseSet<BufferId> handedAway;
};

} // namespace mlir::es

#endif // ES_LIB_ANALYSIS_BUFFERSWEEP_H
