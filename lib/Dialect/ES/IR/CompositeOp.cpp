//===- CompositeOp.cpp - Ops that one kernel computes ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"

using namespace mlir;
using namespace mlir::es;

static unsigned getNumStatistics(CompositeKind kind) {
  switch (kind) {
  case CompositeKind::gelu:
  case CompositeKind::log_softmax:
    return 0;
  case CompositeKind::attention:
  case CompositeKind::cross_entropy:
  case CompositeKind::relu:
    return 1;
  case CompositeKind::layer_norm:
    return 2;
  }
  llvm_unreachable("every kind has a number of results");
}

LogicalResult CompositeOp::verify() {
  unsigned expected = 1 + getNumStatistics(getKind());
  if (getNumResults() != expected)
    return emitOpError() << "(C3) expects " << expected << " results with '"
                         << stringifyCompositeKind(getKind()) << "', got "
                         << getNumResults();
  return success();
}

LogicalResult CompositeOp::verifyRegions() {
  Block &block = getBody().front();
  if (!getBody().hasOneBlock() ||
      TypeRange(block.getArgumentTypes()) != TypeRange(getInputs().getTypes()))
    return emitOpError("(C1) expects one block with arguments of the types of "
                       "the inputs");
  if (block.empty() || block.back().getNumResults() == 0 ||
      block.back().getResult(0).getType() != getResult(0).getType())
    return emitOpError() << "(C2) expects the last op of the body to give "
                         << getResult(0).getType();
  return success();
}
