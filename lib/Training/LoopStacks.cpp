//===- LoopStacks.cpp - A value of each iteration -------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the gradient of a loop reads of the forward loop's iterations stands in
// a tensor with one more dimension, in front.
//
//===----------------------------------------------------------------------===//

#include "LoopStacks.h"

#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::es;

Type mlir::es::getStackableType(OpBuilder &builder, Type type) {
  if (isa<RankedTensorType, FloatType, ComplexType>(type) ||
      type.isIntOrIndex())
    return type;
  if (!isMemoryType(type))
    return builder.getI64Type();
  ShapedType shaped = getCarriedShape(type);
  if (!shaped || !shaped.hasRank())
    return nullptr;
  return RankedTensorType::get(shaped.getShape(), shaped.getElementType());
}

Value mlir::es::castTo(OpBuilder &builder, Location loc, Type type,
                       Value value) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

RankedTensorType mlir::es::getStackType(const CarryingLoop &loop, Type type) {
  SmallVector<int64_t> shape = {*loop.trips};
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor)
    llvm::append_range(shape, tensor.getShape());
  return RankedTensorType::get(shape, tensor ? tensor.getElementType() : type);
}

namespace {
/// The place of one iteration in a stack: everything of what is in it.
struct Place {
  Place(OpBuilder &builder, RankedTensorType slice, Value iteration)
      : offsets(slice.getRank() + 1, builder.getIndexAttr(0)),
        sizes(1, builder.getIndexAttr(1)),
        strides(slice.getRank() + 1, builder.getIndexAttr(1)) {
    offsets[0] = iteration;
    for (int64_t size : slice.getShape())
      sizes.push_back(builder.getIndexAttr(size));
  }
  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

Value mlir::es::getSlice(OpBuilder &builder, Location loc, Value stack,
                         Value iteration, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return tensor::ExtractOp::create(builder, loc, stack, iteration);
  Place at(builder, tensor, iteration);
  return tensor::ExtractSliceOp::create(builder, loc, tensor, stack, at.offsets,
                                        at.sizes, at.strides);
}

Value mlir::es::setSlice(OpBuilder &builder, Location loc, Value value,
                         Value stack, Value iteration) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return tensor::InsertOp::create(builder, loc, value, stack, iteration);
  Place at(builder, tensor, iteration);
  return tensor::InsertSliceOp::create(builder, loc, value, stack, at.offsets,
                                       at.sizes, at.strides);
}

Value mlir::es::countIterations(OpBuilder &builder, const CarryingLoop &loop) {
  Location loc = loop.op->getLoc();
  Value count = loop.counter;
  if (isa<RankedTensorType>(count.getType()))
    count = tensor::ExtractOp::create(builder, loc, count, ValueRange());
  if (!count.getType().isIntOrIndex())
    count = castTo(builder, loc, builder.getI64Type(), count);
  if (!count.getType().isIndex())
    count =
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), count);
  if (loop.lower != 0)
    count = arith::SubIOp::create(
        builder, loc, count,
        arith::ConstantIndexOp::create(builder, loc, loop.lower));
  if (loop.step != 1)
    count = arith::DivUIOp::create(
        builder, loc, count,
        arith::ConstantIndexOp::create(builder, loc, loop.step));
  return count;
}
