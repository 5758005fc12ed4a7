//===- OpModel.cpp - What the analyses know of an op ----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asks the model of each dialect in turn; an op that none of them describes
// gets the conservative default.
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/OpModel.h"
#include "Models.h"
#include "es/Foreign/Types.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

using namespace mlir;
using namespace mlir::es;

bool mlir::es::isMemoryType(Type type) {
  return getForeignShapedType(type).has_value();
}

bool mlir::es::hasTypedMemory(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, linalg::LinalgDialect,
                         math::MathDialect, tensor::TensorDialect>(
      op->getDialect());
}

OpFacts mlir::es::getDefaultFacts(Operation *op) {
  OpFacts facts;
  facts.operands.reserve(op->getNumOperands());
  for (Value operand : op->getOperands())
    facts.operands.push_back(
        isMemoryType(operand.getType()) ? OperandUse::Read : OperandUse::None);
  facts.results.reserve(op->getNumResults());
  for (Value result : op->getResults())
    facts.results.push_back(
        {isMemoryType(result.getType()) ? ResultKind::New : ResultKind::None,
         0});
  return facts;
}

OpFacts mlir::es::getOpFacts(Operation *op) {
  if (std::optional<OpFacts> facts = getArithmeticFacts(op))
    return std::move(*facts);
  if (std::optional<OpFacts> facts = getControlFlowFacts(op))
    return std::move(*facts);
  if (std::optional<OpFacts> facts = getGradientFacts(op))
    return std::move(*facts);
  if (std::optional<OpFacts> facts = getTosaFacts(op))
    return std::move(*facts);
  if (std::optional<OpFacts> facts = getShardyFacts(op))
    return std::move(*facts);
  if (std::optional<OpFacts> facts = getStableHLOFacts(op))
    return std::move(*facts);
  if (std::optional<OpFacts> facts = getAtenFacts(op))
    return std::move(*facts);
  if (std::optional<OpFacts> facts = getOnnxFacts(op))
    return std::move(*facts);
  if (std::optional<OpFacts> facts = getUpstreamFacts(op))
    return std::move(*facts);
  OpFacts facts = getDefaultFacts(op);
  // A load from a global of a dialect that is not linked in.
  if (getLoadedGlobal(op) && op->getNumResults() == 1) {
    facts.opClass = OpClass::Generator;
    if (facts.results[0].kind == ResultKind::New)
      facts.results[0].kind = ResultKind::Constant;
    return facts;
  }
  facts.known = op->hasTrait<OpTrait::IsTerminator>();
  if (facts.known)
    facts.opClass = OpClass::Terminator;
  return facts;
}
