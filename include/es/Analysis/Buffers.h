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

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <vector>

namespace mlir::es {

/// How optimistic to be about memory that is written in place.
enum class MemoryModel : uint8_t { Eager, InPlace, Fused };

using BufferId = unsigned;
constexpr BufferId kNoBuffer = ~0u;

struct BufferOptions {
  MemoryModel model = MemoryModel::InPlace;
  /// Arguments that the function may overwrite and that die at their last use.
  llvm::function_ref<bool(BlockArgument)> isDonated;
};

/// One allocation: the SSA values that live in it are those `buffer(v)` maps
/// to it.
struct Buffer {
  /// The value whose definition brings the buffer into being.
  Value root;
  /// Owned by the function (freed after its last use), or borrowed: an argument
  /// of the caller's, a constant, a global.
  bool owned = true;
};

class BufferAssignment {
public:
  /// Computes the assignment of `func`. Fails, with a diagnostic, on recursion.
  static FailureOr<BufferAssignment> compute(FunctionOpInterface func,
                                             const BufferOptions &options);

  /// The buffer `value` lives in, or kNoBuffer (scalars, tensor.empty, splats
  /// that nothing needs in memory).
  BufferId buffer(Value value) const;
  ArrayRef<Buffer> buffers() const { return table; }

  /// False if the memory of `operand` must be copied before its op runs:
  /// for a destination, because old contents are read later or are borrowed;
  /// for an operand that control flow hands on (loop inits, yields, branch
  /// operands, returns), because its buffer cannot be given away there. The
  /// copy is a new buffer, live from this op on.
  bool isInPlace(OpOperand &operand) const;

  /// The operand whose memory the result takes over, if any: it dies at the
  /// op, is owned, has the result's type and is read elementwise.
  std::optional<unsigned> takenOver(OpResult result) const;

private:
  friend class BufferSweep;
  std::vector<Buffer> table;
  llvm::DenseMap<Value, BufferId> bufferOf;
  llvm::DenseMap<OpOperand *, BufferId> copies;
  llvm::DenseMap<Value, unsigned> takeovers;
};

} // namespace mlir::es

#endif // ES_ANALYSIS_BUFFERS_H
