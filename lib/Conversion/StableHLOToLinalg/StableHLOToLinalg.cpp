//===- StableHLOToLinalg.cpp - StableHLO for stock passes -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Op by op, innermost first, so that a loop sees what its condition became. The
// dialect is known by name alone: an op that says something unexpected is an
// error, never a guess.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "es/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::es {
#define GEN_PASS_DEF_STABLEHLOTOLINALG
#include "es/Conversion/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::hlo;

bool hlo::isHlo(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo";
}

InFlightDiagnostic hlo::emitNoLowering(Operation *op) {
  return op->emitError() << "has no lowering: '" << op->getName() << "' ";
}

namespace {
struct StableHLOToLinalgPass
    : es::impl::StableHLOToLinalgBase<StableHLOToLinalgPass> {
  void runOnOperation() override;
};
} // namespace

/// Tensors of known shape with elements that arith computes with.
static LogicalResult checkTypes(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() ||
        !tensor.getElementType().isIntOrFloat() ||
        tensor.getElementType().isUnsignedInteger() ||
        tensor.getElementType().isSignedInteger())
      return emitNoLowering(op) << "expects tensors of static shape with "
                                   "elements of signless integers or floats, "
                                   "got "
                                << type;
  }
  return success();
}

static LogicalResult lower(Operation *op) {
  if (failed(checkTypes(op)))
    return failure();
  OpBuilder builder(op);
  for (auto group : {lowerElementwise, lowerMovement, lowerIndexing,
                     lowerReduction, lowerContraction, lowerControlFlow}) {
    Lowered values = group(builder, op);
    if (!values)
      continue;
    if (failed(*values))
      return failure();
    op->replaceAllUsesWith(**values);
    op->erase();
    return success();
  }
  return op->emitError() << "has no lowering: '" << op->getName() << "'";
}

/// Constants that became part of others, counters that nobody reads.
static void eraseUnread(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (op != root && op->getNumRegions() == 0 && isOpTriviallyDead(op))
      op->erase();
}

void StableHLOToLinalgPass::runOnOperation() {
  SmallVector<Operation *> ops;
  getOperation()->walk([&](Operation *op) {
    bool isInReducer = op->getParentOp() && hasReducer(op->getParentOp());
    if (isHlo(op) && !isInReducer && op->getName().stripDialect() != "return")
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(lower(op)))
      return signalPassFailure();
  eraseUnread(getOperation());
}
