//===- Replay.cpp - The update of a step that was run before --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Seed, step and fitness say everything about an update: no model runs. Of a
// step that perturbs in place, the perturbations stay, as what they leave
// behind is theirs.
//
//===----------------------------------------------------------------------===//

#include "es/Training/EvolutionGraph.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::es;

/// Erases what nothing reads, from the end on. Loops over members no longer
/// carry the fitness, and lose the model.
static void eraseUnread(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op) || isa<ReleaseOp>(op)) {
      op.erase();
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    Operation *yield = loop.getBody()->getTerminator();
    for (auto [i, result] : llvm::enumerate(loop.getResults()))
      if (result.use_empty())
        yield->setOperand(i, loop.getRegionIterArg(i));
    eraseUnread(*loop.getBody());
  }
}

FailureOr<FunctionOpInterface> mlir::es::buildReplay(FunctionOpInterface step) {
  Operation *clone = step->clone();
  auto func = cast<FunctionOpInterface>(clone);
  SymbolTable::setSymbolName(clone, (step.getName() + ".replay").str());
  step->getBlock()->getOperations().insertAfter(step->getIterator(), clone);
  Block &body = func.getFunctionBody().front();
  Operation *terminator = body.getTerminator();
  auto shapes = body.getOps<ShapeFitnessOp>();
  if (shapes.empty() ||
      terminator->getOperands().back() != (*shapes.begin()).getFitness()) {
    func->erase();
    return step->emitError("expects a step of Evolution Strategies");
  }
  Value fitness = (*shapes.begin()).getFitness();
  terminator->eraseOperand(terminator->getNumOperands() - 1);
  (void)func.insertArgument(func.getNumArguments(), fitness.getType(), {},
                            fitness.getLoc());
  fitness.replaceAllUsesWith(func.getArguments().back());
  eraseUnread(body);
  func.setType(func.cloneTypeWith(body.getArgumentTypes(),
                                  terminator->getOperandTypes()));
  return func;
}
