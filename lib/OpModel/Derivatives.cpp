//===- Derivatives.cpp - What the gradient of an op reads -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structured ops are read off their scalar bodies, other ops found by name;
// what moves elements about, multiplies matrices or is a view needs no entry.
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/Derivatives.h"
#include "DerivativeRules.h"
#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/OpDefinition.h"

using namespace mlir;
using namespace mlir::es;

bool mlir::es::carriesGradient(Type type) {
  if (isa<FloatType, ComplexType>(type))
    return true;
  ShapedType shaped = getCarriedShape(type);
  return shaped && isa<FloatType, ComplexType>(shaped.getElementType());
}

bool mlir::es::isCheaplyRepeated(Operation *op) {
  // Asked for every operand of what is computed again: the facts come last.
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      op->getNumOperands() > 1)
    return false;
  OpFacts facts = getOpFacts(op);
  if (facts.opClass == OpClass::Generator)
    return facts.results[0].kind != ResultKind::Constant &&
           op->getNumOperands() == 0;
  if (facts.opClass != OpClass::DataMovement || op->getNumOperands() != 1 ||
      facts.results[0].kind != ResultKind::New)
    return false;
  ShapedType from = getCarriedShape(op->getOperand(0).getType());
  ShapedType to = getCarriedShape(op->getResult(0).getType());
  return from && to && from.hasStaticShape() && to.hasStaticShape() &&
         from.getNumElements() < to.getNumElements();
}

//===----------------------------------------------------------------------===//
// Gradients by rule
//===----------------------------------------------------------------------===//

bool mlir::es::hasResultShape(Operation *op, unsigned operand) {
  if (op->getNumResults() == 0)
    return false;
  Type from = op->getOperand(operand).getType();
  Type to = op->getResult(0).getType();
  ShapedType fromShape = getCarriedShape(from), toShape = getCarriedShape(to);
  if (!fromShape || !toShape)
    return !fromShape && !toShape;
  return fromShape.hasRank() == toShape.hasRank() &&
         (!fromShape.hasRank() || fromShape.getShape() == toShape.getShape());
}

/// Elementwise, or summed over the dimensions that the operand lacks.
static VjpKind getElementwiseKind(Operation *op, unsigned operand) {
  return hasResultShape(op, operand) ? VjpKind::elementwise
                                     : VjpKind::reduction;
}

/// The cotangent as it is, where it has the operand's type.
static OperandGradient makeLinear(Operation *op, unsigned operand,
                                  bool negated) {
  OperandGradient gradient;
  gradient.flows = true;
  gradient.kind = getElementwiseKind(op, operand);
  if (!negated &&
      op->getOperand(operand).getType() == op->getResult(0).getType())
    gradient.kind = VjpKind::view;
  return gradient;
}

static void readFloats(Operation *op, OperandGradient &gradient) {
  for (OpOperand &operand : op->getOpOperands())
    if (isMemoryType(operand.get().getType()))
      gradient.operands.push_back(operand.getOperandNumber());
}

/// Where elements go is said by integers: indices, sizes, predicates.
static void readIntegers(Operation *op, OperandGradient &gradient) {
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = operand.get().getType();
    bool isInteger = getCarriedShape(type) || type.isIntOrIndex();
    if (isInteger && !carriesGradient(type))
      gradient.operands.push_back(operand.getOperandNumber());
  }
}

OperandGradient mlir::es::makeGradient(Operation *op, unsigned operand,
                                       GradientRule rule) {
  OperandGradient gradient;
  gradient.flows = carriesGradient(op->getOperand(operand).getType());
  if (!gradient.flows)
    return gradient;
  gradient.kind = getElementwiseKind(op, operand);
  switch (rule) {
  case GradientRule::Cut:
    gradient.flows = false;
    break;
  case GradientRule::Linear:
    return makeLinear(op, operand, /*negated=*/false);
  case GradientRule::Subtract:
    return makeLinear(op, operand, /*negated=*/operand == 1);
  case GradientRule::Negate:
  case GradientRule::Convert:
    break;
  case GradientRule::Scale:
    // The factors are numbers, not tensors: reading them keeps nothing.
    break;
  case GradientRule::Multiply:
    for (unsigned i = 0, e = std::min(2u, op->getNumOperands()); i < e; ++i)
      if (i != operand && isMemoryType(op->getOperand(i).getType()))
        gradient.operands.push_back(i);
    break;
  case GradientRule::Divide:
    if (op->getNumOperands() < 2)
      break;
    if (operand == 1 && isMemoryType(op->getOperand(0).getType()))
      gradient.operands.push_back(0);
    if (isMemoryType(op->getOperand(1).getType()))
      gradient.operands.push_back(1);
    break;
  case GradientRule::FromResult:
    gradient.results.push_back(0);
    break;
  case GradientRule::FromOperand:
    gradient.operands.push_back(operand);
    break;
  case GradientRule::FromOperands:
    readFloats(op, gradient);
    break;
  case GradientRule::Select:
    readIntegers(op, gradient);
    break;
  case GradientRule::RowsFromResult:
    gradient.kind = VjpKind::rowwise;
    gradient.results.push_back(0);
    break;
  case GradientRule::RowsFromOperands:
    gradient.kind = VjpKind::rowwise;
    readFloats(op, gradient);
    // Statistics that the forward pass returns beside its result.
    for (unsigned i = 1, e = op->getNumResults(); i < e; ++i)
      gradient.results.push_back(i);
    break;
  case GradientRule::View:
    gradient.kind = VjpKind::view;
    break;
  case GradientRule::Move:
    gradient.kind = VjpKind::movement;
    readIntegers(op, gradient);
    break;
  case GradientRule::Sum:
    gradient.kind = VjpKind::reduction;
    break;
  case GradientRule::Spread:
    gradient.kind = VjpKind::movement;
    gradient.isSpread = true;
    break;
  case GradientRule::Average:
    gradient.kind = VjpKind::movement;
    break;
  case GradientRule::Extreme:
    gradient.kind = VjpKind::elementwise;
    gradient.operands.push_back(operand);
    gradient.results.push_back(0);
    break;
  case GradientRule::ExtremeByIndex:
    // The second result says where the first was found.
    gradient.kind = VjpKind::movement;
    if (op->getNumResults() > 1)
      gradient.results.push_back(1);
    break;
  case GradientRule::Product:
    gradient.kind = VjpKind::contraction;
    for (unsigned i = 0; i < 2; ++i)
      if (i != operand && i < op->getNumOperands())
        gradient.operands.push_back(i);
    break;
  case GradientRule::Attention:
  case GradientRule::Unknown:
    gradient.kind = rule == GradientRule::Attention ? VjpKind::contraction
                                                    : VjpKind::opaque;
    readFloats(op, gradient);
    for (OpResult result : op->getResults())
      if (isMemoryType(result.getType()))
        gradient.results.push_back(result.getResultNumber());
    break;
  }
  return gradient;
}

static DerivativeFacts applyRule(Operation *op, GradientRule rule) {
  DerivativeFacts facts;
  facts.known = rule != GradientRule::Unknown;
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
    facts.operands.push_back(makeGradient(op, i, rule));
  return facts;
}

//===----------------------------------------------------------------------===//
// What needs no entry
//===----------------------------------------------------------------------===//

static bool hasSameElements(Operation *op) {
  ShapedType from = getCarriedShape(op->getOperand(0).getType());
  ShapedType to = getCarriedShape(op->getResult(0).getType());
  return from && to && from.hasStaticShape() && to.hasStaticShape() &&
         from.getNumElements() == to.getNumElements() &&
         from.getElementType() == to.getElementType();
}

/// Views, movement and products follow from what the memory model knows.
static GradientRule getRuleOfClass(Operation *op, const OpFacts &memory) {
  if (!memory.known)
    return GradientRule::Unknown;
  bool isView = op->getNumResults() > 0 && op->getNumOperands() > 0 &&
                memory.results[0].kind == ResultKind::View;
  if (isView && op->getNumResults() == 1)
    return hasSameElements(op) ? GradientRule::View : GradientRule::Move;
  if (isView)
    return GradientRule::Linear;
  switch (memory.opClass) {
  case OpClass::DataMovement: {
    ShapedType from = getCarriedShape(op->getOperand(0).getType());
    ShapedType to = getCarriedShape(op->getResult(0).getType());
    bool repeats = op->getNumOperands() == 1 && from && to &&
                   from.hasStaticShape() && to.hasStaticShape() &&
                   from.getNumElements() < to.getNumElements();
    return repeats ? GradientRule::Sum : GradientRule::Move;
  }
  case OpClass::Contraction:
    return GradientRule::Product;
  case OpClass::Generator:
    return GradientRule::Cut;
  default:
    return GradientRule::Unknown;
  }
}

/// Operands of a product beside its two factors: a bias, an initial value.
static void fixProduct(Operation *op, DerivativeFacts &facts) {
  RoleFacts roles = getRoleFacts(op);
  unsigned lhs = 0, rhs = 1;
  if (roles.use == RoleUse::Contraction || roles.use == RoleUse::Convolution) {
    lhs = roles.data;
    rhs = roles.weight;
  }
  for (auto [i, gradient] : llvm::enumerate(facts.operands)) {
    if (!gradient.flows)
      continue;
    if (i == lhs || i == rhs) {
      gradient.operands.assign({i == lhs ? rhs : lhs});
      continue;
    }
    gradient = makeGradient(op, i, GradientRule::Linear);
  }
}

/// The gradient of a loss: of cross entropy, the probabilities less the labels.
static DerivativeFacts getLossDerivative(LossOp op) {
  DerivativeFacts facts;
  for (OpOperand &operand : op->getOpOperands()) {
    OperandGradient &gradient = facts.operands.emplace_back();
    gradient.flows = carriesGradient(operand.get().getType());
    gradient.kind = VjpKind::elementwise;
    switch (op.getKind()) {
    case LossKind::sum:
      gradient.kind = VjpKind::movement;
      gradient.isSpread = true;
      break;
    case LossKind::mse:
      gradient.operands.assign({0, 1});
      break;
    case LossKind::xent:
      gradient.kind = VjpKind::rowwise;
      gradient.operands.push_back(1);
      gradient.results.push_back(1);
      break;
    }
  }
  return facts;
}

/// What the kernel of the gradient reads of that of the forward pass.
static DerivativeFacts getCompositeDerivative(CompositeOp op) {
  DerivativeFacts facts;
  unsigned inputs = op->getNumOperands();
  for (OpOperand &operand : op->getOpOperands()) {
    OperandGradient &gradient = facts.operands.emplace_back();
    gradient.flows = carriesGradient(operand.get().getType());
    unsigned index = operand.getOperandNumber();
    switch (op.getKind()) {
    case CompositeKind::attention:
      // The scores are computed again, row by row, for all gradients at once.
      gradient.kind = VjpKind::contraction;
      for (unsigned i = 0; i < inputs; ++i)
        if (isMemoryType(op->getOperand(i).getType()))
          gradient.operands.push_back(i);
      gradient.results.assign({0, 1});
      facts.isJoint = true;
      break;
    case CompositeKind::layer_norm:
      gradient.kind = index == 0 ? VjpKind::rowwise : VjpKind::reduction;
      if (index == 2)
        break; // the offset: the cotangent is summed
      gradient.operands.push_back(0);
      if (index == 0 && inputs > 1)
        gradient.operands.push_back(1);
      gradient.results.assign({1, 2});
      break;
    case CompositeKind::gelu:
      gradient.kind = VjpKind::elementwise;
      gradient.operands.push_back(0);
      break;
    case CompositeKind::cross_entropy:
      gradient.kind = VjpKind::rowwise;
      gradient.flows &= index == 0;
      for (unsigned i = 1; i < inputs; ++i)
        if (isMemoryType(op->getOperand(i).getType()))
          gradient.operands.push_back(i);
      gradient.results.push_back(1);
      break;
    case CompositeKind::log_softmax:
      gradient.kind = VjpKind::rowwise;
      gradient.results.push_back(0);
      break;
    case CompositeKind::relu:
      gradient.kind = VjpKind::elementwise;
      gradient.results.push_back(1);
      break;
    }
  }
  return facts;
}

DerivativeFacts mlir::es::getDerivativeFacts(Operation *op) {
  if (isa<AllGatherOp>(op))
    return applyRule(op, GradientRule::Move);
  if (auto loss = dyn_cast<LossOp>(op))
    return getLossDerivative(loss);
  if (auto composite = dyn_cast<CompositeOp>(op))
    return getCompositeDerivative(composite);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    if (std::optional<DerivativeFacts> facts =
            getStructuredDerivative(linalgOp))
      return *facts;
  std::optional<GradientRule> rule = findGradientRule(op);
  if (!rule)
    rule = getRuleOfClass(op, getOpFacts(op));
  // Text may say anything of an op that is not linked in.
  if (*rule == GradientRule::Product && op->getNumOperands() < 2)
    rule = GradientRule::Unknown;
  DerivativeFacts facts = applyRule(op, *rule);
  if (*rule == GradientRule::Product)
    fixProduct(op, facts);
  refineNamedDerivative(op, facts);
  return facts;
}
