//===- Losses.cpp - What is minimised -------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model that returns a scalar float returns its loss. For any other, a loss
// is assumed, and the report says which.
//
//===----------------------------------------------------------------------===//

#include "TrainingStep.h"

#include "es/OpModel/Derivatives.h"
#include "es/OpModel/RoleFacts.h"
#include "es/OpModel/Torch.h"

using namespace mlir;
using namespace mlir::es;

static bool isScalar(Type type) {
  if (isa<FloatType>(type))
    return true;
  ShapedType shaped = getCarriedShape(type);
  return shaped && shaped.hasStaticShape() && shaped.getNumElements() == 1;
}

static bool isFloat(Type type) {
  if (isa<FloatType>(type))
    return true;
  ShapedType shaped = getCarriedShape(type);
  return shaped && isa<FloatType>(shaped.getElementType());
}

static bool isPrediction(Type type) {
  ShapedType shaped = getCarriedShape(type);
  return shaped && shaped.hasRank() && shaped.getRank() >= 2 && isFloat(type);
}

/// The argument that holds the labels or the target.
static Value addTarget(TrainingStep &step, Type type, StringRef name) {
  return step.addArgument(type, Role::Input, name);
}

static Value createCrossEntropy(TrainingStep &step, Value prediction) {
  ShapedType type = getCarriedShape(prediction.getType());
  OpBuilder &builder = step.builder;
  Operation *made = prediction.getDefiningOp();
  if (step.options.eager && made && isTorchOp(made)) {
    auto labels = RankedTensorType::get(type.getShape().drop_back(),
                                        builder.getI64Type());
    Value target = addTarget(step, labels, "labels");
    return createClassLoss(builder, prediction.getLoc(), prediction, target,
                           RankedTensorType::get({}, type.getElementType()),
                           {});
  }
  auto labels = RankedTensorType::get(type.getShape().drop_back(),
                                      builder.getIntegerType(32));
  Value target = addTarget(step, labels, "labels");
  // Below f32 the logarithms would have too few digits.
  Type element = type.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = builder.getF32Type();
  auto loss = LossOp::create(
      builder, prediction.getLoc(), RankedTensorType::get({}, element),
      RankedTensorType::get(type.getShape(), element),
      LossKindAttr::get(builder.getContext(), LossKind::xent), prediction,
      target);
  return loss.getLoss();
}

static Value createLossOn(TrainingStep &step, Value prediction, LossKind kind) {
  OpBuilder &builder = step.builder;
  ShapedType type = getCarriedShape(prediction.getType());
  Value target;
  if (kind == LossKind::mse)
    target = addTarget(step, prediction.getType(), "target");
  auto loss = LossOp::create(
      builder, prediction.getLoc(),
      RankedTensorType::get({}, type.getElementType()), Type(),
      LossKindAttr::get(builder.getContext(), kind), prediction, target);
  return loss.getLoss();
}

/// The sum of the results that the options name.
FailureOr<Value> TrainingStep::addLosses() {
  Operation *terminator = body().getTerminator();
  Value sum;
  for (unsigned index : options.lossResults) {
    auto fail = [&](const Twine &got) {
      return model->emitError() << "--loss=" << index
                                << " expects the number of a scalar float "
                                   "result, got "
                                << got;
    };
    if (index >= terminator->getNumOperands())
      return fail("one that does not exist");
    Value loss = terminator->getOperand(index);
    if (!isScalar(loss.getType()) || !isFloat(loss.getType()))
      return fail("one that is not");
    if (llvm::is_contained(losses, loss))
      return fail("one that is counted already");
    if (sum && sum.getType() != loss.getType())
      return fail("one of another type than that of the first");
    losses.push_back(loss);
    graph.loss += (graph.loss.empty() ? "loss is result " : " + result ") +
                  std::to_string(index);
    sum = sum ? AccumulateOp::create(builder, loss.getLoc(), sum, loss)
                    .getResult()
              : loss;
  }
  return sum;
}

/// The first result of the wanted kind that a trainable parameter reaches, else
/// the first of the kind: a decode graph returns its caches as well.
FailureOr<Value> TrainingStep::createLoss(function_ref<bool(Value)> isActive) {
  Operation *terminator = body().getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  LossChoice choice = options.loss;
  auto find = [&](function_ref<bool(Type)> isKind) -> std::optional<unsigned> {
    std::optional<unsigned> first;
    for (auto [index, value] : llvm::enumerate(results)) {
      if (!isKind(value.getType()))
        continue;
      if (isActive(value))
        return index;
      if (!first)
        first = index;
    }
    return first;
  };
  auto describe = [&](StringRef what, unsigned index) {
    graph.loss = (what + " result " + Twine(index)).str();
    return results[index];
  };
  if (choice == LossChoice::Result)
    return addLosses();
  if (choice == LossChoice::Automatic) {
    std::optional<unsigned> scalar =
        find([](Type type) { return isScalar(type) && isFloat(type); });
    if (scalar)
      return describe("loss is", *scalar);
  }
  if (choice == LossChoice::Automatic || choice == LossChoice::CrossEntropy) {
    if (std::optional<unsigned> index = find(isPrediction))
      return createCrossEntropy(
          *this, describe(choice == LossChoice::Automatic
                              ? "loss taken for softmax cross entropy of"
                              : "loss: softmax cross entropy of",
                          *index));
    if (choice == LossChoice::CrossEntropy)
      return model->emitError("--loss=xent expects a float result of rank 2 or "
                              "more");
  }
  auto index =
      find([](Type type) { return isFloat(type) && getCarriedShape(type); });
  if (!index)
    return model->emitError(
        "no float result that a loss could be computed from");
  if (choice == LossChoice::MeanSquare)
    return createLossOn(*this, describe("loss: mean square error of", *index),
                        LossKind::mse);
  return createLossOn(*this,
                      describe(choice == LossChoice::Automatic
                                   ? "loss taken for the sum of"
                                   : "loss: sum of",
                               *index),
                      LossKind::sum);
}
