//===- ExpandLoss.cpp - Losses as executable IR ---------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::es;

using ScalarBody = function_ref<Value(OpBuilder &, ValueRange)>;

/// A reduction over the trailing `count` dimensions, or over all.
static Value reduce(OpBuilder &builder, Location loc, ValueRange inputs,
                    ArrayRef<AffineMap> inputMaps, unsigned rank,
                    unsigned count, Value init, ScalarBody body) {
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(AffineMap::getMinorIdentityMap(rank, rank, loc.getContext())
                     .dropResults([&] {
                       llvm::SmallBitVector dropped(rank);
                       dropped.set(rank - count, rank);
                       return dropped;
                     }()));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  for (unsigned i = rank - count; i < rank; ++i)
    iterators[i] = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             builder, loc, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &b, Location, ValueRange args) {
               linalg::YieldOp::create(b, loc, body(b, args));
             })
      .getResult(0);
}

static Value number(OpBuilder &builder, Location loc, Type type, double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

static Value widen(OpBuilder &builder, Location loc, Value value, Type to) {
  return value.getType() == to
             ? value
             : arith::ExtFOp::create(builder, loc, to, value).getResult();
}

/// The logarithm of the softmax of the last dimension.
static Value createLogProbabilities(OpBuilder &builder, LossOp op) {
  Location loc = op.getLoc();
  Value prediction = op.getPrediction();
  auto type = cast<RankedTensorType>(op.getLogProbabilities().getType());
  Type element = type.getElementType();
  unsigned rank = type.getRank();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  AffineMap rows = identity.dropResult(rank - 1);
  auto rowType = RankedTensorType::get(type.getShape().drop_back(), element);
  Value empty =
      tensor::EmptyOp::create(builder, loc, rowType.getShape(), element);
  Value lowest =
      linalg::FillOp::create(builder, loc,
                             number(builder, loc, element,
                                    -std::numeric_limits<double>::infinity()),
                             empty)
          .getResult(0);
  Value maxima = reduce(builder, loc, prediction, identity, rank, 1, lowest,
                        [&](OpBuilder &b, ValueRange args) -> Value {
                          return arith::MaximumFOp::create(
                              b, loc, widen(b, loc, args[0], element), args[1]);
                        });
  Value sums =
      reduce(builder, loc, ValueRange{prediction, maxima}, {identity, rows},
             rank, 1, createZeros(builder, loc, rowType),
             [&](OpBuilder &b, ValueRange args) -> Value {
               Value less = arith::SubFOp::create(
                   b, loc, widen(b, loc, args[0], element), args[1]);
               Value exp = math::ExpOp::create(b, loc, less);
               return arith::AddFOp::create(b, loc, args[2], exp);
             });
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  Value init = tensor::EmptyOp::create(builder, loc, type.getShape(), element);
  return linalg::GenericOp::create(
             builder, loc, type, ValueRange{prediction, maxima, sums}, init,
             ArrayRef<AffineMap>{identity, rows, rows, identity}, iterators,
             [&](OpBuilder &b, Location, ValueRange args) {
               Value less = arith::SubFOp::create(
                   b, loc, widen(b, loc, args[0], element), args[1]);
               Value log = math::LogOp::create(b, loc, args[2]);
               linalg::YieldOp::create(
                   b, loc,
                   arith::SubFOp::create(b, loc, less, log).getResult());
             })
      .getResult(0);
}

/// 1 where the last index is the label, else 0.
static Value createHot(OpBuilder &b, Location loc, unsigned rank, Value label,
                       Type element) {
  Value column = linalg::IndexOp::create(b, loc, rank - 1);
  Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), label);
  Value test =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, column, index);
  return arith::SelectOp::create(b, loc, test, number(b, loc, element, 1),
                                 number(b, loc, element, 0));
}

static int64_t countRows(RankedTensorType type) {
  return type.getNumElements() / type.getShape().back();
}

static void expandCrossEntropy(OpBuilder &builder, LossOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getLogProbabilities().getType());
  unsigned rank = type.getRank();
  Type element = type.getElementType();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  Value logs = createLogProbabilities(builder, op);
  double scale = -1.0 / double(countRows(type));
  Value loss = reduce(builder, loc, ValueRange{logs, op.getTarget()},
                      {identity, identity.dropResult(rank - 1)}, rank, rank,
                      createZeros(builder, loc, op.getLoss().getType()),
                      [&](OpBuilder &b, ValueRange args) -> Value {
                        Value hot = createHot(b, loc, rank, args[1], element);
                        Value chosen =
                            arith::MulFOp::create(b, loc, hot, args[0]);
                        Value scaled = arith::MulFOp::create(
                            b, loc, chosen, number(b, loc, element, scale));
                        return arith::AddFOp::create(b, loc, args[2], scaled);
                      });
  op.getLogProbabilities().replaceAllUsesWith(logs);
  op.getLoss().replaceAllUsesWith(loss);
}

LogicalResult mlir::es::expandLoss(OpBuilder &builder, LossOp op) {
  Location loc = op.getLoc();
  auto type = dyn_cast<RankedTensorType>(op.getPrediction().getType());
  if (!type || !type.hasStaticShape())
    return op.emitError("has no expansion: its operand has no static shape");
  if (op.getKind() == LossKind::xent) {
    expandCrossEntropy(builder, op);
    op.erase();
    return success();
  }
  unsigned rank = type.getRank();
  Type element = type.getElementType();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  SmallVector<Value> inputs = {op.getPrediction()};
  SmallVector<AffineMap> maps = {identity};
  bool isSquare = op.getKind() == LossKind::mse;
  if (isSquare) {
    inputs.push_back(op.getTarget());
    maps.push_back(identity);
  }
  Value loss = reduce(
      builder, loc, inputs, maps, rank, rank,
      createZeros(builder, loc, op.getLoss().getType()),
      [&](OpBuilder &b, ValueRange args) -> Value {
        Value term = args[0];
        if (isSquare) {
          Value less = arith::SubFOp::create(b, loc, args[0], args[1]);
          Value square = arith::MulFOp::create(b, loc, less, less);
          term = arith::MulFOp::create(
              b, loc, square,
              number(b, loc, element, 1.0 / double(type.getNumElements())));
        }
        return arith::AddFOp::create(b, loc, args.back(), term);
      });
  op.getLoss().replaceAllUsesWith(loss);
  op.erase();
  return success();
}

/// Cross entropy: (probabilities - labels) / rows. Mean square: twice the
/// difference / elements. Sum: one.
FailureOr<Value> mlir::es::expandLossGradient(OpBuilder &builder, VjpOp vjp) {
  Location loc = vjp.getLoc();
  auto type =
      dyn_cast<RankedTensorType>(vjp.getOriginalFunctionType().getInput(0));
  auto kind = vjp.getOriginalAttrsAttr()
                  ? vjp.getOriginalAttrsAttr().getAs<LossKindAttr>("kind")
                  : LossKindAttr();
  if (!type || !type.hasStaticShape() || !kind)
    return vjp.emitError("has no expansion: its operand has no static shape");
  unsigned rank = type.getRank();
  Type element = type.getElementType();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  AffineMap none = AffineMap::get(rank, 0, builder.getContext());
  SmallVector<Value> inputs = {vjp.getCotangent(0)};
  SmallVector<AffineMap> maps = {none};
  if (kind.getValue() == LossKind::xent) {
    llvm::append_range(
        inputs, ValueRange{vjp.getSavedResult(1), vjp.getSavedOperand(1)});
    llvm::append_range(
        maps, ArrayRef<AffineMap>{identity, identity.dropResult(rank - 1)});
  } else if (kind.getValue() == LossKind::mse) {
    llvm::append_range(
        inputs, ValueRange{vjp.getSavedOperand(0), vjp.getSavedOperand(1)});
    maps.append(2, identity);
  }
  maps.push_back(identity);
  Value init = tensor::EmptyOp::create(builder, loc, type.getShape(), element);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, type, inputs, init, maps, iterators,
             [&](OpBuilder &b, Location, ValueRange args) {
               Value scale = args[0], gradient = args[0];
               if (kind.getValue() == LossKind::xent) {
                 Type wide = args[1].getType();
                 Value exp = math::ExpOp::create(b, loc, args[1]);
                 Value less = arith::SubFOp::create(
                     b, loc, exp, createHot(b, loc, rank, args[2], wide));
                 Value mean = arith::MulFOp::create(
                     b, loc, less,
                     number(b, loc, wide, 1.0 / double(countRows(type))));
                 gradient = arith::MulFOp::create(b, loc, mean,
                                                  widen(b, loc, scale, wide));
                 if (wide != element)
                   gradient =
                       arith::TruncFOp::create(b, loc, element, gradient);
               } else if (kind.getValue() == LossKind::mse) {
                 Value less = arith::SubFOp::create(b, loc, args[1], args[2]);
                 Value twice = arith::MulFOp::create(
                     b, loc, less,
                     number(b, loc, element,
                            2.0 / double(type.getNumElements())));
                 gradient = arith::MulFOp::create(b, loc, twice, scale);
               }
               linalg::YieldOp::create(b, loc, gradient);
             })
      .getResult(0);
}
