//===- SinkThroughReads.cpp - Perturbations of what foreign ops take ------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For counting alone. A model of dialects that are not compiled here
// (StableHLO, TOSA, ATen, ONNX) runs after it is lowered, and then
// SinkPerturb.cpp perturbs only the rows, slices and layers that are read, each
// element by the noise of its place. Here the same memory is there at the same
// time, but an op on what a foreign op took does not say which places those
// are.
//
//===----------------------------------------------------------------------===//

#include "es/Training/EvolutionGraph.h"

#include "es/OpModel/CountedLoops.h"
#include "es/OpModel/OpModel.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::es;

/// A loop that hands a parameter from one iteration to the next as it is reads
/// it in its body: there, and not for the whole loop, it is perturbed.
static void readInside(CarryingLoop loop, PerturbOp op) {
  for (unsigned i = 0, e = loop.size(); i < e; ++i) {
    if (loop.getInit(i).get() != op.getPerturbed() ||
        loop.getYield(i).get() != loop.getArgument(i) ||
        !loop.op->getResult(i).use_empty())
      continue;
    loop.getArgument(i).replaceUsesWithIf(
        op.getPerturbed(),
        [&](OpOperand &use) { return &use != &loop.getYield(i); });
    loop.getInit(i).set(op.getParameter());
  }
}

/// What `taken` takes of the parameter, perturbed: in its own memory if it has
/// some, else, if it is a view, in a copy.
static PerturbOp perturbTaken(Operation *taken, PerturbOp op) {
  OpBuilder builder(taken->getContext());
  builder.setInsertionPointAfter(taken);
  auto type = cast<RankedTensorType>(taken->getResult(0).getType());
  Value result = taken->getResult(0), destination = result;
  if (getOpFacts(taken).results[0].kind == ResultKind::View)
    destination = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                          type.getElementType());
  taken->setOperand(0, op.getParameter());
  auto own = PerturbOp::create(builder, op.getLoc(), op.getNoise(), result,
                               op.getParam(), destination, op.getKey(),
                               op.getMember(), Value(), Value(), op.getSigma(),
                               0, op.getAntithetic(), op.getUndo());
  result.replaceAllUsesExcept(own.getPerturbed(), own);
  return own;
}

void mlir::es::sinkThroughReads(Operation *root) {
  SmallVector<PerturbOp> worklist;
  root->walk([&](PerturbOp op) {
    if (op.getPerturbed() && canPerturbParts(op))
      worklist.push_back(op);
  });
  while (!worklist.empty()) {
    PerturbOp op = worklist.pop_back_val();
    llvm::SetVector<Operation *> loops(op.getPerturbed().user_begin(),
                                       op.getPerturbed().user_end());
    for (Operation *user : loops)
      if (std::optional<CarryingLoop> loop = getCarryingLoop(user))
        readInside(*loop, op);
    llvm::SetVector<Operation *> users(op.getPerturbed().user_begin(),
                                       op.getPerturbed().user_end());
    for (Operation *user : users) {
      auto type = dyn_cast_or_null<RankedTensorType>(
          user->getNumResults() ? user->getResult(0).getType() : Type());
      if (takesForeignElements(user) && type && type.hasStaticShape() &&
          user->getOperand(0) == op.getPerturbed())
        worklist.push_back(perturbTaken(user, op));
    }
  }
}
