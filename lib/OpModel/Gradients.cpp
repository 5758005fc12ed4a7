//===- Gradients.cpp - Memory of gradients, losses and updates ------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include "es/Dialect/ES/IR/ES.h"
#include "es/OpModel/RoleFacts.h"

using namespace mlir;
using namespace mlir::es;

static bool haveSameShape(Type a, Type b) {
  ShapedType left = getCarriedShape(a), right = getCarriedShape(b);
  return left && right && left.hasRank() && right.hasRank() &&
         left.getShape() == right.getShape();
}

static OpClass getClass(VjpKind kind) {
  switch (kind) {
  case VjpKind::view:
  case VjpKind::movement:
    return OpClass::DataMovement;
  case VjpKind::elementwise:
    return OpClass::ElementwiseCostly;
  case VjpKind::rowwise:
  case VjpKind::reduction:
    return OpClass::Reduction;
  case VjpKind::contraction:
    return OpClass::Contraction;
  case VjpKind::opaque:
    return OpClass::Materializing;
  }
  llvm_unreachable("every kind has a class");
}

static OpFacts getVjpFacts(VjpOp op) {
  OpFacts facts = getDefaultFacts(op);
  facts.opClass = getClass(op.getKind());
  if (op.getKind() == VjpKind::view) {
    if (facts.results[0].kind == ResultKind::New)
      facts.results[0] = {ResultKind::View, unsigned(op.getSaved().size())};
    return facts;
  }
  if (op.getKind() != VjpKind::elementwise && op.getKind() != VjpKind::rowwise)
    return facts;
  for (auto [use, operand] : llvm::zip(facts.operands, op->getOperands()))
    if (use == OperandUse::Read &&
        haveSameShape(operand.getType(), op.getGradients()[0].getType()))
      use = OperandUse::ReadElementwise;
  return facts;
}

/// Rows, or elements, of one input after the other; attention reads keys and
/// values again for each row of queries.
static OpFacts getCompositeFacts(CompositeOp op) {
  OpFacts facts = getDefaultFacts(op);
  switch (op.getKind()) {
  case CompositeKind::attention:
    facts.opClass = OpClass::Contraction;
    return facts;
  case CompositeKind::gelu:
    facts.opClass = OpClass::ElementwiseCostly;
    break;
  case CompositeKind::relu:
    facts.opClass = OpClass::Elementwise;
    break;
  case CompositeKind::layer_norm:
  case CompositeKind::cross_entropy:
  case CompositeKind::log_softmax:
    facts.opClass = OpClass::Reduction;
    break;
  }
  // The log-probabilities are what may take over the logits.
  Type written = op.getKind() == CompositeKind::cross_entropy
                     ? op.getResult(1).getType()
                     : op.getResult(0).getType();
  for (auto [use, operand] : llvm::zip(facts.operands, op->getOperands()))
    if (use == OperandUse::Read && haveSameShape(operand.getType(), written))
      use = OperandUse::ReadElementwise;
  return facts;
}

/// log(softmax) is computed row by row over its operand.
static OpFacts getLossFacts(LossOp op) {
  OpFacts facts = getDefaultFacts(op);
  facts.opClass = OpClass::Reduction;
  if (op.getKind() == LossKind::xent && facts.operands[0] == OperandUse::Read)
    facts.operands[0] = OperandUse::ReadElementwise;
  return facts;
}

/// Copies of the parameter, or of all parameters, that the rule works in.
static OpFacts getOptimizerFacts(OptimizerStepOp op) {
  OpFacts facts = getDefaultFacts(op);
  facts.opClass = OpClass::Materializing;
  facts.alwaysInPlace = true;
  unsigned count = op.getParameters().size();
  unsigned firstState = count + op.getGradients().size();
  for (unsigned i = 0, e = op->getNumResults(); i < e; ++i) {
    unsigned operand = i < count ? i : firstState + (i - count);
    if (facts.results[i].kind != ResultKind::New)
      continue;
    facts.results[i] = {ResultKind::Destination, operand};
    facts.operands[operand] = OperandUse::ReadWrite;
  }
  for (Value parameter : op.getParameters()) {
    ShapedType type = getCarriedShape(parameter.getType());
    if (type && type.hasStaticShape() && type.getElementType().isIntOrFloat())
      facts.workspaceBytes +=
          op.getTemporaries() *
          llvm::divideCeil(
              type.getNumElements() * type.getElementTypeBitWidth(), 8);
  }
  return facts;
}

std::optional<OpFacts> mlir::es::getGradientFacts(Operation *op) {
  if (!isa_and_nonnull<ESDialect>(op->getDialect()))
    return std::nullopt;
  if (auto vjp = dyn_cast<VjpOp>(op))
    return getVjpFacts(vjp);
  if (auto loss = dyn_cast<LossOp>(op))
    return getLossFacts(loss);
  if (auto composite = dyn_cast<CompositeOp>(op))
    return getCompositeFacts(composite);
  if (auto step = dyn_cast<OptimizerStepOp>(op))
    return getOptimizerFacts(step);
  OpFacts facts = getDefaultFacts(op);
  if (isa<SplatOp>(op)) {
    facts.opClass = OpClass::Generator;
    if (facts.results[0].kind == ResultKind::New)
      facts.results[0].kind = ResultKind::Splat;
    return facts;
  }
  if (isa<ShardOp>(op)) {
    facts.opClass = OpClass::DataMovement;
    facts.results[0] = {ResultKind::View, 0};
    return facts;
  }
  if (isa<AllGatherOp, ReduceScatterOp>(op)) {
    facts.opClass = OpClass::Materializing;
    return facts;
  }
  if (auto sum = dyn_cast<AccumulateOp>(op)) {
    facts.opClass = OpClass::Elementwise;
    facts.alwaysInPlace = !sum.getApart();
    for (OperandUse &use : facts.operands)
      if (use == OperandUse::Read)
        use = OperandUse::ReadElementwise;
    return facts;
  }
  if (isa<ReleaseOp>(op)) {
    facts.opClass = OpClass::Materializing;
    return facts;
  }
  return std::nullopt;
}
