//===- Buffers.h - Which values share memory --------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assigns every tensor or memref value of a function to a buffer, by one linear
// sweep in program order: a write is in place if and only if the buffer is
// owned and nothing reads its old contents later. What `es-bufferize` compiles
// and what the report counts are both read off this assignment.
//
//===----------------------------------------------------------------------===//

#ifndef ES_ANALYSIS_BUFFERS_H
#define ES_ANALYSIS_BUFFERS_H

#include "es/Analysis/LastReads.h"
#include "es/Analysis/ProgramOrder.h"
#include "es/OpModel/OpModel.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace mlir::es {

/// How optimistic to be about memory that is written in place.
enum class MemoryModel : uint8_t { Eager, InPlace, Fused };

using BufferId = unsigned;
constexpr BufferId kNoBuffer = ~0u;

/// For each result of a function: the index of the argument that it is, or
/// nullopt if it is memory of its own that the caller comes to own.
using ReturnedArguments = SmallVector<std::optional<unsigned>, 2>;

struct BufferOptions {
  MemoryModel model = MemoryModel::InPlace;
  /// Arguments that the function may overwrite and that die at their last use.
  std::function<bool(BlockArgument)> isDonated;
  /// What a callee returns; without it every result is new.
  std::function<ReturnedArguments(Operation *call)> returnedArguments;
};

/// One allocation: the SSA values that live in it are those `getBuffer(v)` maps
/// to it.
struct Buffer {
  /// The value whose definition brings the buffer into being; null for a copy.
  Value root;
  /// The operand this buffer was copied for, if it is a copy.
  OpOperand *copyFor = nullptr;
  /// What is allocated.
  Type type;
  /// Owned by the function (freed after its last use), or borrowed: an argument
  /// of the caller's, a constant, a global.
  bool owned = true;
  /// Has no memory of its own: a value that is one of several other buffers,
  /// depending on the path taken (`BufferAssignment::getTargets`).
  bool isAlias = false;
  /// A constant or a global, resident all the time.
  bool isConstant = false;
};

/// A buffer that a loop keeps while none of its values is read.
struct HeldBuffer {
  BufferId buffer;
  unsigned first, last;
};

class BufferAssignment {
public:
  /// Computes the assignment of `func`.
  static BufferAssignment compute(FunctionOpInterface func,
                                  const BufferOptions &options);

  /// The buffer `value` lives in, or kNoBuffer (scalars, tensor.empty, splats
  /// that nothing needs in memory).
  BufferId getBuffer(Value value) const {
    return getBuffer(order->getNumber(value));
  }
  BufferId getBuffer(ValueNumber number) const {
    return number == kNoNumber ? kNoBuffer : bufferOf[number];
  }
  ArrayRef<Buffer> getBuffers() const { return table; }
  const ProgramOrder &getOrder() const { return *order; }
  const LastReads &getLastReads() const { return *lastReads; }
  /// Every value that lives in a buffer, in program order.
  std::vector<std::pair<Value, BufferId>> getValues() const;
  const llvm::DenseMap<OpOperand *, BufferId> &getCopies() const {
    return copies;
  }
  /// Buffers that live from one point to another, read there or not.
  ArrayRef<HeldBuffer> getHeld() const { return held; }
  FunctionOpInterface getFunction() const { return function; }

  /// False if the memory of `operand` must be copied before its op runs:
  /// for a destination, because old contents are read later or are borrowed;
  /// for an operand that control flow hands on (loop inits, yields, branch
  /// operands, returns), because its buffer cannot be given away there. The
  /// copy is a new buffer, live from this op on. Destinations whose old
  /// contents are undefined or not read are never in place: they get fresh
  /// memory, or that of the operand the result takes over.
  bool isInPlace(OpOperand &operand) const;

  /// The buffer that control flow hands on through `operand` to its next owner
  /// (a copy made for it included), or kNoBuffer if nothing changes hands.
  BufferId getHandedOver(OpOperand &operand) const;

  /// The operand whose memory the result takes over, if any: it dies at the
  /// op, is owned, has the result's type and is read elementwise.
  std::optional<unsigned> getTakenOver(OpResult result) const;

  /// The operands that need this splat (or undefined value) in memory.
  ArrayRef<OpOperand *> getMaterializedUses(Value splat) const;

  /// The buffers that an alias may be.
  ArrayRef<BufferId> getTargets(BufferId alias) const;

  /// What the function's results are, for its callers.
  ReturnedArguments getReturnedArguments() const;

private:
  friend class BufferSweep;

  FunctionOpInterface function;
  std::shared_ptr<const ProgramOrder> order;
  std::shared_ptr<const LastReads> lastReads;
  std::vector<Buffer> table;
  /// By number of the value; kNoBuffer for those without memory.
  std::vector<BufferId> bufferOf;
  llvm::DenseMap<OpOperand *, BufferId> copies;
  llvm::DenseMap<OpOperand *, BufferId> handedOver;
  /// By number of the result: one more than the operand, 0 for none.
  std::vector<unsigned> takeovers;
  llvm::DenseMap<Value, SmallVector<OpOperand *, 2>> materialized;
  llvm::DenseMap<BufferId, SmallVector<BufferId, 2>> targets;
  std::vector<HeldBuffer> held;
};

} // namespace mlir::es

#endif // ES_ANALYSIS_BUFFERS_H
