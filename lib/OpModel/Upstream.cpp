//===- Upstream.cpp - Ops that answer through interfaces ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linalg through LinalgOp, elementwise arith and math through their traits,
// views through ViewLikeOpInterface, everything else on tensors through
// BufferizableOpInterface.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include "es/Dialect/ES/IR/ES.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::es;

/// A transcendental function or a division, the ops that are not recomputed
/// for free.
static bool isCostlyScalarOp(Operation *op) {
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp,
          arith::RemSIOp, arith::RemUIOp>(op))
    return true;
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
         !isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp,
              math::FloorOp, math::CeilOp>(op);
}

//===----------------------------------------------------------------------===//
// Linalg
//===----------------------------------------------------------------------===//

/// True if the body only forwards an input or a constant: a copy, transpose or
/// broadcast.
static bool bodyMovesData(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  return body && body->getOperations().size() == 1 && op.getNumDpsInputs() > 0;
}

static OpClass classifyLinalg(linalg::LinalgOp op) {
  Operation *raw = op.getOperation();
  if (isa<linalg::FillOp>(raw))
    return OpClass::Generator;
  if (linalg::isaContractionOpInterface(op) ||
      linalg::isaConvolutionOpInterface(op))
    return OpClass::Contraction;
  if (op.getNumLoops() != op.getNumParallelLoops())
    return OpClass::Reduction;
  if (bodyMovesData(op))
    return OpClass::DataMovement;
  if (op.getNumDpsInputs() == 0 && op.getNumDpsInits() == 1 &&
      !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return OpClass::Generator;
  for (Operation &inner : *op.getBlock())
    if (isCostlyScalarOp(&inner))
      return OpClass::ElementwiseCostly;
  return OpClass::Elementwise;
}

/// The op visits each element once, and this input is indexed as every output
/// is, so that reading precedes writing element by element.
static bool readsElementwise(linalg::LinalgOp op, OpOperand *input) {
  if (op.getNumLoops() != op.getNumParallelLoops())
    return false;
  AffineMap map = op.getMatchingIndexingMap(input);
  if (!map.isPermutation())
    return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.getMatchingIndexingMap(&init) != map)
      return false;
  return true;
}

static OpFacts getLinalgFacts(linalg::LinalgOp op) {
  OpFacts facts = getDefaultFacts(op);
  facts.opClass = classifyLinalg(op);
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isMemoryType(input->get().getType()))
      continue;
    // The window of a pooling is a shape, but has to be there.
    if (readsElementwise(op, input))
      facts.operands[input->getOperandNumber()] = OperandUse::ReadElementwise;
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    if (!isMemoryType(init.get().getType()))
      continue;
    facts.operands[init.getOperandNumber()] =
        op.payloadUsesValueFromOperand(&init) ? OperandUse::ReadWrite
                                              : OperandUse::Write;
    if (OpResult result =
            op->getNumResults() ? op.getTiedOpResult(&init) : OpResult())
      facts.results[result.getResultNumber()] = {ResultKind::Destination,
                                                 init.getOperandNumber()};
  }
  return facts;
}

/// Softmax writes exp(x - max) over its input if it may, and keeps one row of
/// maxima, later of sums, beside it.
static OpFacts getSoftmaxFacts(linalg::SoftmaxOp op) {
  OpFacts facts = getDefaultFacts(op);
  facts.opClass = OpClass::Reduction;
  facts.operands[0] = OperandUse::ReadElementwise;
  facts.operands[1] = OperandUse::Write;
  if (op->getNumResults())
    facts.results[0] = {ResultKind::Destination, 1};
  ShapedType type = op.getInputOperandType();
  uint64_t rows = 1;
  for (auto [index, size] : llvm::enumerate(type.getShape()))
    if (index != op.getDimension() && !ShapedType::isDynamic(size))
      rows *= size;
  if (type.getElementType().isIntOrFloat())
    facts.workspaceBytes =
        llvm::divideCeil(rows * type.getElementTypeBitWidth(), 8);
  return facts;
}

//===----------------------------------------------------------------------===//
// Elementwise ops on whole tensors
//===----------------------------------------------------------------------===//

static OpFacts getElementwiseFacts(Operation *op) {
  OpFacts facts = getDefaultFacts(op);
  facts.opClass =
      isCostlyScalarOp(op) ? OpClass::ElementwiseCostly : OpClass::Elementwise;
  for (OperandUse &use : facts.operands)
    if (use == OperandUse::Read)
      use = OperandUse::ReadElementwise;
  return facts;
}

std::optional<OpFacts> mlir::es::getArithmeticFacts(Operation *op) {
  if (op->getNumResults() == 0 ||
      !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          op->getDialect()) ||
      !isMemoryType(op->getResult(0).getType()) ||
      op->hasTrait<OpTrait::ConstantLike>() ||
      !OpTrait::hasElementwiseMappableTraits(op))
    return std::nullopt;
  return getElementwiseFacts(op);
}

//===----------------------------------------------------------------------===//
// Constants and globals
//===----------------------------------------------------------------------===//

static std::optional<OpFacts> getConstantFacts(Operation *op) {
  if (isa<memref::GetGlobalOp, ml_program::GlobalLoadOp,
          ml_program::GlobalLoadConstOp>(op)) {
    OpFacts facts = getDefaultFacts(op);
    for (ResultFact &result : facts.results)
      if (result.kind == ResultKind::New)
        result.kind = ResultKind::Constant;
    facts.opClass = OpClass::Generator;
    return facts;
  }
  Attribute value;
  if (!op->hasTrait<OpTrait::ConstantLike>() || op->getNumResults() != 1)
    return std::nullopt;
  OpFacts facts = getDefaultFacts(op);
  facts.opClass = OpClass::Generator;
  if (facts.results[0].kind == ResultKind::None)
    return facts;
  // The element values of a resource are never touched: the type is enough.
  value = op->getAttr("value");
  if (!value)
    value = op->getAttr("values");
  if (!value)
    matchPattern(op, m_Constant(&value));
  auto splat = dyn_cast_if_present<SplatElementsAttr>(value);
  facts.results[0].kind = splat ? ResultKind::Splat : ResultKind::Constant;
  return facts;
}

//===----------------------------------------------------------------------===//
// Everything on tensors that can be bufferized
//===----------------------------------------------------------------------===//

static OpClass classifyTensorOp(Operation *op) {
  if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::PadOp,
          tensor::ConcatOp, tensor::SplatOp, tensor::CastOp,
          tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp>(
          op))
    return OpClass::DataMovement;
  return OpClass::Materializing;
}

static OpFacts getBufferizableFacts(bufferization::BufferizableOpInterface op) {
  static const bufferization::BufferizationOptions options;
  bufferization::AnalysisState state(options);
  OpFacts facts = getDefaultFacts(op);
  facts.opClass = classifyTensorOp(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<TensorType>(operand.get().getType()))
      continue;
    bool reads = op.bufferizesToMemoryRead(operand, state);
    bool writes = op.bufferizesToMemoryWrite(operand, state);
    bufferization::AliasingValueList aliases =
        op.getAliasingValues(operand, state);
    unsigned index = operand.getOperandNumber();
    facts.operands[index] =
        writes ? (reads ? OperandUse::ReadWrite : OperandUse::Write)
               : (reads ? OperandUse::Read : OperandUse::None);
    for (const bufferization::AliasingValue &alias : aliases) {
      auto result = dyn_cast<OpResult>(alias.value);
      if (!result || result.getOwner() != op.getOperation())
        continue;
      facts.results[result.getResultNumber()] = {
          writes ? ResultKind::Destination : ResultKind::View, index};
      // A view reads nothing itself, but needs the memory to be there.
      if (!writes)
        facts.operands[index] = OperandUse::Read;
    }
  }
  return facts;
}

//===----------------------------------------------------------------------===//
// Views and allocations
//===----------------------------------------------------------------------===//

static OpFacts getViewFacts(Operation *op, unsigned source) {
  OpFacts facts = getDefaultFacts(op);
  facts.opClass = OpClass::DataMovement;
  for (ResultFact &result : facts.results)
    if (result.kind == ResultKind::New)
      result = {ResultKind::View, source};
  return facts;
}

static OpFacts getUndefinedFacts(Operation *op) {
  OpFacts facts = getDefaultFacts(op);
  facts.opClass = OpClass::Generator;
  for (ResultFact &result : facts.results)
    if (result.kind == ResultKind::New)
      result.kind = ResultKind::Undefined;
  return facts;
}

/// Writes through memrefs have no result; every other op on memrefs reads.
static OpFacts getMemRefFacts(Operation *op) {
  OpFacts facts = getDefaultFacts(op);
  facts.opClass = OpClass::Materializing;
  return facts;
}

std::optional<OpFacts> mlir::es::getUpstreamFacts(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return getLinalgFacts(linalgOp);
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return getSoftmaxFacts(softmax);
  if (std::optional<OpFacts> facts = getConstantFacts(op))
    return facts;
  if (op->getNumResults() && isMemoryType(op->getResult(0).getType()) &&
      OpTrait::hasElementwiseMappableTraits(op))
    return getElementwiseFacts(op);
  if (isa<ParamOp>(op) ||
      (isa<UnrealizedConversionCastOp>(op) && op->getNumOperands() == 1))
    return getViewFacts(op, 0);
  if (isa<tensor::EmptyOp>(op))
    return getUndefinedFacts(op);
  if (auto alloc = dyn_cast<bufferization::AllocTensorOp>(op)) {
    if (!alloc.getCopy())
      return getUndefinedFacts(op);
    OpFacts facts = getDefaultFacts(op);
    facts.opClass = OpClass::DataMovement;
    return facts;
  }
  if (isa<tensor::DimOp, tensor::RankOp, memref::DimOp, memref::RankOp>(op)) {
    OpFacts facts = getDefaultFacts(op);
    facts.opClass = OpClass::Generator;
    llvm::fill(facts.operands, OperandUse::None);
    return facts;
  }
  if (isa<bufferization::ToTensorOp, bufferization::ToBufferOp>(op))
    return getViewFacts(op, 0);
  if (isa<tensor::SplatOp>(op)) {
    OpFacts facts = getDefaultFacts(op);
    facts.opClass = OpClass::Generator;
    return facts;
  }
  if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get() == view.getViewSource())
        return getViewFacts(op, operand.getOperandNumber());
  }
  if (auto bufferizable = dyn_cast<bufferization::BufferizableOpInterface>(op);
      bufferizable &&
      (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) ||
       llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>)))
    return getBufferizableFacts(bufferizable);
  if (isa_and_nonnull<memref::MemRefDialect,
                      bufferization::BufferizationDialect,
                      tensor::TensorDialect, arith::ArithDialect>(
          op->getDialect()))
    return getMemRefFacts(op);
  bool touchesMemory = llvm::any_of(op->getOperandTypes(), isMemoryType) ||
                       llvm::any_of(op->getResultTypes(), isMemoryType);
  if (!touchesMemory)
    return getMemRefFacts(op);
  // Registered ops on memrefs only (affine.load, vector.transfer_read, ...)
  // allocate nothing.
  if (op->isRegistered() && op->getNumRegions() == 0 &&
      llvm::none_of(op->getResultTypes(), isMemoryType) &&
      llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TensorType>))
    return getMemRefFacts(op);
  return std::nullopt;
}
