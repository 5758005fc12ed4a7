//===- StructuredDerivatives.cpp - Gradients of linalg ops ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured op is its scalar body, repeated. The gradient of an input reads
// those scalars that the derivatives of the body's ops read, each computed
// again from the inputs, or, where it is what the body yields, taken from the
// result.
//
//===----------------------------------------------------------------------===//

#include "DerivativeRules.h"
#include "es/OpModel/OpModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::es;

namespace {
/// What the gradient of one argument of the body reads.
class BodyGradient {
public:
  BodyGradient(linalg::LinalgOp op, BlockArgument argument)
      : op(op), block(*op.getBlock()) {
    depends.insert(argument);
  }
  /// Fails if some op of the body has no known derivative.
  LogicalResult run();

  bool flows = false;
  /// The derivative is 1: the cotangent itself.
  bool isIdentity = true;
  llvm::SmallSetVector<unsigned, 4> operands, results;

private:
  void visit(Operation *inner);
  void need(Value scalar);
  std::optional<unsigned> getYielded(Value scalar) const;
  bool isConstant(Value scalar) const;

  linalg::LinalgOp op;
  Block &block;
  llvm::SmallDenseSet<Value> depends;
  llvm::SmallDenseSet<Value> needed;
  bool isKnown = true;
};
} // namespace

std::optional<unsigned> BodyGradient::getYielded(Value scalar) const {
  Operation *yield = block.getTerminator();
  for (OpOperand &operand : yield->getOpOperands())
    if (operand.get() == scalar && op->getNumResults() > 0)
      return operand.getOperandNumber();
  return std::nullopt;
}

/// From outside of the body, or a number.
bool BodyGradient::isConstant(Value scalar) const {
  return scalar.getParentBlock() != &block ||
         matchPattern(scalar, m_Constant());
}

void BodyGradient::need(Value scalar) {
  SmallVector<Value> worklist = {scalar};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (isConstant(value) || !needed.insert(value).second)
      continue;
    if (std::optional<unsigned> index = getYielded(value)) {
      results.insert(*index);
    } else if (auto argument = dyn_cast<BlockArgument>(value)) {
      OpOperand *operand = op.getMatchingOpOperand(argument);
      if (isMemoryType(operand->get().getType()))
        operands.insert(operand->getOperandNumber());
    } else {
      llvm::append_range(worklist, value.getDefiningOp()->getOperands());
    }
  }
}

/// 1 / (1 + exp(-x)), whose derivative is a function of its result.
static bool isLogistic(Operation *op) {
  auto division = dyn_cast<arith::DivFOp>(op);
  if (!division || !matchPattern(division.getLhs(), m_OneFloat()))
    return false;
  auto sum = division.getRhs().getDefiningOp<arith::AddFOp>();
  return sum && llvm::any_of(sum->getOperands(), [](Value value) {
           auto exp = value.getDefiningOp<math::ExpOp>();
           return exp && exp.getOperand().getDefiningOp<arith::NegFOp>();
         });
}

void BodyGradient::visit(Operation *inner) {
  if (isLogistic(inner) && getYielded(inner->getResult(0))) {
    isIdentity = false;
    return need(inner->getResult(0));
  }
  std::optional<GradientRule> rule = findGradientRule(inner);
  if (!rule || *rule == GradientRule::Unknown) {
    isKnown = false;
    return;
  }
  auto dependsOn = [&](unsigned i) {
    return i < inner->getNumOperands() &&
           depends.contains(inner->getOperand(i));
  };
  isIdentity &= *rule == GradientRule::Linear ||
                (*rule == GradientRule::Subtract && !dependsOn(1));
  switch (*rule) {
  case GradientRule::Multiply:
    for (unsigned i = 0; i < 2; ++i)
      if (dependsOn(i))
        need(inner->getOperand(1 - i));
    break;
  case GradientRule::Divide:
    // The quotient of a number is a function of its result and that number.
    if (dependsOn(1) && isConstant(inner->getOperand(0)) &&
        getYielded(inner->getResult(0)))
      return need(inner->getResult(0));
    need(inner->getOperand(1));
    if (dependsOn(1))
      need(inner->getOperand(0));
    break;
  case GradientRule::FromResult:
    need(inner->getResult(0));
    break;
  case GradientRule::Select:
    need(inner->getOperand(0));
    break;
  case GradientRule::FromOperand:
  case GradientRule::FromOperands: {
    // A maximum with a number is told from its result.
    bool isExtreme = isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                         arith::MinNumFOp>(inner);
    bool isReduction = op.getNumLoops() != op.getNumParallelLoops();
    if (isExtreme && isReduction && getYielded(inner->getResult(0)))
      need(inner->getResult(0));
    else if (isExtreme && getYielded(inner->getResult(0)) &&
             (isConstant(inner->getOperand(0)) ||
              isConstant(inner->getOperand(1))))
      return need(inner->getResult(0));
    for (Value operand : inner->getOperands())
      need(operand);
    break;
  }
  default:
    break;
  }
}

LogicalResult BodyGradient::run() {
  for (Operation &inner : block.without_terminator()) {
    bool varies = llvm::any_of(inner.getOperands(), [&](Value operand) {
      return depends.contains(operand);
    });
    if (!varies || !llvm::any_of(inner.getResultTypes(), carriesGradient))
      continue;
    std::optional<GradientRule> rule = findGradientRule(&inner);
    if (rule && *rule == GradientRule::Cut)
      continue;
    depends.insert(inner.getResults().begin(), inner.getResults().end());
    visit(&inner);
  }
  for (Value yielded : block.getTerminator()->getOperands())
    flows |= depends.contains(yielded);
  // Only what the derivative of the yielded values needs counts; an op whose
  // result goes nowhere does not occur in real bodies.
  if (!flows) {
    operands.clear();
    results.clear();
  }
  return success(isKnown);
}

/// Reading a value that is summed up gains nothing from the sum.
static VjpKind getKind(linalg::LinalgOp op, OpOperand &operand,
                       const BodyGradient &body) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  bool isReduction = op.getNumLoops() != op.getNumParallelLoops();
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  Type type = operand.get().getType();
  bool sameType = op->getNumResults() > 0 && op->getResult(0).getType() == type;
  if (op.isDpsInit(&operand))
    return body.isIdentity && sameType ? VjpKind::view : VjpKind::elementwise;
  if (isReduction)
    return body.isIdentity ? VjpKind::movement : VjpKind::elementwise;
  if (!map.isPermutation())
    return VjpKind::reduction;
  if (map != result)
    return VjpKind::movement;
  return body.isIdentity && sameType ? VjpKind::view : VjpKind::elementwise;
}

/// Matrix products and convolutions: each factor reads the other one.
static DerivativeFacts getProductDerivative(linalg::LinalgOp op) {
  DerivativeFacts facts;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    OperandGradient &gradient = facts.operands.emplace_back();
    gradient.flows = carriesGradient(operand.get().getType());
    if (op.isDpsInit(&operand)) {
      gradient.kind = VjpKind::view;
      continue;
    }
    gradient.kind = VjpKind::contraction;
    for (OpOperand *other : op.getDpsInputOperands())
      if (other->getOperandNumber() != index)
        gradient.operands.push_back(other->getOperandNumber());
  }
  return facts;
}

/// The window of a pooling is a shape that nothing reads.
static std::optional<DerivativeFacts>
getPoolingDerivative(linalg::LinalgOp op) {
  StringRef name = op->getName().stripDialect();
  if (!name.starts_with("pooling_"))
    return std::nullopt;
  DerivativeFacts facts;
  bool isSum = name.contains("_sum");
  for (OpOperand &operand : op->getOpOperands()) {
    OperandGradient &gradient = facts.operands.emplace_back();
    unsigned index = operand.getOperandNumber();
    gradient.flows = index != 1 && carriesGradient(operand.get().getType());
    gradient.kind = op.isDpsInit(&operand) ? VjpKind::view
                    : isSum                ? VjpKind::movement
                                           : VjpKind::elementwise;
    if (!isSum && index == 0) {
      gradient.operands.push_back(0);
      gradient.results.push_back(0);
    }
  }
  return facts;
}

/// A pooling written out is a convolution too, with a window that only has a
/// shape.
static bool isProduct(linalg::LinalgOp op) {
  if (linalg::isaContractionOpInterface(op))
    return true;
  return linalg::isaConvolutionOpInterface(op) &&
         llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
           return op.getMatchingBlockArgument(operand).use_empty();
         });
}

std::optional<DerivativeFacts>
mlir::es::getStructuredDerivative(linalg::LinalgOp op) {
  if (isa<linalg::FillOp>(op.getOperation())) {
    DerivativeFacts facts;
    for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
      facts.operands.push_back(makeGradient(op, i, GradientRule::Cut));
    return facts;
  }
  if (auto facts = getPoolingDerivative(op))
    return facts;
  if (isProduct(op))
    return getProductDerivative(op);
  if (!op.getBlock() || op->getNumResults() == 0)
    return std::nullopt;
  DerivativeFacts facts;
  for (OpOperand &operand : op->getOpOperands()) {
    OperandGradient &gradient = facts.operands.emplace_back();
    if (!carriesGradient(operand.get().getType()))
      continue;
    BodyGradient body(op, op.getMatchingBlockArgument(&operand));
    if (failed(body.run()))
      return std::nullopt;
    gradient.flows = body.flows;
    gradient.kind = getKind(op, operand, body);
    gradient.isSpread = gradient.kind == VjpKind::movement && body.isIdentity &&
                        op.getNumLoops() != op.getNumParallelLoops();
    gradient.operands.assign(body.operands.begin(), body.operands.end());
    gradient.results.assign(body.results.begin(), body.results.end());
    llvm::sort(gradient.operands);
    llvm::sort(gradient.results);
    // An initial value that the reduction only adds to is not read.
    llvm::erase_if(gradient.operands, [&](unsigned index) {
      return op.isDpsInit(&op->getOpOperand(index)) && !op.isDpsInit(&operand);
    });
  }
  return facts;
}
