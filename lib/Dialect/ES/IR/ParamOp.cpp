//===- ParamOp.cpp - A use of a parameter ---------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::es;

LogicalResult ParamOp::verify() {
  return getParam().verifyFor(getValue().getType(),
                              [&] { return emitOpError(); });
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// The same annotation twice says no more than once.
OpFoldResult ParamOp::fold(FoldAdaptor) {
  auto inner = getValue().getDefiningOp<ParamOp>();
  return inner && inner.getParam() == getParam() ? getValue() : OpFoldResult();
}

static bool forgetsSizes(tensor::CastOp cast) {
  return tensor::canFoldIntoConsumerOp(cast);
}
static bool forgetsSizes(memref::CastOp cast) {
  return memref::CastOp::canFoldIntoConsumerOp(cast);
}

namespace {
/// A cast that only forgets sizes moves behind the annotation, so that they
/// reach whatever reads the parameter.
template <typename CastT> struct MoveCastBehind : OpRewritePattern<ParamOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ParamOp op,
                                PatternRewriter &rewriter) const override {
    auto cast = op.getValue().template getDefiningOp<CastT>();
    if (!cast || !forgetsSizes(cast))
      return failure();
    auto param =
        ParamOp::create(rewriter, op.getLoc(), cast.getSource(), op.getParam());
    rewriter.replaceOpWithNewOp<CastT>(op, op.getType(), param.getResult());
    return success();
  }
};
} // namespace

void ParamOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<MoveCastBehind<tensor::CastOp>, MoveCastBehind<memref::CastOp>>(
      context);
}

//===----------------------------------------------------------------------===//
// A view
//===----------------------------------------------------------------------===//

Value ParamOp::getViewSource() { return getValue(); }

bool ParamOp::bufferizesToMemoryRead(OpOperand &,
                                     const bufferization::AnalysisState &) {
  return false;
}

bool ParamOp::bufferizesToMemoryWrite(OpOperand &,
                                      const bufferization::AnalysisState &) {
  return false;
}

bufferization::AliasingValueList
ParamOp::getAliasingValues(OpOperand &, const bufferization::AnalysisState &) {
  return {{getResult(), bufferization::BufferRelation::Equivalent}};
}

LogicalResult
ParamOp::bufferize(RewriterBase &rewriter,
                   const bufferization::BufferizationOptions &options,
                   bufferization::BufferizationState &state) {
  FailureOr<Value> buffer =
      bufferization::getBuffer(rewriter, getValue(), options, state);
  if (failed(buffer))
    return failure();
  bufferization::replaceOpWithBufferizedValues(rewriter, getOperation(),
                                               *buffer);
  return success();
}
