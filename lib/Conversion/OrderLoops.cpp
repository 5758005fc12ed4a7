//===- OrderLoops.cpp - Innermost loops over neighbouring elements --------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of matrices as it is defined sums in its innermost loop, along a
// column of the right factor: one element of each cache line is used, and
// without leave to reorder the sum nothing is vectorised. With the loop over
// columns innermost every sum still runs in the same order, so that its bits
// are the same.
//
//===----------------------------------------------------------------------===//

#include "es/Conversion/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::es {
#define GEN_PASS_DEF_ORDERLOOPS
#include "es/Conversion/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

/// True if successive values of `dim` touch successive elements, or the same.
static bool isContiguous(AffineMap map, unsigned dim) {
  for (auto [i, result] : llvm::enumerate(map.getResults()))
    if (result.isFunctionOfDim(dim) &&
        (i + 1 != map.getNumResults() || !isa<AffineDimExpr>(result)))
      return false;
  return true;
}

/// The parallel loop to move inside, if the innermost one sums.
static std::optional<unsigned> getInnermost(linalg::LinalgOp op) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  if (kinds.empty() || kinds.back() != utils::IteratorType::reduction ||
      op.getNumDpsInits() != 1)
    return std::nullopt;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (out.getNumResults() == 0)
    return std::nullopt;
  auto last = dyn_cast<AffineDimExpr>(out.getResults().back());
  if (!last || kinds[last.getPosition()] != utils::IteratorType::parallel ||
      !llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
        return isContiguous(map, last.getPosition());
      }))
    return std::nullopt;
  return last.getPosition();
}

namespace {
struct OrderLoopsPass : es::impl::OrderLoopsBase<OrderLoopsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      std::optional<unsigned> innermost = getInnermost(op);
      if (!innermost)
        continue;
      rewriter.setInsertionPoint(op);
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        FailureOr<linalg::GenericOp> general =
            linalg::generalizeNamedOp(rewriter, op);
        if (failed(general))
          continue;
        generic = *general;
      }
      SmallVector<unsigned> order;
      for (unsigned i = 0, e = generic.getNumLoops(); i < e; ++i)
        if (i != *innermost)
          order.push_back(i);
      order.push_back(*innermost);
      if (failed(linalg::interchangeGenericOp(rewriter, generic, order)))
        return signalPassFailure();
    }
  }
};
} // namespace
