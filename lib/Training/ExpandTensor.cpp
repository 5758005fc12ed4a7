//===- ExpandTensor.cpp - Gradients of tensor ops -------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What was cut out goes back among zeros, what was put in is cut out.
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::es;

namespace {
/// The op as it was, on stand-ins for its operands: saved values where there
/// are some, undefined ones elsewhere. Erased in the end.
class Original {
public:
  Original(OpBuilder &builder, VjpOp vjp) {
    OperationState state(vjp.getLoc(), vjp.getOf());
    FunctionType type = vjp.getOriginalFunctionType();
    for (unsigned i = 0, e = type.getNumInputs(); i < e; ++i) {
      Value value = vjp.getSavedOperand(i);
      if (!value) {
        standIns.push_back(SplatOp::create(builder, vjp.getLoc(),
                                           type.getInput(i),
                                           builder.getF64FloatAttr(0)));
        value = standIns.back()->getResult(0);
      }
      state.addOperands(value);
    }
    state.addTypes(type.getResults());
    if (DictionaryAttr attrs = vjp.getOriginalAttrsAttr())
      state.addAttributes(attrs.getValue());
    op = builder.create(state);
  }
  ~Original() {
    op->erase();
    for (Operation *standIn : standIns)
      standIn->erase();
  }
  Operation *op;

private:
  SmallVector<Operation *> standIns;
};
} // namespace

static Value reshapeTo(OpBuilder &builder, Location loc, Value value,
                       RankedTensorType type,
                       ArrayRef<ReassociationIndices> reassociation) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from.getRank() > type.getRank())
    return tensor::CollapseShapeOp::create(builder, loc, type, value,
                                           reassociation);
  return tensor::ExpandShapeOp::create(builder, loc, type, value,
                                       reassociation);
}

/// Where each operand of a concatenation begins.
static Value cutFromConcat(OpBuilder &builder, tensor::ConcatOp op,
                           unsigned index, Value cotangent) {
  auto type = cast<RankedTensorType>(op.getOperand(index).getType());
  int64_t dim = op.getDim(), offset = 0;
  for (unsigned i = 0; i < index; ++i)
    offset +=
        cast<RankedTensorType>(op.getOperand(i).getType()).getDimSize(dim);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(builder.getIndexAttr(size));
  offsets[dim] = builder.getIndexAttr(offset);
  return tensor::ExtractSliceOp::create(builder, op.getLoc(), type, cotangent,
                                        offsets, sizes, strides);
}

static Value expandInsertSlice(OpBuilder &builder, tensor::InsertSliceOp op,
                               unsigned index, Value cotangent) {
  Location loc = op.getLoc();
  if (index == 0)
    return tensor::ExtractSliceOp::create(
        builder, loc, op.getSourceType(), cotangent, op.getMixedOffsets(),
        op.getMixedSizes(), op.getMixedStrides());
  Value zeros = createZeros(builder, loc, op.getSourceType());
  return tensor::InsertSliceOp::create(builder, loc, zeros, cotangent,
                                       op.getMixedOffsets(), op.getMixedSizes(),
                                       op.getMixedStrides());
}

static Value expandExtract(OpBuilder &builder, tensor::ExtractOp op,
                           Value cotangent) {
  Value zeros = createZeros(builder, op.getLoc(),
                            cast<RankedTensorType>(op.getTensor().getType()));
  return tensor::InsertOp::create(builder, op.getLoc(), cotangent, zeros,
                                  op.getIndices());
}

/// The sum of all elements of the cotangent, as a number.
static Value sumAll(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  AffineMap none = AffineMap::get(type.getRank(), 0, builder.getContext());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::reduction);
  Value zeros = createZeros(builder, loc,
                            RankedTensorType::get({}, type.getElementType()));
  Value sum =
      linalg::GenericOp::create(
          builder, loc, zeros.getType(), value, zeros,
          ArrayRef<AffineMap>{identity, none}, iterators,
          [&](OpBuilder &b, Location, ValueRange args) {
            linalg::YieldOp::create(
                b, loc,
                arith::AddFOp::create(b, loc, args[0], args[1]).getResult());
          })
          .getResult(0);
  return tensor::ExtractOp::create(builder, loc, sum, ValueRange());
}

std::optional<FailureOr<Value>>
mlir::es::expandTensor(OpBuilder &builder, VjpOp vjp, unsigned index) {
  if (!vjp.getOf().starts_with("tensor."))
    return std::nullopt;
  Location loc = vjp.getLoc();
  Value cotangent = vjp.getCotangent(0);
  Type type = vjp.getOriginalFunctionType().getInput(index);
  if (vjp.getOf() == "tensor.splat")
    return FailureOr<Value>(sumAll(builder, loc, cotangent));
  if (!vjp.getOriginal().empty()) {
    auto pad = dyn_cast<tensor::PadOp>(&vjp.getOriginal()[0].front().front());
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!pad || !tensor || !tensor.hasStaticShape() || !pad.getLow().empty())
      return FailureOr<Value>(vjp.emitError()
                              << "has no expansion: '" << vjp.getOf() << "'");
    SmallVector<OpFoldResult> sizes,
        strides(tensor.getRank(), builder.getIndexAttr(1));
    for (int64_t size : tensor.getShape())
      sizes.push_back(builder.getIndexAttr(size));
    return FailureOr<Value>(
        tensor::ExtractSliceOp::create(builder, loc, tensor, cotangent,
                                       pad.getMixedLowPad(), sizes, strides)
            .getResult());
  }
  Original original(builder, vjp);
  Operation *op = original.op;
  if (isa<tensor::CastOp>(op))
    return FailureOr<Value>(
        tensor::CastOp::create(builder, loc, type, cotangent).getResult());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return FailureOr<Value>(reshapeTo(builder, loc, cotangent,
                                      cast<RankedTensorType>(type),
                                      expand.getReassociationIndices()));
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return FailureOr<Value>(reshapeTo(builder, loc, cotangent,
                                      cast<RankedTensorType>(type),
                                      collapse.getReassociationIndices()));
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    Value zeros = createZeros(builder, loc, cast<RankedTensorType>(type));
    return FailureOr<Value>(tensor::InsertSliceOp::create(
                                builder, loc, cotangent, zeros,
                                slice.getMixedOffsets(), slice.getMixedSizes(),
                                slice.getMixedStrides())
                                .getResult());
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return FailureOr<Value>(
        expandInsertSlice(builder, insert, index, cotangent));
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return FailureOr<Value>(cutFromConcat(builder, concat, index, cotangent));
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return FailureOr<Value>(expandExtract(builder, extract, cotangent));
  return FailureOr<Value>(vjp.emitError()
                          << "has no expansion: '" << vjp.getOf() << "'");
}

bool mlir::es::isSliceGradient(Value value) {
  auto vjp = value.getDefiningOp<VjpOp>();
  return vjp && vjp->hasOneUse() &&
         vjp.getOf() == tensor::ExtractSliceOp::getOperationName() &&
         vjp.getOriginal().empty();
}

Value mlir::es::addToSlice(OpBuilder &builder, Value sum, VjpOp vjp) {
  Location loc = vjp.getLoc();
  Original original(builder, vjp);
  auto op = cast<tensor::ExtractSliceOp>(original.op);
  Value slice = tensor::ExtractSliceOp::create(
      builder, loc, op.getType(), sum, op.getMixedOffsets(), op.getMixedSizes(),
      op.getMixedStrides());
  Value added = arith::AddFOp::create(builder, loc, slice, vjp.getCotangent(0));
  return tensor::InsertSliceOp::create(builder, loc, added, sum,
                                       op.getMixedOffsets(), op.getMixedSizes(),
                                       op.getMixedStrides());
}
