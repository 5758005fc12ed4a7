//===- ExpandVjp.cpp - Make a training step executable --------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"
#include "es/Training/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::es {
#define GEN_PASS_DEF_EXPANDVJP
#include "es/Training/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {
struct ExpandVjpPass : es::impl::ExpandVjpBase<ExpandVjpPass> {
  void runOnOperation() override;
};
} // namespace

/// The gradient of one operand.
static FailureOr<Value> expandGradient(OpBuilder &builder, VjpOp op,
                                       unsigned index) {
  if (op.getOf() == "es.loss")
    return expandLossGradient(builder, op);
  Type type = op.getOriginalFunctionType().getInput(index);
  // A view of a value of the same type is the cotangent.
  if (op.getKind() == VjpKind::view && op.getCotangents()[0].getType() == type)
    return op.getCotangents()[0];
  if (std::optional<FailureOr<Value>> value = expandTensor(builder, op, index))
    return *value;
  return expandStructured(builder, op, index);
}

static LogicalResult expand(VjpOp op) {
  OpBuilder builder(op);
  SmallVector<Value> gradients;
  for (int32_t index : op.getWrt()) {
    FailureOr<Value> gradient = expandGradient(builder, op, index);
    if (failed(gradient))
      return failure();
    gradients.push_back(*gradient);
  }
  op->replaceAllUsesWith(gradients);
  op.erase();
  return success();
}

/// The operand of a sum that is added to a slice of the other one: the second,
/// if it is the gradient of one.
static bool isAddedToSlice(VjpOp vjp) {
  Value gradient = vjp.getGradients()[0];
  if (!isSliceGradient(gradient))
    return false;
  auto sum = dyn_cast<AccumulateOp>(*gradient.user_begin());
  return sum && sum.getRhs() == gradient && sum.getLhs() != gradient;
}

static void expandSum(OpBuilder &builder, AccumulateOp sum) {
  auto vjp = sum.getRhs().getDefiningOp<VjpOp>();
  if (vjp && isAddedToSlice(vjp)) {
    sum.replaceAllUsesWith(addToSlice(builder, sum.getLhs(), vjp));
    sum.erase();
    vjp.erase();
    return;
  }
  Value value =
      arith::AddFOp::create(builder, sum.getLoc(), sum.getLhs(), sum.getRhs());
  sum.replaceAllUsesWith(value);
  sum.erase();
}

static LogicalResult expand(SplatOp op) {
  OpBuilder builder(op);
  Type type = op.getType();
  Type element = getElementTypeOrSelf(type);
  if (!isa<FloatType>(element))
    return op.emitError() << "has no expansion of type '" << type << "'";
  TypedAttr value =
      builder.getFloatAttr(element, op.getValue().convertToDouble());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    value = SplatElementsAttr::get(tensor, value);
  Value constant = arith::ConstantOp::create(builder, op.getLoc(), value);
  op.replaceAllUsesWith(constant);
  op.erase();
  return success();
}

/// Composites and their gradients first: what they are made of may have
/// gradients of its own. A gradient comes before the composite, which need not
/// compute what only that gradient would have read.
static LogicalResult expandComposites(Operation *root) {
  SmallVector<VjpOp> gradients;
  SmallVector<CompositeOp> composites;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto vjp = dyn_cast<VjpOp>(op);
    if (vjp && vjp.getOf() == CompositeOp::getOperationName())
      gradients.push_back(vjp);
    if (auto composite = dyn_cast<CompositeOp>(op))
      composites.push_back(composite);
    return vjp ? WalkResult::skip() : WalkResult::advance();
  });
  OpBuilder builder(root->getContext());
  for (VjpOp vjp : gradients)
    if (failed(expandCompositeGradient(builder, vjp)))
      return failure();
  for (CompositeOp composite : composites) {
    builder.setInsertionPoint(composite);
    if (failed(expandComposite(builder, composite)))
      return failure();
  }
  return success();
}

void ExpandVjpPass::runOnOperation() {
  if (failed(expandComposites(getOperation())))
    return signalPassFailure();
  SmallVector<Operation *> ops;
  getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<VjpOp, SplatOp, AccumulateOp, ReleaseOp, LossOp, OptimizerStepOp>(
            op))
      return WalkResult::advance();
    ops.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *op : ops) {
    OpBuilder builder(op);
    LogicalResult done = success();
    if (auto vjp = dyn_cast<VjpOp>(op)) {
      // Part of the sum, which comes later.
      if (vjp->getNumResults() == 1 && isAddedToSlice(vjp))
        continue;
      done = expand(vjp);
    } else if (auto splat = dyn_cast<SplatOp>(op)) {
      done = expand(splat);
    } else if (auto loss = dyn_cast<LossOp>(op)) {
      done = expandLoss(builder, loss);
    } else if (auto step = dyn_cast<OptimizerStepOp>(op)) {
      done = expandOptimizerStep(builder, step);
    } else if (auto sum = dyn_cast<AccumulateOp>(op)) {
      expandSum(builder, sum);
    } else {
      op->erase();
    }
    if (failed(done))
      return signalPassFailure();
  }
}
