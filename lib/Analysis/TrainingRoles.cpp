//===- TrainingRoles.cpp - Gradients and saved activations ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a training step, what an update reads is a gradient, and what the forward
// pass computes and a gradient reads, or what it is computed again from, is a
// saved activation. In a step of Evolution Strategies, a member's own
// parameters are perturbations.
//
//===----------------------------------------------------------------------===//

#include "ProfileTotals.h"

#include "es/Dialect/ES/IR/ES.h"

using namespace mlir;
using namespace mlir::es;

void mlir::es::assignTrainingRoles(MemoryProfile &profile) {
  const BufferAssignment &assignment = profile.assignment;
  const ProgramOrder &order = assignment.getOrder();
  unsigned firstGradient = order.size();
  auto assign = [&](Value value, Role role) {
    BufferId id = assignment.getBuffer(value);
    if (id == kNoBuffer)
      return;
    SmallVector<BufferId, 2> buffers(assignment.getTargets(id));
    if (!assignment.getBuffers()[id].isAlias)
      buffers.push_back(id);
    for (BufferId buffer : buffers) {
      Role &current = profile.buffers[buffer].role;
      if (current == Role::Temporary ||
          (current == Role::SavedActivation && role == Role::Gradient))
        current = role;
    }
  };
  for (unsigned point = 0, e = order.size(); point < e; ++point) {
    if (order.isEnd(point))
      continue;
    Operation *op = order.getOp(point);
    if (auto vjp = dyn_cast<VjpOp>(op)) {
      firstGradient = std::min(firstGradient, point);
      for (Value saved : vjp.getSaved()) {
        Operation *definition = saved.getDefiningOp();
        if (!definition || order.getBegin(definition) < firstGradient)
          assign(saved, Role::SavedActivation);
      }
    } else if (auto step = dyn_cast<OptimizerStepOp>(op)) {
      for (Value gradient : step.getGradients())
        assign(gradient, Role::Gradient);
    } else if (auto perturb = dyn_cast<PerturbOp>(op)) {
      // A parameter in place is still one.
      bool isParameter =
          perturb.getParameter() == perturb.getDestination() &&
          (perturb.getUndo() || isa<BlockArgument>(perturb.getParameter()));
      if (perturb.getPerturbed() && !isParameter)
        assign(perturb.getPerturbed(), Role::Perturbation);
    } else if (auto factors = dyn_cast<PerturbFactorsOp>(op)) {
      for (Value factor : factors.getFactors())
        assign(factor, Role::Perturbation);
    } else if (firstGradient < point && !isa<ReleaseOp>(op) &&
               !op->hasTrait<OpTrait::IsTerminator>()) {
      for (Value read : op->getOperands())
        if (Operation *definition = read.getDefiningOp();
            definition && order.getBegin(definition) < firstGradient)
          assign(read, Role::SavedActivation);
    }
  }
}
