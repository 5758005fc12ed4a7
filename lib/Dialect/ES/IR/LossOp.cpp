//===- LossOp.cpp - A loss on the output of a model -----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"

using namespace mlir;
using namespace mlir::es;

/// Labels lack the dimension of classes, probabilities have it.
static LogicalResult verifyCrossEntropy(LossOp op) {
  if (!op.getTarget() || !op.getLogProbabilities())
    return op.emitOpError(
        "(L2) expects labels and log-probabilities with 'xent'");
  auto prediction = dyn_cast<RankedTensorType>(op.getPrediction().getType());
  auto labels = dyn_cast<RankedTensorType>(op.getTarget().getType());
  if (labels && !labels.getElementType().isInteger())
    return op.emitOpError() << "(L2) expects integer labels, got " << labels;
  if (!prediction || !labels)
    return success();
  if (prediction.getRank() < 1 ||
      labels.getShape() != prediction.getShape().drop_back())
    return op.emitOpError()
           << "(L2) expects labels of the shape of " << prediction
           << " without its last dimension, got " << labels;
  auto logProbabilities =
      cast<RankedTensorType>(op.getLogProbabilities().getType());
  if (logProbabilities.getShape() != prediction.getShape())
    return op.emitOpError() << "(L2) expects log-probabilities of the shape of "
                            << prediction << ", got " << logProbabilities;
  return success();
}

LogicalResult LossOp::verify() {
  auto loss = cast<RankedTensorType>(getLoss().getType());
  if (loss.getRank() != 0 || !isa<FloatType>(loss.getElementType()))
    return emitOpError() << "(L1) expects a loss of rank 0, a float, got "
                         << loss;
  if (getKind() == LossKind::xent)
    return verifyCrossEntropy(*this);
  if (getLogProbabilities())
    return emitOpError() << "(L3) expects one result with '"
                         << stringifyLossKind(getKind()) << "'";
  if (getKind() == LossKind::sum && getTarget())
    return emitOpError("(L3) expects no target with 'sum'");
  if (getKind() == LossKind::mse &&
      (!getTarget() || getTarget().getType() != getPrediction().getType()))
    return emitOpError() << "(L3) expects a target of type "
                         << getPrediction().getType() << " with 'mse'";
  return success();
}
