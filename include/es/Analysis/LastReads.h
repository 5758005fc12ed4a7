//===- LastReads.h - Until when a value is read -----------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every value that occupies memory, the last program point that reads it. A
// value from outside a loop that is read inside is read until the loop ends.
// Where branches or a control-flow graph make "last" depend on the path, the
// value is marked as path-dependent and queries look at its uses.
//
//===----------------------------------------------------------------------===//

#ifndef ES_ANALYSIS_LASTREADS_H
#define ES_ANALYSIS_LASTREADS_H

#include "es/Analysis/ProgramOrder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::es {

class LastReads {
public:
  explicit LastReads(const ProgramOrder &order);

  struct Info {
    /// The last point that reads the value; 0 if none does.
    unsigned last = 0;
    bool isRead = false;
    /// Read inside a branch, or in another block, than its definition's.
    bool pathDependent = false;
  };
  Info lookup(ValueNumber number) const {
    return number == kNoNumber ? Info() : infos[number];
  }
  Info lookup(Value value) const { return lookup(order.getNumber(value)); }

  /// True if some read of `value` can happen after `op` (reads by `op` itself
  /// do not count). Looks at every use: for path-dependent values only.
  bool isReadAfter(Value value, Operation *op) const;

  /// The point at which `user` reads `value`, seen from the region that defines
  /// `value`: the end of the outermost loop in between, if there is one.
  struct Position {
    unsigned point;
    bool throughBranch;
    /// The op of the defining region that is or contains the user.
    Operation *homeOp;
  };
  Position locate(Value value, Operation *user) const;

  /// The blocks of the value's region that it is live into.
  const llvm::DenseSet<Block *> &getLiveInBlocks(Value value) const;

  const ProgramOrder &getOrder() const { return order; }

private:
  void addRead(Value value, ValueNumber number, unsigned point);

  const ProgramOrder &order;
  std::vector<Info> infos;
  mutable llvm::DenseMap<Value, llvm::DenseSet<Block *>> liveIns;
};

/// True if `operand` needs the contents of its memory.
bool readsMemory(OpOperand &operand);

} // namespace mlir::es

#endif // ES_ANALYSIS_LASTREADS_H
