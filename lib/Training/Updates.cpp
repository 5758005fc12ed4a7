//===- Updates.cpp - The optimizer's part of a training step --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingStep.h"

#include "es/OpModel/RoleFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::es;

static Type getWiderFloat(Type type, Type least) {
  return isa<FloatType>(type) &&
                 type.getIntOrFloatBitWidth() > least.getIntOrFloatBitWidth()
             ? type
             : least;
}

/// What the update reads: the gradient of this batch, or with the sum over
/// earlier ones; all of it, or this device's shard.
void TrainingStep::takeGradient(Parameter &parameter, Value gradient) {
  parameter.gradient = gradient;
  parameter.gradient = convertGradient(parameter);
  parameter.updatable = parameter.value;
  Location loc = gradient.getLoc();
  auto type = dyn_cast<RankedTensorType>(parameter.gradient.getType());
  bool isWhole =
      options.zero > 0 && options.zero < 3 && type && type.hasStaticShape();
  auto shard = [&](auto create, Value whole) -> Value {
    auto from = cast<RankedTensorType>(whole.getType());
    return create(getShardType(from, options.devices), whole);
  };
  if (isWhole && options.zero == 2)
    parameter.gradient = shard(
        [&](Type to, Value whole) -> Value {
          return ReduceScatterOp::create(builder, loc, to, whole,
                                         options.devices);
        },
        parameter.gradient);
  if (options.accumulate > 1) {
    Value sum = addArgument(parameter.gradient.getType(), Role::Gradient,
                            parameter.info->name + ".gradients", true);
    parameter.gradient =
        AccumulateOp::create(builder, loc, sum, parameter.gradient);
  }
  if (!isWhole)
    return;
  auto view = [&](Type to, Value whole) -> Value {
    return ShardOp::create(builder, loc, to, whole, options.devices);
  };
  parameter.updatable = shard(view, parameter.value);
  if (options.zero == 1)
    parameter.gradient = shard(view, parameter.gradient);
}

/// The moments, then the copy at full precision.
void TrainingStep::addStates(Parameter &parameter) {
  ShapedType type = getCarriedShape(parameter.updatable.getType());
  ArrayRef<int64_t> shape = type ? type.getShape() : ArrayRef<int64_t>();
  Type f32 = builder.getF32Type();
  Type element = options.stateType;
  if (!element)
    element = options.optimizer == OptimizerKind::adamw8bit
                  ? builder.getIntegerType(8)
                  : getWiderFloat(type ? type.getElementType() : f32, f32);
  for (auto [index, state] :
       llvm::enumerate(getStateShapes(options.optimizer, shape)))
    parameter.states.push_back(addArgument(
        RankedTensorType::get(state, element), Role::OptimizerState,
        parameter.info->name + ".state" + std::to_string(index), true));
  if (hasMaster(parameter))
    parameter.states.push_back(
        addArgument(RankedTensorType::get(shape, f32), Role::OptimizerState,
                    parameter.info->name + ".master", true));
  if (!stepNumber && readsStep(options.optimizer))
    stepNumber = addArgument(builder.getI64Type(), Role::Input, "step");
}

/// Full precision is worth a copy only where it is not there already.
bool TrainingStep::hasMaster(const Parameter &parameter) const {
  ShapedType type = getCarriedShape(parameter.updatable.getType());
  return options.masterWeights && type &&
         type.getElementType().isIntOrFloat() &&
         type.getElementTypeBitWidth() < 32;
}

/// The gradient in the type it is accumulated in.
Value TrainingStep::convertGradient(Parameter &parameter) {
  Value gradient = parameter.gradient;
  auto type = dyn_cast<RankedTensorType>(gradient.getType());
  if (!options.gradType || !type || type.getElementType() == options.gradType)
    return gradient;
  Type to = type.clone(options.gradType);
  Location loc = gradient.getLoc();
  if (options.gradType.getIntOrFloatBitWidth() > type.getElementTypeBitWidth())
    return arith::ExtFOp::create(builder, loc, to, gradient);
  return arith::TruncFOp::create(builder, loc, to, gradient);
}

/// What PyTorch's implementations allocate: Adam's root and quotient where it
/// goes tensor by tensor, the root alone where it takes all at once, and there
/// the gradients with the decay added.
unsigned TrainingStep::getTemporaries() const {
  if (options.temporaries)
    return *options.temporaries;
  if (options.impl == OptimizerImpl::fused || !readsStep(options.optimizer))
    return 0;
  if (options.impl == OptimizerImpl::loop)
    return 2;
  return options.decay == DecayKind::coupled ? 2 : 1;
}

void TrainingStep::createUpdate(MutableArrayRef<Parameter> updated) {
  SmallVector<Value> values, gradients, states;
  for (Parameter &parameter : updated) {
    values.push_back(parameter.updatable);
    gradients.push_back(parameter.gradient);
    llvm::append_range(states, parameter.states);
  }
  auto number = [](double value) { return llvm::APFloat(value); };
  auto step = OptimizerStepOp::create(
      builder, gradients.front().getLoc(), options.optimizer, options.impl,
      values, gradients, states,
      readsStep(options.optimizer) ? stepNumber : Value(),
      number(options.learningRate), number(options.beta1),
      number(options.beta2), number(options.epsilon),
      number(options.decay == DecayKind::none ? 0.0 : options.weightDecay),
      options.decay, getTemporaries(), hasMaster(updated.front()));
  unsigned next = values.size();
  for (auto [index, parameter] : llvm::enumerate(updated)) {
    parameter.updated.push_back(step.getUpdated()[index]);
    for (size_t i = 0; i < parameter.states.size(); ++i)
      parameter.updated.push_back(step.getUpdated()[next++]);
    graph.func.setArgAttr(cast<BlockArgument>(parameter.value).getArgNumber(),
                          "bufferization.writable", builder.getBoolAttr(true));
  }
}

void TrainingStep::update(Parameter &parameter) {
  addStates(parameter);
  createUpdate(parameter);
}

/// One after the other or all at once (those with a copy at full precision and
/// those without); every gradient lives to the end.
void TrainingStep::updateAll() {
  for (Parameter &parameter : parameters) {
    if (!parameter.gradient)
      continue;
    addStates(parameter);
    if (options.impl != OptimizerImpl::foreach)
      createUpdate(parameter);
  }
  for (bool withMaster : {false, true}) {
    if (options.impl != OptimizerImpl::foreach)
      break;
    SmallVector<Parameter, 0> group;
    SmallVector<unsigned> indices;
    for (auto [index, parameter] : llvm::enumerate(parameters))
      if (parameter.gradient && hasMaster(parameter) == withMaster) {
        group.push_back(parameter);
        indices.push_back(index);
      }
    if (!group.empty())
      createUpdate(group);
    for (auto [index, parameter] : llvm::zip(indices, group))
      parameters[index] = parameter;
  }
  SmallVector<Value> gradients;
  for (Parameter &parameter : parameters)
    if (parameter.gradient)
      gradients.push_back(parameter.gradient);
  if (!gradients.empty())
    ReleaseOp::create(builder, model->getLoc(), gradients);
}
