//===- ExpandComposite.cpp - Composites as executable IR ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The forward pass computes the body. The gradient computes it again from what
// the composite keeps and differentiates it: like a kernel, it carries nothing
// but that from one pass to the other; unlike a kernel, it has in memory what
// is between the ops of the body while it runs.
//
// Of some composites the operand is not kept. Its gradient is then taken at
// another point where it is the same: softmax does not change when the same
// number is added to a whole row, so that log-probabilities stand for logits,
// and of a relu nothing but the sign of its operand matters.
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"
#include "ReverseSweep.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::es;

static Type getShapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.clone(IndexType::get(type.getContext())) : Type();
}

/// `value` with the elements of `type`, whose shape it has.
static Value convertTo(OpBuilder &builder, Location loc, Value value,
                       RankedTensorType type) {
  Type from = getElementTypeOrSelf(value.getType());
  Type to = type.getElementType();
  if (from == to)
    return value;
  Value empty =
      tensor::EmptyOp::create(builder, loc, type.getShape(), to).getResult();
  return createElementwise(
      builder, loc, value, empty,
      [&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
        if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
          return {arith::ExtFOp::create(b, loc, to, args[0])};
        return {arith::TruncFOp::create(b, loc, to, args[0])};
      })[0];
}

/// 1 where `mask` holds, else -1.
static Value createSigns(OpBuilder &builder, Location loc, Value mask,
                         RankedTensorType type) {
  Type element = type.getElementType();
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), element);
  return createElementwise(
      builder, loc, mask, empty,
      [&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
        Value plus =
            arith::ConstantOp::create(b, loc, b.getFloatAttr(element, 1.0));
        Value minus =
            arith::ConstantOp::create(b, loc, b.getFloatAttr(element, -1.0));
        return {arith::SelectOp::create(b, loc, args[0], plus, minus)};
      })[0];
}

/// What stands for an operand that is not kept; null if nothing does.
static Value getStandIn(OpBuilder &builder, VjpOp vjp, CompositeKind kind) {
  Value kept;
  if (kind == CompositeKind::log_softmax)
    kept = vjp.getSavedResult(0);
  else if (kind == CompositeKind::cross_entropy || kind == CompositeKind::relu)
    kept = vjp.getSavedResult(1);
  auto type =
      dyn_cast<RankedTensorType>(vjp.getOriginalFunctionType().getInput(0));
  if (!kept || !type || getShapeOf(kept.getType()) != getShapeOf(type))
    return nullptr;
  return kind == CompositeKind::relu
             ? createSigns(builder, vjp.getLoc(), kept, type)
             : convertTo(builder, vjp.getLoc(), kept, type);
}

/// Moves the ops of `body` in front of `before`; erases those that nothing
/// reads, but for `wanted`.
static void spliceBody(Block &body, Operation *before, ArrayRef<Value> wanted) {
  llvm::SmallPtrSet<Operation *, 8> kept;
  for (Value value : wanted)
    if (value)
      kept.insert(value.getDefiningOp());
  SmallVector<Operation *> ops;
  for (Operation &op : body)
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops)) {
    if (!kept.contains(op) && isOpTriviallyDead(op))
      op->erase();
  }
  before->getBlock()->getOperations().splice(before->getIterator(),
                                             body.getOperations());
}

LogicalResult mlir::es::expandCompositeGradient(OpBuilder &builder, VjpOp vjp) {
  Location loc = vjp.getLoc();
  auto composite = cast<CompositeOp>(vjp.getOriginal()[0].front().front());
  CompositeKind kind = composite.getKind();
  auto unsupported = [&]() -> InFlightDiagnostic {
    return vjp.emitError() << "has no expansion: the gradient of a composite '"
                           << stringifyCompositeKind(kind) << "'";
  };
  Block &body = composite.getBody().front();
  // The first result alone has a cotangent: statistics serve the gradient.
  Value arrived = vjp.getCotangent(0);
  if (!arrived || vjp.getCotangents().size() != 1)
    return unsupported() << " with cotangents of its statistics";
  Value outcome = body.back().getResult(0);
  BlockArgument cotangent = body.addArgument(arrived.getType(), loc);
  // What the reverse sweep takes for a terminator.
  builder.setInsertionPointToEnd(&body);
  auto end = ReleaseOp::create(builder, loc, ValueRange());
  builder.setInsertionPoint(end);

  TrainingOptions options;
  options.savePolicy = SavePolicy::All;
  llvm::MapVector<Value, StringAttr> operands;
  for (int32_t index : vjp.getWrt())
    operands[body.getArgument(index)] = builder.getStringAttr("");
  llvm::DenseSet<Value> resident;
  ReverseSweep sweep(builder, options, operands, resident);
  sweep.findActive(body);
  sweep.addCotangent(loc, outcome, cotangent);
  if (failed(sweep.run(body, [](Operation *) {})))
    return failure();
  sweep.eraseReplaced();
  SmallVector<Value> gradients;
  for (int32_t index : vjp.getWrt()) {
    Value gradient = sweep.getCotangent(body.getArgument(index));
    if (!gradient)
      return unsupported() << " does not reach operand " << index;
    gradients.push_back(gradient == cotangent ? arrived : gradient);
  }
  end.erase();

  builder.setInsertionPoint(vjp);
  cotangent.replaceAllUsesWith(arrived);
  for (auto [index, argument] :
       llvm::enumerate(body.getArguments().drop_back())) {
    Value value = vjp.getSavedOperand(index);
    if (!value && index == 0 && !argument.use_empty())
      value = getStandIn(builder, vjp, kind);
    if (value)
      argument.replaceAllUsesWith(value);
  }
  for (auto [result, gradient] : llvm::zip(vjp.getGradients(), gradients))
    result.replaceAllUsesWith(gradient);
  spliceBody(body, vjp, gradients);
  for (auto [index, argument] : llvm::enumerate(body.getArguments()))
    if (!argument.use_empty())
      return unsupported() << " reads operand " << index
                           << ", which is not kept";
  vjp.erase();
  return success();
}

/// What the composite leaves for its gradient beside its result, where that
/// reads it.
static Value getStatistic(OpBuilder &builder, CompositeOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getResult(1).getType());
  auto from = dyn_cast<RankedTensorType>(op.getOperand(0).getType());
  if (!type || !from || getShapeOf(from) != getShapeOf(type))
    return nullptr;
  Location loc = op.getLoc();
  // Log-probabilities differ from logits by a number for each row.
  if (op.getKind() == CompositeKind::cross_entropy)
    return convertTo(builder, loc, op.getOperand(0), type);
  if (op.getKind() != CompositeKind::relu)
    return nullptr;
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  Type element = from.getElementType();
  return createElementwise(
      builder, loc, op.getOperand(0), empty,
      [&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
        Value zero =
            arith::ConstantOp::create(b, loc, b.getFloatAttr(element, 0.0));
        return {arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                      args[0], zero)};
      })[0];
}

LogicalResult mlir::es::expandComposite(OpBuilder &builder, CompositeOp op) {
  for (OpResult result : op->getResults().drop_front()) {
    if (result.use_empty())
      continue;
    Value value =
        result.getResultNumber() == 1 ? getStatistic(builder, op) : Value();
    if (!value)
      return op.emitError() << "has no expansion: result "
                            << result.getResultNumber() << " is read";
    result.replaceAllUsesWith(value);
  }
  Block &body = op.getBody().front();
  for (auto [argument, value] : llvm::zip(body.getArguments(), op.getInputs()))
    argument.replaceAllUsesWith(value);
  op->getResult(0).replaceAllUsesWith(body.back().getResult(0));
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         body.getOperations());
  op.erase();
  return success();
}
