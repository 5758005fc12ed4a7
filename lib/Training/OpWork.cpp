//===- OpWork.cpp - About how many operations an op takes -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From types alone, so that it works for ops of any dialect. It weighs ways to
// save memory against each other; it does not predict time. Bad for products
// over several unequal dimensions and for grouped convolutions.
//
//===----------------------------------------------------------------------===//

#include "Checkpoints.h"

#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cmath>

using namespace mlir;
using namespace mlir::es;

/// An unbound dimension counts as 1.
static SmallVector<double> getDims(Type type) {
  SmallVector<double> dims;
  if (ShapedType shaped = getCarriedShape(type); shaped && shaped.hasRank())
    for (int64_t dim : shaped.getShape())
      dims.push_back(ShapedType::isDynamic(dim) ? 1 : dim);
  return dims;
}

static double multiply(ArrayRef<double> dims) {
  double product = 1;
  for (double dim : dims)
    product *= dim;
  return product;
}

/// Of a (b m k), b (b k n) and c (b m n) the root of the product is b m n k if
/// only one of the factors has the leading dimensions b; else they count once
/// too often.
static double countProduct(ArrayRef<double> a, ArrayRef<double> b,
                           ArrayRef<double> c) {
  double batch = 1;
  if (a.size() == b.size() && b.size() == c.size() && c.size() > 2)
    for (unsigned i = 0; i + 2 < c.size() && a[i] == c[i] && b[i] == c[i]; ++i)
      batch *= c[i];
  return 2 * std::sqrt(multiply(a) * multiply(b) * multiply(c) / batch);
}

/// Each element of the result reads the filters of one output channel.
static double countConvolution(ArrayRef<double> filter,
                               ArrayRef<double> result) {
  if (filter.empty() || result.size() < 2)
    return multiply(result);
  bool isFirst = filter.front() == result[1] || filter.front() == result.back();
  double channels = isFirst ? filter.front() : filter.back();
  return 2 * multiply(result) * multiply(filter) / std::max(channels, 1.0);
}

static double countContraction(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    double points = 2;
    for (int64_t range : linalgOp.getStaticLoopRanges())
      points *= ShapedType::isDynamic(range) ? 1 : range;
    return points;
  }
  SmallVector<SmallVector<double>> factors;
  for (Value operand : op->getOperands())
    if (isMemoryType(operand.getType()) && factors.size() < 2)
      factors.push_back(getDims(operand.getType()));
  SmallVector<double> result = getDims(op->getResult(0).getType());
  if (factors.size() < 2)
    return multiply(result);
  if (getRoleFacts(op).use == RoleUse::Convolution)
    return countConvolution(factors[1], result);
  return countProduct(factors[0], factors[1], result);
}

uint64_t mlir::es::estimateWork(Operation *op) {
  OpFacts facts = getOpFacts(op);
  double work = 0;
  if (facts.opClass == OpClass::Contraction && op->getNumResults()) {
    work = countContraction(op);
  } else if (facts.opClass != OpClass::Terminator) {
    // The larger of what is read and what is written, of memory that is not
    // merely looked at in another shape.
    for (auto [fact, result] : llvm::zip(facts.results, op->getResults()))
      if (fact.kind == ResultKind::New || fact.kind == ResultKind::Destination)
        work = std::max(work, multiply(getDims(result.getType())));
    if (work > 0)
      for (auto [use, operand] : llvm::zip(facts.operands, op->getOperands()))
        if (readsContents(use) && facts.opClass != OpClass::DataMovement &&
            facts.opClass != OpClass::Materializing)
          work = std::max(work, multiply(getDims(operand.getType())));
  }
  return work < 1.8e19 ? uint64_t(work) : UINT64_MAX;
}
