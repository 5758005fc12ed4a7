//===- DestinationForm.cpp - Tensor ops with explicit destinations --------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites by hand rather than with the greedy driver, which would remove dead
// ops and so change the memory of the program.
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/Transforms/Passes.h"
#include "es/OpModel/OpModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::es {
#define GEN_PASS_DEF_DESTINATIONFORM
#include "es/Dialect/ES/Transforms/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

/// The scalar that every element of `value` equals, if it is a splat constant.
static TypedAttr getSplat(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return nullptr;
  return dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
}

static Value createEmpty(OpBuilder &builder, Location loc,
                         RankedTensorType type, Value like) {
  SmallVector<Value> sizes;
  for (int64_t i = 0, e = type.getRank(); i < e; ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(tensor::DimOp::create(builder, loc, like, i));
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType(), sizes);
}

/// An elementwise op on whole tensors becomes the same op on scalars inside a
/// linalg.generic.
static void convertElementwise(RewriterBase &rewriter, Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Location loc = op->getLoc();
  SmallVector<Value> inputs;
  SmallVector<TypedAttr> splats;
  Value like;
  for (Value operand : op->getOperands()) {
    splats.push_back(getSplat(operand));
    if (isa<RankedTensorType>(operand.getType())) {
      like = operand;
      if (!splats.back())
        inputs.push_back(operand);
    }
  }
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inits;
  SmallVector<Type> types(op->getResultTypes());
  for (Type result : types)
    inits.push_back(
        createEmpty(rewriter, loc, cast<RankedTensorType>(result), like));
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<AffineMap> maps(inputs.size() + inits.size(), identity);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto body = [&](OpBuilder &builder, Location, ValueRange arguments) {
    SmallVector<Value> scalars;
    unsigned next = 0;
    for (auto [operand, splat] : llvm::zip(op->getOperands(), splats)) {
      if (splat)
        scalars.push_back(arith::ConstantOp::create(builder, loc, splat));
      else if (isa<RankedTensorType>(operand.getType()))
        scalars.push_back(arguments[next++]);
      else
        scalars.push_back(operand);
    }
    SmallVector<Type> elements;
    for (Type result : types)
      elements.push_back(cast<RankedTensorType>(result).getElementType());
    Operation *scalar = builder.create(loc, op->getName().getIdentifier(),
                                       scalars, elements, op->getAttrs());
    linalg::YieldOp::create(builder, loc, scalar->getResults());
  };
  auto generic = linalg::GenericOp::create(rewriter, loc, types, inputs, inits,
                                           maps, iterators, body);
  rewriter.replaceOp(op, generic->getResults());
}

/// Splat inputs of an op that absorbs them become constants of its body.
static void absorbSplats(RewriterBase &rewriter, linalg::LinalgOp op) {
  OpFacts facts = getOpFacts(op);
  if (facts.opClass == OpClass::Contraction ||
      llvm::none_of(op.getDpsInputs(), [](Value v) { return getSplat(v); }))
    return;
  rewriter.setInsertionPoint(op);
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return;
    generic = *made;
  }
  rewriter.setInsertionPoint(generic);
  Block *body = generic.getBody();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<unsigned> absorbed;
  SmallVector<AffineMap> allMaps = generic.getIndexingMapsArray();
  for (auto [index, input] : llvm::enumerate(generic.getDpsInputs())) {
    if (TypedAttr splat = getSplat(input)) {
      OpBuilder inside = OpBuilder::atBlockBegin(body);
      Value scalar = arith::ConstantOp::create(inside, generic.getLoc(), splat);
      body->getArgument(index).replaceAllUsesWith(scalar);
      absorbed.push_back(index);
      continue;
    }
    inputs.push_back(input);
    maps.push_back(allMaps[index]);
  }
  for (unsigned index : llvm::reverse(absorbed))
    body->eraseArgument(index);
  maps.append(allMaps.begin() + generic.getNumDpsInputs(), allMaps.end());
  auto slim = linalg::GenericOp::create(
      rewriter, generic.getLoc(), generic.getResultTypes(), inputs,
      generic.getDpsInits(), maps, generic.getIteratorTypesArray());
  rewriter.inlineRegionBefore(generic.getRegion(), slim.getRegion(),
                              slim.getRegion().end());
  rewriter.replaceOp(generic, slim->getResults());
}

/// A row of insertions into one empty tensor.
static void decomposeConcat(RewriterBase &rewriter, tensor::ConcatOp op) {
  rewriter.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
  if (succeeded(values))
    rewriter.replaceOp(op, *values);
}

static void decomposeSoftmax(RewriterBase &rewriter, linalg::SoftmaxOp op) {
  rewriter.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
  if (succeeded(values))
    rewriter.replaceOp(op, *values);
}

namespace {
struct DestinationFormPass
    : es::impl::DestinationFormBase<DestinationFormPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      // Bodies of structured ops are scalar code.
      if (!isa_and_nonnull<linalg::LinalgOp>(op->getParentOp()))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      if (auto concat = dyn_cast<tensor::ConcatOp>(op))
        decomposeConcat(rewriter, concat);
      else if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
        decomposeSoftmax(rewriter, softmax);
      else if (auto structured = dyn_cast<linalg::LinalgOp>(op))
        absorbSplats(rewriter, structured);
      else if (op->getNumResults() &&
               isa<RankedTensorType>(op->getResult(0).getType()) &&
               OpTrait::hasElementwiseMappableTraits(op))
        convertElementwise(rewriter, op);
    }
  }
};
} // namespace
