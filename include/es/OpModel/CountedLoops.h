//===- CountedLoops.h - Loops whose trip count is known ---------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_COUNTEDLOOPS_H
#define ES_OPMODEL_COUNTEDLOOPS_H

#include "mlir/IR/Operation.h"

namespace mlir::es {

/// A loop that carries values from one iteration to the next. Carried value i
/// is operand `firstInit + i` of the op, argument `firstArgument + i` of the
/// body, operand `firstYield + i` of the body's terminator, and result i.
struct CarryingLoop {
  Operation *op = nullptr;
  Region *body = nullptr;
  unsigned firstInit = 0, firstArgument = 0, firstYield = 0;
  /// The argument that counts: from `lower`, in steps of `step`.
  BlockArgument counter;
  int64_t lower = 0, step = 1;
  /// What the counter is compared with; null if nothing is.
  Value bound;
  /// Unknown if it depends on data, or on a value that nobody bound.
  std::optional<int64_t> trips;

  unsigned size() const { return op->getNumOperands() - firstInit; }
  OpOperand &getInit(unsigned i) { return op->getOpOperand(firstInit + i); }
  BlockArgument getArgument(unsigned i) {
    return body->getArgument(firstArgument + i);
  }
  OpOperand &getYield(unsigned i) {
    return body->front().back().getOpOperand(firstYield + i);
  }
};

/// `op` as a loop: scf.for, the `while` of scf, StableHLO and MHLO, and the
/// `Loop` of ONNX and torch; nullopt for any other op.
std::optional<CarryingLoop> getCarryingLoop(Operation *op);

} // namespace mlir::es

#endif // ES_OPMODEL_COUNTEDLOOPS_H
