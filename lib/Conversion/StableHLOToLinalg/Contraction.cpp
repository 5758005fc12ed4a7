//===- Contraction.cpp - Products of matrices and convolutions ------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both are one structured op that multiplies and adds; they differ in the maps
// from loops to elements.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "es/OpModel/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::hlo;

namespace {
/// A factor, or the result: its elements in terms of the loops.
struct Access {
  Value value;
  SmallVector<AffineExpr> places;
};
} // namespace

static Value extend(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::ExtSIOp::create(builder, loc, type, value);
}

/// Sums of products in the element type of the result. The first `numParallel`
/// loops are those of the result.
static Value multiplyAndAdd(OpBuilder &builder, Location loc, const Access &lhs,
                            const Access &rhs, ArrayRef<AffineExpr> places,
                            RankedTensorType type, unsigned numLoops,
                            unsigned numParallel) {
  Type element = type.getElementType();
  bool isFloat = isa<FloatType>(element);
  Value init =
      fill(builder, loc, createConstant(builder, loc, element, 0), type);
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(numLoops, 0, exprs, builder.getContext());
  };
  SmallVector<utils::IteratorType> loops(numParallel,
                                         utils::IteratorType::parallel);
  loops.append(numLoops - numParallel, utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             builder, loc, type, ValueRange{lhs.value, rhs.value}, init,
             ArrayRef<AffineMap>{map(lhs.places), map(rhs.places), map(places)},
             loops,
             [&](OpBuilder &b, Location, ValueRange in) {
               Value x = extend(b, loc, in[0], element);
               Value y = extend(b, loc, in[1], element);
               Value sum;
               if (isFloat)
                 sum = arith::AddFOp::create(
                     b, loc, in[2], arith::MulFOp::create(b, loc, x, y));
               else
                 sum = arith::AddIOp::create(
                     b, loc, in[2], arith::MulIOp::create(b, loc, x, y));
               linalg::YieldOp::create(b, loc, sum);
             })
      .getResult(0);
}

static bool canExtend(Type from, Type to) {
  return from == to ||
         (isa<FloatType>(from) && isa<FloatType>(to) &&
          from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()) ||
         (from.isInteger() && to.isInteger() && !from.isInteger(1) &&
          from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth());
}

//===----------------------------------------------------------------------===//
// dot_general
//===----------------------------------------------------------------------===//

/// The result has the batch, then what is left of the two factors, in order.
static Value createDot(OpBuilder &builder, Operation *op,
                       RankedTensorType type) {
  Attribute numbers = op->getAttr("dot_dimension_numbers");
  using List = SmallVector<int64_t, 4>;
  List batch[2] = {getIntegerList(numbers, "lhs_batching_dimensions"),
                   getIntegerList(numbers, "rhs_batching_dimensions")};
  List sum[2] = {getIntegerList(numbers, "lhs_contracting_dimensions"),
                 getIntegerList(numbers, "rhs_contracting_dimensions")};
  // `dot`: the last dimension with the first.
  if (op->getName().stripDialect() == "dot") {
    auto rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
    sum[0] = {rank - 1};
    sum[1] = {0};
  }
  Access factors[2];
  unsigned next = batch[0].size();
  for (unsigned side = 0; side < 2; ++side) {
    factors[side].value = op->getOperand(side);
    int64_t rank =
        cast<RankedTensorType>(op->getOperand(side).getType()).getRank();
    factors[side].places.resize(rank);
    for (auto [loop, dim] : llvm::enumerate(batch[side]))
      factors[side].places[dim] = builder.getAffineDimExpr(loop);
    for (auto [i, dim] : llvm::enumerate(sum[side]))
      factors[side].places[dim] = builder.getAffineDimExpr(type.getRank() + i);
    for (AffineExpr &place : factors[side].places)
      if (!place)
        place = builder.getAffineDimExpr(next++);
  }
  SmallVector<AffineExpr> places;
  for (int64_t i = 0; i < type.getRank(); ++i)
    places.push_back(builder.getAffineDimExpr(i));
  return multiplyAndAdd(builder, op->getLoc(), factors[0], factors[1], places,
                        type, type.getRank() + sum[0].size(), type.getRank());
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

/// `conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`: what each dimension of the
/// input, the kernel and the output is. Spatial dimensions are their numbers.
static SmallVector<SmallVector<std::string>> getConvDims(Operation *op) {
  SmallVector<SmallVector<std::string>> lists;
  auto opaque = op->getAttrOfType<OpaqueAttr>("dimension_numbers");
  StringRef text = opaque ? opaque.getAttrData() : StringRef();
  while (text.contains('[')) {
    auto [list, rest] = text.split('[').second.split(']');
    SmallVector<StringRef> parts;
    list.split(parts, ',');
    SmallVector<std::string> &names = lists.emplace_back();
    for (StringRef part : parts)
      names.push_back(part.trim().str());
    text = rest;
  }
  return lists;
}

/// Dimension `dim` as `groups` times the rest.
static Value splitDim(OpBuilder &builder, Location loc, Value value,
                      unsigned dim, int64_t groups) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= groups;
  shape.insert(shape.begin() + dim, groups);
  return reshape(builder, loc, value, type.clone(shape));
}

namespace {
/// The loops of a convolution: batch, group, output feature, output places;
/// then window, input feature.
struct ConvLoops {
  OpBuilder &builder;
  unsigned spatial;
  AffineExpr get(unsigned loop) { return builder.getAffineDimExpr(loop); }
  AffineExpr batch() { return get(0); }
  AffineExpr group() { return get(1); }
  AffineExpr outFeature() { return get(2); }
  AffineExpr place(unsigned i) { return get(3 + i); }
  AffineExpr window(unsigned i) { return get(3 + spatial + i); }
  AffineExpr inFeature() { return get(3 + 2 * spatial); }
};
} // namespace

static FailureOr<Values> createConvolution(OpBuilder &builder, Operation *op,
                                           RankedTensorType type) {
  Location loc = op->getLoc();
  auto dims = getConvDims(op);
  unsigned rank = type.getRank(), spatial = rank - 2;
  auto isWhole = [&](const SmallVector<std::string> &list) {
    return list.size() == rank;
  };
  if (dims.size() != 3 || !llvm::all_of(dims, isWhole))
    return emitNoLowering(op) << "without dimension numbers";
  if (getList(op, "batch_group_count", 1, 1).front() != 1)
    return emitNoLowering(op) << "with groups in the batch";
  if (auto reversal = op->getAttrOfType<DenseBoolArrayAttr>("window_reversal");
      reversal && llvm::is_contained(reversal.asArrayRef(), true))
    return emitNoLowering(op) << "with a reversed window";
  int64_t groups = getList(op, "feature_group_count", 1, 1).front();
  SmallVector<int64_t> strides = getList(op, "window_strides", spatial, 1),
                       apart = getList(op, "rhs_dilation", spatial, 1),
                       base = getList(op, "lhs_dilation", spatial, 1),
                       edges = getList(op, "padding", 2 * spatial, 0);
  if (auto all = getIntegers(op->getAttr("padding")); all && all->size() == 1)
    edges.assign(2 * spatial, all->front());
  ConvLoops loops{builder, spatial};
  Access in, kernel;
  SmallVector<AffineExpr> out;
  SmallVector<int64_t> low, high, interior, padded, grouped;
  auto inType = cast<RankedTensorType>(op->getOperand(0).getType());
  unsigned featureDim = 0, outDim = 0;
  for (auto [dim, name] : llvm::enumerate(dims[0])) {
    unsigned i = 0;
    bool isSpatial = llvm::to_integer(name, i);
    low.push_back(isSpatial ? edges[2 * i] : 0);
    high.push_back(isSpatial ? edges[2 * i + 1] : 0);
    interior.push_back(isSpatial ? base[i] - 1 : 0);
    int64_t size = inType.getDimSize(dim);
    padded.push_back(size + (size - 1) * interior.back() + low.back() +
                     high.back());
    if (isSpatial) {
      in.places.push_back(loops.place(i) * strides[i] +
                          loops.window(i) * apart[i]);
    } else if (name == "b") {
      in.places.push_back(loops.batch());
    } else {
      featureDim = dim;
      llvm::append_range(
          in.places, ArrayRef<AffineExpr>{loops.group(), loops.inFeature()});
    }
  }
  for (auto [dim, name] : llvm::enumerate(dims[1])) {
    unsigned i = 0;
    if (llvm::to_integer(name, i)) {
      kernel.places.push_back(loops.window(i));
    } else if (name == "i") {
      kernel.places.push_back(loops.inFeature());
    } else {
      outDim = dim;
      llvm::append_range(kernel.places, ArrayRef<AffineExpr>{
                                            loops.group(), loops.outFeature()});
    }
  }
  for (auto [dim, name] : llvm::enumerate(dims[2])) {
    unsigned i = 0;
    if (llvm::to_integer(name, i)) {
      out.push_back(loops.place(i));
    } else if (name == "b") {
      out.push_back(loops.batch());
    } else {
      llvm::append_range(
          out, ArrayRef<AffineExpr>{loops.group(), loops.outFeature()});
      grouped.push_back(groups);
      grouped.push_back(type.getDimSize(dim) / groups);
      continue;
    }
    grouped.push_back(type.getDimSize(dim));
  }
  Value zero = createConstant(builder, loc, inType.getElementType(), 0);
  in.value = splitDim(builder, loc,
                      pad(builder, loc, op->getOperand(0), zero,
                          inType.clone(padded), low, high, interior),
                      featureDim, groups);
  kernel.value = splitDim(builder, loc, op->getOperand(1), outDim, groups);
  Value result =
      multiplyAndAdd(builder, loc, in, kernel, out, type.clone(grouped),
                     /*numLoops=*/4 + 2 * spatial, /*numParallel=*/3 + spatial);
  return Values{reshape(builder, loc, result, type)};
}

Lowered hlo::lowerContraction(OpBuilder &builder, Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (name != "dot_general" && name != "dot" && name != "convolution")
    return std::nullopt;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (Value operand : op->getOperands())
    if (!canExtend(getElementTypeOrSelf(operand.getType()),
                   type.getElementType()))
      return FailureOr<Values>(emitNoLowering(op) << "to elements of type "
                                                  << type.getElementType());
  if (name == "convolution")
    return createConvolution(builder, op, type);
  return FailureOr<Values>(Values{createDot(builder, op, type)});
}
