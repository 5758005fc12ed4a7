//===- ReleaseOp.cpp - The point at which values may be freed -------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace mlir::es;

bool ReleaseOp::bufferizesToMemoryRead(OpOperand &,
                                       const bufferization::AnalysisState &) {
  return true;
}

bool ReleaseOp::bufferizesToMemoryWrite(OpOperand &,
                                        const bufferization::AnalysisState &) {
  return false;
}

bufferization::AliasingValueList
ReleaseOp::getAliasingValues(OpOperand &,
                             const bufferization::AnalysisState &) {
  return {};
}

/// By now the buffers are freed behind the op.
LogicalResult ReleaseOp::bufferize(RewriterBase &rewriter,
                                   const bufferization::BufferizationOptions &,
                                   bufferization::BufferizationState &) {
  rewriter.eraseOp(*this);
  return success();
}
