//===- Movement.cpp - Ops that move elements about ------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants, views, broadcasts, transposes, slices, paddings: everything whose
// places are known when it is compiled.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "es/OpModel/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::hlo;

SmallVector<int64_t> hlo::getList(Operation *op, StringRef name, unsigned count,
                                  int64_t otherwise) {
  if (auto list = getIntegers(op->getAttr(name)); list && list->size() == count)
    return SmallVector<int64_t>(list->begin(), list->end());
  return SmallVector<int64_t>(count, otherwise);
}

static SmallVector<OpFoldResult> toIndices(Builder &builder,
                                           ArrayRef<int64_t> numbers) {
  return getAsIndexOpFoldResult(builder.getContext(), numbers);
}

//===----------------------------------------------------------------------===//
// What other groups need too
//===----------------------------------------------------------------------===//

Value hlo::createConstant(OpBuilder &builder, Location loc, Type type,
                          double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attribute;
  if (isa<FloatType>(element))
    attribute = builder.getFloatAttr(element, value);
  else
    attribute = builder.getIntegerAttr(
        element, APInt(element.getIntOrFloatBitWidth(), int64_t(value),
                       /*isSigned=*/true, /*implicitTrunc=*/true));
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attribute = DenseElementsAttr::get(tensor, Attribute(attribute));
  return arith::ConstantOp::create(builder, loc, attribute);
}

/// The element that all elements of a constant are.
static TypedAttr getSplat(Value value) {
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat())
    return nullptr;
  return dyn_cast<TypedAttr>(constant.getSplatValue<Attribute>());
}

Value hlo::getScalar(OpBuilder &builder, Location loc, Value tensor) {
  if (TypedAttr element = getSplat(tensor))
    return arith::ConstantOp::create(builder, loc, element);
  if (auto made = tensor.getDefiningOp<tensor::FromElementsOp>();
      made && made.getElements().size() == 1)
    return made.getElements().front();
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  Value zero;
  if (rank > 0)
    zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return tensor::ExtractOp::create(builder, loc, tensor, Values(rank, zero));
}

Value hlo::fill(OpBuilder &builder, Location loc, Value scalar,
                RankedTensorType type) {
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

Value hlo::reshape(OpBuilder &builder, Location loc, Value value,
                   RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  if (from.getRank() != type.getRank())
    if (auto groups = getReassociationIndicesForReshape(from, type)) {
      if (from.getRank() > type.getRank())
        return tensor::CollapseShapeOp::create(builder, loc, type, value,
                                               *groups);
      return tensor::ExpandShapeOp::create(builder, loc, type, value, *groups);
    }
  // Through one dimension that holds all.
  auto flat =
      RankedTensorType::get({from.getNumElements()}, from.getElementType());
  return reshape(builder, loc, reshape(builder, loc, value, flat), type);
}

/// Dimensions of size 1 are left out and put back by views; what remains is
/// transposed into the order of the result, then repeated.
Value hlo::broadcast(OpBuilder &builder, Location loc, Value value,
                     RankedTensorType type, ArrayRef<int64_t> dims) {
  if (TypedAttr element = getSplat(value))
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, Attribute(element)));
  auto from = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  SmallVector<std::pair<int64_t, int64_t>> kept; // Target, size.
  for (auto [dim, size] : llvm::zip(dims, from.getShape()))
    if (size != 1)
      kept.push_back({dim, size});
  SmallVector<int64_t> shape;
  for (auto [dim, size] : kept)
    shape.push_back(size);
  value = reshape(builder, loc, value, RankedTensorType::get(shape, element));
  if (!llvm::is_sorted(kept)) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, kept.size()));
    llvm::sort(order, [&](int64_t a, int64_t b) { return kept[a] < kept[b]; });
    SmallVector<int64_t> permuted;
    for (int64_t i : order)
      permuted.push_back(kept[i].second);
    Value empty = tensor::EmptyOp::create(builder, loc, permuted, element);
    value = linalg::TransposeOp::create(builder, loc, value, empty, order)
                ->getResult(0);
    llvm::sort(kept);
  }
  SmallVector<int64_t> wide, added;
  auto *next = kept.begin();
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (size == 1)
      continue;
    if (next != kept.end() && next->first == int64_t(dim))
      ++next;
    else
      added.push_back(wide.size());
    wide.push_back(size);
  }
  if (!added.empty()) {
    Value empty = tensor::EmptyOp::create(builder, loc, wide, element);
    value = linalg::BroadcastOp::create(builder, loc, value, empty, added)
                ->getResult(0);
  }
  return reshape(builder, loc, value, type);
}

Value hlo::pad(OpBuilder &builder, Location loc, Value value, Value padding,
               RankedTensorType type, ArrayRef<int64_t> low,
               ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  auto isZero = [](int64_t number) { return number == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero) &&
      llvm::all_of(interior, isZero))
    return value;
  auto from = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape, offsets, begins, strides, sizes;
  SmallVector<int64_t> ones(from.getRank(), 1);
  for (int64_t i = 0, e = from.getRank(); i < e; ++i) {
    int64_t size = from.getDimSize(i);
    int64_t spread = size + std::max<int64_t>(size - 1, 0) * interior[i];
    shape.push_back(spread + std::max<int64_t>(low[i], 0) +
                    std::max<int64_t>(high[i], 0));
    offsets.push_back(std::max<int64_t>(low[i], 0));
    strides.push_back(interior[i] + 1);
    begins.push_back(std::max<int64_t>(-low[i], 0));
    sizes.push_back(size);
  }
  auto padded = RankedTensorType::get(shape, type.getElementType());
  Value target = fill(builder, loc, padding, padded);
  Value result = tensor::InsertSliceOp::create(
      builder, loc, value, target, toIndices(builder, offsets),
      toIndices(builder, sizes), toIndices(builder, strides));
  if (padded == type)
    return result;
  return tensor::ExtractSliceOp::create(
      builder, loc, type, result, toIndices(builder, begins),
      toIndices(builder, type.getShape()), toIndices(builder, ones));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The number of the element along one dimension.
static Value createIota(OpBuilder &builder, Location loc, RankedTensorType type,
                        int64_t dim) {
  Type element = type.getElementType();
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), element);
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, type, ValueRange(), empty, identity, loops,
             [&](OpBuilder &b, Location, ValueRange) {
               Value index = linalg::IndexOp::create(b, loc, dim);
               Type integer =
                   isa<IntegerType>(element) ? element : Type(b.getI64Type());
               Value value = arith::IndexCastOp::create(b, loc, integer, index);
               if (integer != element)
                 value = arith::SIToFPOp::create(b, loc, element, value);
               linalg::YieldOp::create(b, loc, value);
             })
      .getResult(0);
}

static Value createSlice(OpBuilder &builder, Operation *op,
                         RankedTensorType type) {
  unsigned rank = type.getRank();
  return tensor::ExtractSliceOp::create(
      builder, op->getLoc(), type, op->getOperand(0),
      toIndices(builder, getList(op, "start_indices", rank, 0)),
      toIndices(builder, type.getShape()),
      toIndices(builder, getList(op, "strides", rank, 1)));
}

static Value createReverse(OpBuilder &builder, Operation *op,
                           RankedTensorType type) {
  Location loc = op->getLoc();
  SmallVector<AffineExpr> places;
  auto dims = getIntegers(op->getAttr("dimensions"));
  for (int64_t i = 0, e = type.getRank(); i < e; ++i) {
    AffineExpr place = builder.getAffineDimExpr(i);
    if (dims && llvm::is_contained(*dims, i))
      place = builder.getAffineConstantExpr(type.getDimSize(i) - 1) - place;
    places.push_back(place);
  }
  AffineMap from =
      AffineMap::get(type.getRank(), 0, places, builder.getContext());
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  // Written where it goes: the loops run over the operand.
  return linalg::GenericOp::create(
             builder, loc, type, op->getOperand(0), empty,
             ArrayRef<AffineMap>{
                 from, builder.getMultiDimIdentityMap(type.getRank())},
             loops,
             [&](OpBuilder &b, Location, ValueRange in) {
               linalg::YieldOp::create(b, loc, in[0]);
             })
      .getResult(0);
}

static Value createTranspose(OpBuilder &builder, Operation *op,
                             RankedTensorType type) {
  Value empty = tensor::EmptyOp::create(builder, op->getLoc(), type.getShape(),
                                        type.getElementType());
  return linalg::TransposeOp::create(
             builder, op->getLoc(), op->getOperand(0), empty,
             getList(op, "permutation", type.getRank(), 0))
      ->getResult(0);
}

Lowered hlo::lowerMovement(OpBuilder &builder, Operation *op) {
  StringRef name = op->getName().stripDialect();
  Location loc = op->getLoc();
  if (name == "optimization_barrier")
    return FailureOr<Values>(Values(op->getOperands()));
  if (op->getNumResults() != 1)
    return std::nullopt;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  unsigned rank = type.getRank();
  Value value;
  if (name == "constant") {
    auto attribute = op->getAttrOfType<ElementsAttr>("value");
    if (attribute && attribute.getType() == type)
      value =
          arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attribute));
  } else if (name == "iota") {
    value = createIota(builder, loc, type,
                       getList(op, "iota_dimension", 1, 0).front());
  } else if (name == "reshape") {
    value = reshape(builder, loc, op->getOperand(0), type);
  } else if (name == "broadcast_in_dim") {
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    value = broadcast(builder, loc, op->getOperand(0), type,
                      getList(op, "broadcast_dimensions", from.getRank(), 0));
  } else if (name == "transpose") {
    value = createTranspose(builder, op, type);
  } else if (name == "slice") {
    value = createSlice(builder, op, type);
  } else if (name == "reverse") {
    value = createReverse(builder, op, type);
  } else if (name == "concatenate") {
    value = tensor::ConcatOp::create(builder, loc, type,
                                     getList(op, "dimension", 1, 0).front(),
                                     op->getOperands());
  } else if (name == "pad") {
    Value padding = getScalar(builder, loc, op->getOperand(1));
    value = pad(builder, loc, op->getOperand(0), padding, type,
                getList(op, "edge_padding_low", rank, 0),
                getList(op, "edge_padding_high", rank, 0),
                getList(op, "interior_padding", rank, 0));
  } else {
    return std::nullopt;
  }
  if (!value)
    return FailureOr<Values>(emitNoLowering(op) << "without its elements");
  return FailureOr<Values>(Values{value});
}
