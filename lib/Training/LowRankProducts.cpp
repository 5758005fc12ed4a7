//===- LowRankProducts.cpp - Products with a perturbed matrix -------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With maps of the product: the matrix has a dimension that is summed over,
// where the other operand meets the left factor, and one that only it and the
// result have, which the right factor brings back. The correction adds to the
// buffer of the product.
//
//===----------------------------------------------------------------------===//

#include "LowRankProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::es;

namespace {
/// How a product reads its operands.
struct Product {
  linalg::LinalgOp op;
  OpOperand *other;
  AffineMap otherMap, resultMap;
  /// Which dimension of the matrix is summed over, 0 or 1, and both as
  /// dimensions of the iteration.
  unsigned summedAt, summed, kept;
};
} // namespace

static bool isProjection(AffineMap map) {
  return map.isProjectedPermutation(/*allowZeroInResults=*/false);
}

static bool isFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

static std::optional<Product> matchProduct(OpOperand &matrix) {
  auto op = dyn_cast<linalg::LinalgOp>(matrix.getOwner());
  if (!op || !linalg::isaContractionOpInterface(op) ||
      op.getNumDpsInputs() != 2 || op->getNumResults() != 1 ||
      !op.isDpsInput(&matrix))
    return std::nullopt;
  Product product;
  product.op = op;
  product.other = op.getDpsInputOperand(matrix.getOperandNumber() == 0);
  if (product.other->get() == matrix.get())
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&matrix);
  product.otherMap = op.getMatchingIndexingMap(product.other);
  product.resultMap = op.getIndexingMapMatchingResult(op->getResult(0));
  for (AffineMap each : {map, product.otherMap, product.resultMap})
    if (!isProjection(each))
      return std::nullopt;
  Type result = op->getResult(0).getType();
  if (map.getNumResults() != 2 || !isFloatTensor(matrix.get().getType()) ||
      !isFloatTensor(product.other->get().getType()) || !isFloatTensor(result))
    return std::nullopt;
  // What is narrower is widened, nothing is rounded.
  unsigned width = getElementTypeOrSelf(result).getIntOrFloatBitWidth();
  for (Value operand : {matrix.get(), product.other->get()}) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (element != getElementTypeOrSelf(result) &&
        element.getIntOrFloatBitWidth() >= width)
      return std::nullopt;
  }
  for (unsigned at : {0u, 1u}) {
    product.summedAt = at;
    product.summed = map.getDimPosition(at);
    product.kept = map.getDimPosition(1 - at);
    auto has = [](AffineMap each, unsigned dimension) {
      return each.isFunctionOfDim(dimension);
    };
    if (has(product.otherMap, product.summed) &&
        !has(product.resultMap, product.summed) &&
        has(product.resultMap, product.kept) &&
        !has(product.otherMap, product.kept))
      return product;
  }
  return std::nullopt;
}

bool mlir::es::canCorrectProduct(OpOperand &matrix) {
  return matchProduct(matrix).has_value();
}

/// A sum of products of widened operands.
static Value createProduct(OpBuilder &builder, Location loc, Value left,
                           Value right, Value into, ArrayRef<AffineMap> maps,
                           ArrayRef<utils::IteratorType> iterators) {
  return linalg::GenericOp::create(
             builder, loc, into.getType(), ValueRange{left, right}, into, maps,
             iterators,
             [](OpBuilder &b, Location at, ValueRange args) {
               Type type = args[2].getType();
               auto widen = [&](Value value) -> Value {
                 if (value.getType() == type)
                   return value;
                 return arith::ExtFOp::create(b, at, type, value);
               };
               Value term =
                   arith::MulFOp::create(b, at, widen(args[0]), widen(args[1]));
               Value sum = arith::AddFOp::create(b, at, args[2], term);
               linalg::YieldOp::create(b, at, sum);
             })
      .getResult(0);
}

void mlir::es::correctProduct(OpOperand &matrix, const LowRankNoise &noise) {
  Product product = *matchProduct(matrix);
  linalg::LinalgOp op = product.op;
  Location loc = op.getLoc();
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  MLIRContext *context = builder.getContext();
  Value weights = matrix.get(), other = product.other->get();
  Value result = op->getResult(0);
  Type element = getElementTypeOrSelf(result.getType());
  auto createEmpty = [&](ArrayRef<OpFoldResult> sizes, Type type) -> Value {
    return tensor::EmptyOp::create(builder, loc, sizes, type);
  };

  // The factors: rank x rows, rank x columns of the matrix.
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, weights);
  OpFoldResult rank = builder.getIndexAttr(noise.rank);
  Type stored = getElementTypeOrSelf(weights.getType());
  auto factors = PerturbFactorsOp::create(
      builder, loc, noise.kind, noise.param,
      createEmpty({rank, sizes[0]}, stored),
      createEmpty({rank, sizes[1]}, stored), noise.key, noise.member,
      llvm::APFloat(noise.sigma), noise.antithetic);
  Value summedFactor = factors.getFactors()[product.summedAt];
  Value keptFactor = factors.getFactors()[1 - product.summedAt];

  // The other operand times one factor: its dimensions that the result has, and
  // the rank. The iteration is that of the product, and one more.
  unsigned count = op.getNumLoops(), last = count;
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, context); };
  auto makeMap = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(count + 1, 0, results, context);
  };
  SmallVector<AffineExpr> between;
  SmallVector<OpFoldResult> betweenSizes;
  SmallVector<OpFoldResult> otherSizes =
      tensor::getMixedSizes(builder, loc, other);
  for (auto [at, expr] : llvm::enumerate(product.otherMap.getResults()))
    if (product.resultMap.isFunctionOfDim(
            cast<AffineDimExpr>(expr).getPosition())) {
      between.push_back(expr);
      betweenSizes.push_back(otherSizes[at]);
    }
  between.push_back(dim(last));
  betweenSizes.push_back(rank);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  Value start = linalg::FillOp::create(builder, loc, zero,
                                       createEmpty(betweenSizes, element))
                    .getResult(0);
  AffineMap betweenMap = makeMap(between);
  AffineMap otherMap = makeMap(product.otherMap.getResults());
  AffineMap resultMap = makeMap(product.resultMap.getResults());

  // Each op iterates over the dimensions that it has.
  auto createOver = [&](Value left, Value right, Value into,
                        SmallVector<AffineMap> maps) {
    SmallVector<AffineExpr> replacements(count + 1, dim(0));
    SmallVector<utils::IteratorType> iterators;
    for (unsigned i = 0; i <= count; ++i) {
      if (llvm::none_of(maps,
                        [&](AffineMap map) { return map.isFunctionOfDim(i); }))
        continue;
      replacements[i] = dim(iterators.size());
      iterators.push_back(maps.back().isFunctionOfDim(i)
                              ? utils::IteratorType::parallel
                              : utils::IteratorType::reduction);
    }
    for (AffineMap &map : maps)
      map = map.replaceDimsAndSymbols(replacements, {}, iterators.size(), 0);
    return createProduct(builder, loc, left, right, into, maps, iterators);
  };
  Value inner = createOver(
      other, summedFactor, start,
      {otherMap, makeMap({dim(last), dim(product.summed)}), betweenMap});
  SmallPtrSet<Operation *, 8> own;
  Value corrected = createOver(
      inner, keptFactor, result,
      {betweenMap, makeMap({dim(last), dim(product.kept)}), resultMap});
  own.insert(corrected.getDefiningOp());
  result.replaceAllUsesExcept(corrected, own);
}
