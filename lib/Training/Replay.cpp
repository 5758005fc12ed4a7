//===- Replay.cpp - The update of a step that was run before --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Seed, step and fitness say everything about an update: no model runs.
//
//===----------------------------------------------------------------------===//

#include "es/Training/EvolutionGraph.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::es;

FailureOr<FunctionOpInterface> mlir::es::buildReplay(FunctionOpInterface step) {
  Operation *clone = step->clone();
  auto func = cast<FunctionOpInterface>(clone);
  SymbolTable::setSymbolName(clone, (step.getName() + ".replay").str());
  step->getBlock()->getOperations().insertAfter(step->getIterator(), clone);
  auto fail = [&]() -> FailureOr<FunctionOpInterface> {
    func->erase();
    return step->emitError("expects a step of Evolution Strategies that only "
                           "the update changes parameters in");
  };
  Block &body = func.getFunctionBody().front();
  auto shapes = body.getOps<ShapeFitnessOp>();
  if (shapes.empty())
    return fail();
  ShapeFitnessOp shape = *shapes.begin();
  auto loop = shape.getFitness().getDefiningOp<scf::ForOp>();
  Operation *terminator = body.getTerminator();
  if (!loop || loop->getNumResults() != 1 ||
      terminator->getOperands().back() != shape.getFitness())
    return fail();
  (void)func.insertArgument(func.getNumArguments(), loop.getResultTypes()[0],
                            {}, loop.getLoc());
  loop.getResult(0).replaceAllUsesWith(func.getArguments().back());
  terminator->eraseOperand(terminator->getNumOperands() - 1);
  loop.erase();
  func.setType(func.cloneTypeWith(body.getArgumentTypes(),
                                  terminator->getOperandTypes()));
  return func;
}
