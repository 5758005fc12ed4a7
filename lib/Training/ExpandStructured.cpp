//===- ExpandStructured.cpp - Gradients of structured ops -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of an operand of a structured op is a structured op over the
// same loops: it reads the cotangents as the results are indexed, writes as the
// operand is, and adds up over the loops that the operand does not have.
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"
#include "ScalarAdjoints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::es;

Value mlir::es::createZeros(OpBuilder &builder, Location loc,
                            RankedTensorType type) {
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

SmallVector<Value> mlir::es::createElementwise(
    OpBuilder &builder, Location loc, ValueRange inputs, ValueRange outputs,
    function_ref<SmallVector<Value>(OpBuilder &, ValueRange)> body) {
  auto type = cast<RankedTensorType>(outputs.front().getType());
  SmallVector<AffineMap> maps(inputs.size() + outputs.size(),
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      builder, loc, outputs.getTypes(), inputs, outputs, maps, iterators,
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        linalg::YieldOp::create(inner, loc, body(inner, arguments));
      });
  return SmallVector<Value>(op.getResults());
}

namespace {
/// A structured op, or an elementwise one in the same terms.
struct Structure {
  Block *body = nullptr;
  SmallVector<AffineMap> maps;
  unsigned numLoops = 0, firstInit = 0;
  bool isReduction = false;
  /// Owns the body where the op has none.
  std::unique_ptr<Region> made;
};
} // namespace

static Structure describe(linalg::LinalgOp op) {
  Structure structure;
  structure.body = op.getBlock();
  structure.maps = op.getIndexingMapsArray();
  structure.numLoops = op.getNumLoops();
  structure.firstInit = op.getNumDpsInputs();
  structure.isReduction = op.getNumLoops() != op.getNumParallelLoops();
  return structure;
}

/// `arith.mulf` on tensors is a body of one `arith.mulf` on numbers.
static FailureOr<Structure> describeElementwise(VjpOp vjp) {
  FunctionType type = vjp.getOriginalFunctionType();
  auto result = dyn_cast<RankedTensorType>(type.getResult(0));
  StringRef dialect = vjp.getOf().split('.').first;
  if (!result || type.getNumResults() != 1 ||
      (dialect != "arith" && dialect != "math"))
    return failure();
  Structure structure;
  structure.numLoops = result.getRank();
  structure.firstInit = type.getNumInputs();
  Builder builder(vjp.getContext());
  AffineMap identity = builder.getMultiDimIdentityMap(result.getRank());
  structure.made = std::make_unique<Region>();
  structure.body = new Block();
  structure.made->push_back(structure.body);
  OperationState state(vjp.getLoc(), vjp.getOf());
  for (Type input : type.getInputs()) {
    bool isTensor = isa<RankedTensorType>(input);
    structure.maps.push_back(
        isTensor ? identity
                 : AffineMap::get(result.getRank(), 0, vjp.getContext()));
    state.addOperands(structure.body->addArgument(
        isTensor ? getElementTypeOrSelf(input) : input, vjp.getLoc()));
  }
  structure.maps.push_back(identity);
  structure.body->addArgument(result.getElementType(), vjp.getLoc());
  state.addTypes(result.getElementType());
  if (DictionaryAttr attrs = vjp.getOriginalAttrsAttr())
    state.addAttributes(attrs.getValue());
  OpBuilder inside(vjp.getContext());
  inside.setInsertionPointToEnd(structure.body);
  Operation *op = inside.create(state);
  linalg::YieldOp::create(inside, vjp.getLoc(), op->getResults());
  return std::move(structure);
}

/// dx = y (dy - sum(dy y)), row by row.
static Value expandSoftmax(OpBuilder &builder, VjpOp vjp, unsigned dim) {
  Location loc = vjp.getLoc();
  Value result = vjp.getSavedResult(0), cotangent = vjp.getCotangent(0);
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> rows(type.getShape());
  rows.erase(rows.begin() + dim);
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  AffineMap row = identity.dropResult(dim);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  SmallVector<utils::IteratorType> summing = iterators;
  summing[dim] = utils::IteratorType::reduction;
  Value zeros = createZeros(builder, loc,
                            RankedTensorType::get(rows, type.getElementType()));
  Value sums =
      linalg::GenericOp::create(
          builder, loc, zeros.getType(), ValueRange{cotangent, result}, zeros,
          ArrayRef<AffineMap>{identity, identity, row}, summing,
          [&](OpBuilder &b, Location, ValueRange args) {
            Value product = arith::MulFOp::create(b, loc, args[0], args[1]);
            linalg::YieldOp::create(
                b, loc,
                arith::AddFOp::create(b, loc, args[2], product).getResult());
          })
          .getResult(0);
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  return linalg::GenericOp::create(
             builder, loc, type, ValueRange{cotangent, result, sums}, empty,
             ArrayRef<AffineMap>{identity, identity, row, identity}, iterators,
             [&](OpBuilder &b, Location, ValueRange args) {
               Value less = arith::SubFOp::create(b, loc, args[0], args[2]);
               linalg::YieldOp::create(
                   b, loc,
                   arith::MulFOp::create(b, loc, less, args[1]).getResult());
             })
      .getResult(0);
}

/// Loops that the operand does not have, or that only take part in a sum of its
/// index, add up.
static SmallVector<utils::IteratorType> getIterators(AffineMap map,
                                                     unsigned numLoops) {
  SmallVector<utils::IteratorType> iterators(numLoops,
                                             utils::IteratorType::reduction);
  for (AffineExpr result : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      iterators[dim.getPosition()] = utils::IteratorType::parallel;
  return iterators;
}

FailureOr<Value> mlir::es::expandStructured(OpBuilder &builder, VjpOp vjp,
                                            unsigned index) {
  Location loc = vjp.getLoc();
  FunctionType original = vjp.getOriginalFunctionType();
  auto type = dyn_cast<RankedTensorType>(original.getInput(index));
  if (vjp.getOf() == "linalg.softmax" && vjp.getOriginalAttrsAttr())
    if (auto dim = vjp.getOriginalAttrsAttr().getAs<IntegerAttr>("dimension"))
      return expandSoftmax(builder, vjp, dim.getInt());
  Structure structure;
  if (!vjp.getOriginal().empty()) {
    Operation *inner = &vjp.getOriginal()[0].front().front();
    auto linalgOp = dyn_cast<linalg::LinalgOp>(inner);
    if (!linalgOp || !linalgOp.getBlock())
      return vjp.emitError() << "has no expansion: '" << vjp.getOf() << "'";
    structure = describe(linalgOp);
  } else {
    FailureOr<Structure> described = describeElementwise(vjp);
    if (failed(described))
      return vjp.emitError() << "has no expansion: '" << vjp.getOf() << "'";
    structure = std::move(*described);
  }
  if (!type || !type.hasStaticShape())
    return vjp.emitError() << "has no expansion: the gradient of type '"
                           << original.getInput(index) << "'";
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  // Arguments of the new body stand for these scalars of the old one.
  SmallVector<Value> scalars;
  auto addInput = [&](Value value, AffineMap map, Value scalar) {
    inputs.push_back(value);
    maps.push_back(map);
    scalars.push_back(scalar);
  };
  Operation *yield = structure.body->getTerminator();
  for (unsigned i = 0, e = original.getNumInputs(); i < e; ++i)
    if (Value saved = vjp.getSavedOperand(i))
      addInput(saved, structure.maps[i], structure.body->getArgument(i));
  for (unsigned i = 0, e = original.getNumResults(); i < e; ++i)
    if (Value saved = vjp.getSavedResult(i))
      addInput(saved, structure.maps[structure.firstInit + i],
               yield->getOperand(i));
  unsigned firstCotangent = inputs.size();
  SmallVector<unsigned> cotangentOf;
  for (unsigned i = 0, e = original.getNumResults(); i < e; ++i)
    if (Value cotangent = vjp.getCotangent(i)) {
      addInput(cotangent, structure.maps[structure.firstInit + i], Value());
      cotangentOf.push_back(i);
    }
  AffineMap target = structure.maps[index];
  // Loops whose extent only an operand that is not read says: its shape does.
  llvm::SmallBitVector covered(structure.numLoops);
  auto cover = [&](AffineMap map) {
    for (AffineExpr result : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        covered.set(dim.getPosition());
  };
  llvm::for_each(maps, cover);
  cover(target);
  for (unsigned i = 0, e = original.getNumInputs(); i < e; ++i) {
    auto shape = dyn_cast<RankedTensorType>(original.getInput(i));
    bool adds =
        llvm::any_of(structure.maps[i].getResults(), [&](AffineExpr result) {
          auto dim = dyn_cast<AffineDimExpr>(result);
          return dim && !covered.test(dim.getPosition());
        });
    if (!shape || !adds || vjp.getSavedOperand(i))
      continue;
    addInput(tensor::EmptyOp::create(builder, loc, shape.getShape(),
                                     shape.getElementType()),
             structure.maps[i], Value());
    cover(structure.maps[i]);
  }
  SmallVector<utils::IteratorType> iterators =
      getIterators(target, structure.numLoops);
  bool sums = llvm::is_contained(iterators, utils::IteratorType::reduction);
  Value init = sums ? createZeros(builder, loc, type)
                    : tensor::EmptyOp::create(builder, loc, type.getShape(),
                                              type.getElementType())
                          .getResult();
  maps.push_back(target);
  bool isKnown = true;
  auto gradient = linalg::GenericOp::create(
      builder, loc, type, inputs, init, maps, iterators,
      [&](OpBuilder &b, Location, ValueRange arguments) {
        ScalarAdjoint adjoint(b, *structure.body, structure.isReduction);
        for (auto [scalar, argument] : llvm::zip(scalars, arguments))
          if (scalar)
            adjoint.provide(scalar, argument);
        for (auto [i, result] : llvm::enumerate(cotangentOf))
          adjoint.provideCotangent(result, arguments[firstCotangent + i]);
        Value value = adjoint.compute(structure.body->getArgument(index));
        isKnown = bool(value);
        if (!value)
          value = arguments.back();
        else if (sums)
          value = arith::AddFOp::create(b, loc, arguments.back(), value);
        linalg::YieldOp::create(b, loc, value);
      });
  if (!isKnown)
    return failure();
  return gradient.getResult(0);
}
