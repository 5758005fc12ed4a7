//===- Reduction.cpp - Reductions and windows -----------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The region of a reduction takes what there is so far and one more element, as
// tensors without dimensions; here it becomes the body of a structured op.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "es/OpModel/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::hlo;

bool hlo::hasReducer(Operation *op) {
  StringRef name = op->getName().stripDialect();
  return isHlo(op) && (name == "reduce" || name == "reduce_window");
}

/// The region on numbers; `arguments` are what there is so far, then elements.
static FailureOr<Values> inlineReducer(OpBuilder &builder, Operation *op,
                                       ValueRange arguments) {
  Block &body = op->getRegion(0).front();
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  // The terminator is not known as one.
  for (Operation &inner : llvm::drop_end(body)) {
    Values operands;
    for (Value operand : inner.getOperands())
      operands.push_back(mapping.lookupOrNull(operand));
    Value value;
    if (auto constant = inner.getAttrOfType<DenseElementsAttr>("value");
        constant && constant.isSplat() && operands.empty())
      value = arith::ConstantOp::create(
          builder, op->getLoc(),
          cast<TypedAttr>(constant.getSplatValue<Attribute>()));
    else if (inner.getNumResults() == 1 &&
             !llvm::is_contained(operands, Value()))
      value =
          createElementwise(builder, &inner, operands,
                            getElementTypeOrSelf(inner.getResult(0).getType()));
    if (!value)
      return emitNoLowering(&inner) << "in a reduction";
    mapping.map(inner.getResult(0), value);
  }
  Values results;
  for (Value result : body.back().getOperands())
    results.push_back(mapping.lookupOrDefault(result));
  return results;
}

static bool hasBody(Operation *op) {
  unsigned count = op->getNumResults();
  return op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock() &&
         op->getNumOperands() == 2 * count &&
         op->getRegion(0).getNumArguments() == 2 * count &&
         !op->getRegion(0).front().empty() &&
         op->getRegion(0).front().back().getNumOperands() == count;
}

/// Where the sums begin: the initial values, everywhere.
static Values createInits(OpBuilder &builder, Operation *op) {
  Values inits;
  unsigned count = op->getNumResults();
  for (unsigned i = 0; i < count; ++i)
    inits.push_back(
        fill(builder, op->getLoc(),
             getScalar(builder, op->getLoc(), op->getOperand(count + i)),
             cast<RankedTensorType>(op->getResult(i).getType())));
  return inits;
}

static FailureOr<Values> createReduce(OpBuilder &builder, Operation *op) {
  auto dims = getIntegers(op->getAttr("dimensions"));
  unsigned count = op->getNumResults();
  if (!dims)
    return emitNoLowering(op) << "without dimensions";
  SmallVector<int64_t> sorted(dims->begin(), dims->end());
  llvm::sort(sorted);
  bool isKnown = true;
  auto reduce = linalg::ReduceOp::create(
      builder, op->getLoc(), op->getOperands().take_front(count),
      createInits(builder, op), sorted,
      [&](OpBuilder &b, Location loc, ValueRange in) {
        // Elements first; the region has them second.
        Values arguments(in.drop_front(count));
        llvm::append_range(arguments, in.take_front(count));
        FailureOr<Values> results = inlineReducer(b, op, arguments);
        isKnown = succeeded(results);
        linalg::YieldOp::create(
            b, loc, isKnown ? ValueRange(*results) : in.drop_front(count));
      });
  if (!isKnown)
    return failure();
  return Values(reduce->getResults());
}

static FailureOr<Values> createWindows(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  if (op->getNumResults() != 1)
    return emitNoLowering(op) << "with more than one result";
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  unsigned rank = type.getRank();
  SmallVector<int64_t> sizes = getList(op, "window_dimensions", rank, 1),
                       strides = getList(op, "window_strides", rank, 1),
                       apart = getList(op, "window_dilations", rank, 1),
                       base = getList(op, "base_dilations", rank, 1),
                       edges = getList(op, "padding", 2 * rank, 0);
  // One number for all edges.
  if (auto all = getIntegers(op->getAttr("padding")); all && all->size() == 1)
    edges.assign(2 * rank, all->front());
  SmallVector<int64_t> low, high, interior, shape;
  for (unsigned i = 0; i < rank; ++i) {
    low.push_back(edges[2 * i]);
    high.push_back(edges[2 * i + 1]);
    interior.push_back(base[i] - 1);
    shape.push_back(from.getDimSize(i) +
                    std::max<int64_t>(from.getDimSize(i) - 1, 0) * interior[i] +
                    low[i] + high[i]);
  }
  Value padding = getScalar(builder, loc, op->getOperand(1));
  Value padded = pad(builder, loc, op->getOperand(0), padding,
                     from.clone(shape), low, high, interior);
  // Loops over the result, then over the window, whose shape only an operand
  // that is not read can say.
  SmallVector<AffineExpr> in, out, window;
  SmallVector<int64_t> windowShape;
  for (unsigned i = 0; i < rank; ++i) {
    AffineExpr place = builder.getAffineDimExpr(i);
    out.push_back(place);
    if (sizes[i] > 1) {
      AffineExpr step = builder.getAffineDimExpr(rank + window.size());
      in.push_back(place * strides[i] + step * apart[i]);
      window.push_back(step);
      windowShape.push_back(sizes[i]);
    } else {
      in.push_back(place * strides[i]);
    }
  }
  unsigned numLoops = rank + window.size();
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.append(window.size(), utils::IteratorType::reduction);
  Value shapes =
      tensor::EmptyOp::create(builder, loc, windowShape, type.getElementType());
  auto map = [&](ArrayRef<AffineExpr> places) {
    return AffineMap::get(numLoops, 0, places, builder.getContext());
  };
  bool isKnown = true;
  auto generic = linalg::GenericOp::create(
      builder, loc, type, ValueRange{padded, shapes}, createInits(builder, op),
      ArrayRef<AffineMap>{map(in), map(window), map(out)}, loops,
      [&](OpBuilder &b, Location, ValueRange arguments) {
        FailureOr<Values> results =
            inlineReducer(b, op, {arguments[2], arguments[0]});
        isKnown = succeeded(results);
        linalg::YieldOp::create(b, loc,
                                isKnown ? results->front() : arguments[2]);
      });
  if (!isKnown)
    return failure();
  return Values{generic.getResult(0)};
}

Lowered hlo::lowerReduction(OpBuilder &builder, Operation *op) {
  if (!hasReducer(op))
    return std::nullopt;
  if (!hasBody(op))
    return FailureOr<Values>(emitNoLowering(op)
                             << "with a region of another form");
  return op->getName().stripDialect() == "reduce" ? createReduce(builder, op)
                                                  : createWindows(builder, op);
}
