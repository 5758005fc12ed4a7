//===- Indexing.cpp - Ops whose places are data ---------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slices at places that are computed. As the specification says, a slice that
// would reach over the end begins earlier. A gather is a loop over its slices.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "es/OpModel/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::hlo;

/// A number as the place of `size` elements among `extent`.
static Value createPlace(OpBuilder &builder, Location loc, Value number,
                         int64_t size, int64_t extent) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value place = number;
  if (auto cast = number.getDefiningOp<arith::IndexCastOp>();
      cast && cast.getIn().getType().isIndex())
    place = cast.getIn();
  else if (!number.getType().isIndex())
    place = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                       number);
  place = arith::MaxSIOp::create(builder, loc, place, index(0));
  return arith::MinSIOp::create(builder, loc, place, index(extent - size));
}

static OpFoldResult createStart(OpBuilder &builder, Location loc, Value tensor,
                                int64_t size, int64_t extent) {
  if (size == extent)
    return builder.getIndexAttr(0);
  return createPlace(builder, loc, getScalar(builder, loc, tensor), size,
                     extent);
}

static Value createDynamicSlice(OpBuilder &builder, Operation *op,
                                RankedTensorType type) {
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  SmallVector<OpFoldResult> starts;
  for (auto [i, start] : llvm::enumerate(op->getOperands().drop_front()))
    starts.push_back(createStart(builder, op->getLoc(), start,
                                 type.getDimSize(i), from.getDimSize(i)));
  SmallVector<OpFoldResult> ones(type.getRank(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(
      builder, op->getLoc(), type, op->getOperand(0), starts,
      getAsIndexOpFoldResult(builder.getContext(), type.getShape()), ones);
}

static Value createDynamicUpdate(OpBuilder &builder, Operation *op,
                                 RankedTensorType type) {
  auto update = cast<RankedTensorType>(op->getOperand(1).getType());
  SmallVector<OpFoldResult> starts;
  for (auto [i, start] : llvm::enumerate(op->getOperands().drop_front(2)))
    starts.push_back(createStart(builder, op->getLoc(), start,
                                 update.getDimSize(i), type.getDimSize(i)));
  SmallVector<OpFoldResult> ones(type.getRank(), builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(
      builder, op->getLoc(), op->getOperand(1), op->getOperand(0), starts,
      getAsIndexOpFoldResult(builder.getContext(), update.getShape()), ones);
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

namespace {
/// What `dimension_numbers` says, by the names of the specification.
struct GatherDims {
  explicit GatherDims(Attribute numbers)
      : offset(getIntegerList(numbers, "offset_dims")),
        collapsed(getIntegerList(numbers, "collapsed_slice_dims")),
        batching(getIntegerList(numbers, "operand_batching_dims")),
        indicesBatching(getIntegerList(numbers, "start_indices_batching_dims")),
        start(getIntegerList(numbers, "start_index_map")) {
    // Absent: the number is 0.
    std::string text;
    llvm::raw_string_ostream(text) << numbers;
    StringRef after = StringRef(text).split("index_vector_dim = ").second;
    after.consumeInteger(10, vectorDim);
  }
  SmallVector<int64_t, 4> offset, collapsed, batching, indicesBatching, start;
  int64_t vectorDim = 0;
};
} // namespace

/// Coordinates of the `linear`-th element of a tensor of `shape`.
static Values delinearize(OpBuilder &builder, Location loc, Value linear,
                          ArrayRef<int64_t> shape) {
  Values coordinates(shape.size());
  for (int64_t i = int64_t(shape.size()) - 1; i >= 0; --i) {
    Value size = arith::ConstantIndexOp::create(builder, loc, shape[i]);
    coordinates[i] =
        i == 0 ? linear
               : arith::RemUIOp::create(builder, loc, linear, size).getResult();
    if (i > 0)
      linear = arith::DivUIOp::create(builder, loc, linear, size);
  }
  return coordinates;
}

/// One slice, cut out of the operand and put into the result.
static Value moveSlice(OpBuilder &builder, Operation *op,
                       const GatherDims &dims, ArrayRef<int64_t> sizes,
                       ValueRange batch, Value result) {
  Location loc = op->getLoc();
  Value operand = op->getOperand(0), indices = op->getOperand(1);
  auto from = cast<RankedTensorType>(operand.getType());
  auto type = cast<RankedTensorType>(result.getType());
  auto indicesType = cast<RankedTensorType>(indices.getType());
  SmallVector<OpFoldResult> starts(from.getRank(), builder.getIndexAttr(0));
  for (auto [i, dim] : llvm::enumerate(dims.start)) {
    Values at(batch);
    if (dims.vectorDim < indicesType.getRank())
      at.insert(at.begin() + dims.vectorDim,
                arith::ConstantIndexOp::create(builder, loc, i));
    Value number = tensor::ExtractOp::create(builder, loc, indices, at);
    starts[dim] =
        createPlace(builder, loc, number, sizes[dim], from.getDimSize(dim));
  }
  for (auto [dim, inIndices] : llvm::zip(dims.batching, dims.indicesBatching))
    starts[dim] = batch[inIndices - (inIndices > dims.vectorDim ? 1 : 0)];
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> places(type.getRank(), builder.getIndexAttr(0)),
      extents(type.getRank(), builder.getIndexAttr(1));
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (!llvm::is_contained(dims.collapsed, dim) &&
        !llvm::is_contained(dims.batching, dim))
      shape.push_back(sizes[dim]);
  for (auto [size, dim] : llvm::zip(shape, dims.offset))
    extents[dim] = builder.getIndexAttr(size);
  unsigned next = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(dims.offset, dim))
      places[dim] = batch[next++];
  auto sliceType = RankedTensorType::get(shape, type.getElementType());
  SmallVector<OpFoldResult> ones(from.getRank(), builder.getIndexAttr(1)),
      resultOnes(type.getRank(), builder.getIndexAttr(1));
  Value slice = tensor::ExtractSliceOp::create(
      builder, loc, sliceType, operand, starts,
      getAsIndexOpFoldResult(builder.getContext(), sizes), ones);
  return tensor::InsertSliceOp::create(builder, loc, slice, result, places,
                                       extents, resultOnes);
}

static Value createGather(OpBuilder &builder, Operation *op,
                          RankedTensorType type) {
  Location loc = op->getLoc();
  GatherDims dims(op->getAttr("dimension_numbers"));
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  SmallVector<int64_t> sizes = getList(op, "slice_sizes", from.getRank(), 1),
                       batches;
  int64_t count = 1;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims.offset, dim)) {
      batches.push_back(size);
      count *= size;
    }
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  return scf::ForOp::create(
             builder, loc, index(0), index(count), index(1), empty,
             [&](OpBuilder &b, Location, Value linear, ValueRange carried) {
               Values batch = delinearize(b, loc, linear, batches);
               Value result = moveSlice(b, op, dims, sizes, batch, carried[0]);
               scf::YieldOp::create(b, loc, result);
             })
      .getResult(0);
}

Lowered hlo::lowerIndexing(OpBuilder &builder, Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (op->getNumResults() != 1)
    return std::nullopt;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (name == "dynamic_slice")
    return FailureOr<Values>(Values{createDynamicSlice(builder, op, type)});
  if (name == "dynamic_update_slice")
    return FailureOr<Values>(Values{createDynamicUpdate(builder, op, type)});
  if (name == "gather")
    return FailureOr<Values>(Values{createGather(builder, op, type)});
  return std::nullopt;
}
