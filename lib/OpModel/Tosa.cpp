//===- Tosa.cpp - The TOSA dialect ----------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TOSA ops work on values and say nothing of buffers; these facts follow how
// they lower to linalg and tensor.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::es;

static bool isTosaView(Operation *op) {
  return isa<tosa::ReshapeOp, tosa::IdentityOp, tosa::SliceOp>(op);
}

static bool isTosaContraction(Operation *op) {
  return isa<tosa::MatMulOp, tosa::Conv2DOp, tosa::Conv3DOp,
             tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp>(op);
}

static bool isTosaReduction(Operation *op) {
  return isa<tosa::ReduceAllOp, tosa::ReduceAnyOp, tosa::ReduceMaxOp,
             tosa::ReduceMinOp, tosa::ReduceProductOp, tosa::ReduceSumOp,
             tosa::ArgMaxOp, tosa::AvgPool2dOp, tosa::MaxPool2dOp>(op);
}

static bool isTosaCostly(Operation *op) {
  return isa<tosa::ExpOp, tosa::LogOp, tosa::TanhOp, tosa::SigmoidOp,
             tosa::ErfOp, tosa::PowOp, tosa::RsqrtOp, tosa::ReciprocalOp,
             tosa::SinOp, tosa::CosOp, tosa::IntDivOp>(op);
}

static bool isTosaDataMovement(Operation *op) {
  return isa<tosa::TransposeOp, tosa::ConcatOp, tosa::PadOp, tosa::TileOp,
             tosa::ReverseOp>(op);
}

/// Elementwise in TOSA's sense, and the ops that also map element to element.
static bool isTosaElementwise(Operation *op) {
  return op->hasTrait<OpTrait::tosa::TosaElementwiseOperator>() ||
         isa<tosa::CastOp, tosa::RescaleOp, tosa::ClampOp, tosa::SelectOp,
             tosa::TableOp, tosa::MulOp, tosa::NegateOp>(op);
}

/// An operand of the result's own shape is read element by element; one that
/// is broadcast is read many times.
static void markElementwiseOperands(Operation *op, OpFacts &facts) {
  auto result = dyn_cast<ShapedType>(op->getResult(0).getType());
  for (auto [use, operand] : llvm::zip(facts.operands, op->getOperands())) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    if (use == OperandUse::Read && type && result && type.hasRank() &&
        result.hasRank() && type.getShape() == result.getShape())
      use = OperandUse::ReadElementwise;
  }
}

std::optional<OpFacts> mlir::es::getTosaFacts(Operation *op) {
  if (!isa_and_nonnull<tosa::TosaDialect>(op->getDialect()) ||
      op->getNumResults() == 0 || op->hasTrait<OpTrait::ConstantLike>())
    return std::nullopt;
  OpFacts facts = getDefaultFacts(op);
  if (isTosaView(op)) {
    facts.results[0] = {ResultKind::View, 0};
    facts.opClass = OpClass::DataMovement;
  } else if (isTosaContraction(op)) {
    facts.opClass = OpClass::Contraction;
  } else if (isTosaReduction(op)) {
    facts.opClass = OpClass::Reduction;
  } else if (isTosaElementwise(op)) {
    facts.opClass =
        isTosaCostly(op) ? OpClass::ElementwiseCostly : OpClass::Elementwise;
    markElementwiseOperands(op, facts);
  } else if (isTosaDataMovement(op)) {
    facts.opClass = OpClass::DataMovement;
  } else {
    facts.opClass = OpClass::Materializing;
  }
  return facts;
}
