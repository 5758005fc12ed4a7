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

/// The moments, then the copy at full precision.
void TrainingStep::addStates(Parameter &parameter) {
  ShapedType type = getCarriedShape(parameter.value.getType());
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
  if (options.masterWeights)
    parameter.states.push_back(
        addArgument(RankedTensorType::get(shape, f32), Role::OptimizerState,
                    parameter.info->name + ".master", true));
  if (!stepNumber && readsStep(options.optimizer))
    stepNumber = addArgument(builder.getI64Type(), Role::Input, "step");
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
    values.push_back(parameter.value);
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
      options.decay, getTemporaries(), options.masterWeights);
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
  parameter.gradient = convertGradient(parameter);
  createUpdate(parameter);
}

/// One after the other or all at once; every gradient lives to the end.
void TrainingStep::updateAll() {
  SmallVector<Parameter, 0> reached;
  SmallVector<unsigned> indices;
  for (auto [index, parameter] : llvm::enumerate(parameters)) {
    if (!parameter.gradient)
      continue;
    parameter.gradient = convertGradient(parameter);
    addStates(parameter);
    if (options.impl != OptimizerImpl::foreach) {
      createUpdate(parameter);
      continue;
    }
    reached.push_back(parameter);
    indices.push_back(index);
  }
  if (!reached.empty()) {
    createUpdate(reached);
    for (auto [index, parameter] : llvm::zip(indices, reached))
      parameters[index] = parameter;
  }
  SmallVector<Value> gradients;
  for (Parameter &parameter : parameters)
    if (parameter.gradient)
      gradients.push_back(parameter.gradient);
  if (!gradients.empty())
    ReleaseOp::create(builder, model->getLoc(), gradients);
}
