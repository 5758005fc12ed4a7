//===- CheckpointStep.cpp - A step that evaluates blocks again ------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step is read as it stands: the ops in front of the first gradient are its
// forward pass, and gradients follow in the reverse order of the ops they are
// of. Whatever a gradient reads of the forward pass is asked for where it is
// read, and evaluated again there if it is not kept.
//
//===----------------------------------------------------------------------===//

#include "Checkpoints.h"
#include "ReverseSweep.h"

#include "es/OpModel/OpModel.h"

using namespace mlir;
using namespace mlir::es;

namespace {
/// One step being rewritten.
class StepRewriter {
public:
  explicit StepRewriter(TrainingGraph &graph);
  void run(ChoosePlan choose);

private:
  bool isOf(VjpOp vjp, Operation *op) const;
  std::vector<unsigned> findPositions() const;

  TrainingGraph &graph;
  Block &body;
  OpBuilder builder;
  const TrainingOptions options;
  llvm::MapVector<Value, StringAttr> parameters;
  llvm::DenseSet<Value> resident;
  std::optional<ForwardPass> forward;
  /// What follows the forward pass.
  std::vector<Operation *> gradients;
};
} // namespace

/// A gradient, or a loop or branch of gradients.
static bool isGradient(Operation &op) {
  return op.walk([](VjpOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

StepRewriter::StepRewriter(TrainingGraph &graph)
    : graph(graph), body(graph.func.getFunctionBody().front()),
      builder(graph.func->getContext()) {
  for (const auto &[value, storage] : graph.storages) {
    bool isTrainable = storage.role == Role::TrainableParameter;
    if (isTrainable)
      parameters[value] = builder.getStringAttr(storage.name);
    if (isTrainable || storage.role == Role::FrozenParameter ||
        storage.role == Role::Constant)
      resident.insert(value);
  }
  auto end = llvm::find_if(body.without_terminator(), isGradient);
  ReverseSweep sweep(builder, options, parameters, resident);
  for (Operation &op : llvm::make_range(body.begin(), end))
    sweep.findActive(&op);
  forward.emplace(body, &*end, sweep);
  for (Operation &op : llvm::make_range(end, std::prev(body.end())))
    gradients.push_back(&op);
}

/// True if `vjp` may be of `op`: it has the name, the types, and the values
/// that are kept.
bool StepRewriter::isOf(VjpOp vjp, Operation *op) const {
  FunctionType type = vjp.getOriginalFunctionType();
  if (op->getName().getStringRef() != vjp.getOf() ||
      !llvm::equal(op->getOperandTypes(), type.getInputs()) ||
      !llvm::equal(op->getResultTypes(), type.getResults()))
    return false;
  // What the gradient computes again for itself is another value.
  auto matches = [&](Value saved, Value own) {
    Operation *def = saved.getDefiningOp();
    return saved == own || (def && !forward->getPosition(def));
  };
  auto saved = vjp.getSaved().begin();
  for (int32_t index : vjp.getSavedOperands())
    if (!matches(*saved++, op->getOperand(index)))
      return false;
  for (int32_t index : vjp.getSavedResults())
    if (!matches(*saved++, op->getResult(index)))
      return false;
  return true;
}

/// For each op behind the forward pass, the position of the op whose gradient
/// it belongs to. Gradients come in the reverse order, so that one look at each
/// op of the forward pass is enough; where equal ops could be meant, it is the
/// last of them.
std::vector<unsigned> StepRewriter::findPositions() const {
  std::vector<unsigned> positions(gradients.size());
  unsigned cursor = forward->size() - 1, waiting = 0;

  for (auto [index, op] : llvm::enumerate(gradients)) {
    auto vjp = dyn_cast<VjpOp>(op);
    bool isRegion = !vjp && op->getNumRegions();
    if (!vjp && !isRegion)
      continue;
    for (unsigned at = cursor + 1; at-- > 0;) {
      Operation *candidate = forward->getOp(at);
      if (vjp ? isOf(vjp, candidate)
              : getOpFacts(candidate).opClass == OpClass::ControlFlow) {
        cursor = at;
        break;
      }
    }
    // What was computed for this gradient stands in front of it.
    for (; waiting <= index; ++waiting)
      positions[waiting] = cursor;
  }
  for (; waiting < positions.size(); ++waiting)
    positions[waiting] = cursor;
  return positions;
}

void StepRewriter::run(ChoosePlan choose) {
  SmallVector<unsigned> blocks = findCheckpointBlocks(*forward), begins;
  CheckpointPlan plan = choose(blocks.size());
  for (unsigned block : plan.getParts(blocks.size()))
    begins.push_back(blocks[block]);
  CheckpointSummary &summary = graph.checkpoints;
  summary.blocks = blocks.size();
  summary.parts = begins.size();
  summary.forwardWork = 0;
  for (unsigned position = 0; position < forward->size(); ++position)
    summary.forwardWork += estimateWork(forward->getOp(position));
  Checkpoints checkpoints(*forward, begins, plan.slots);
  std::vector<unsigned> positions = findPositions();
  for (auto [op, position] : llvm::zip(gradients, positions)) {
    checkpoints.enter(forward->getOp(position));
    builder.setInsertionPoint(op);
    op->walk([&](Operation *reader) {
      for (OpOperand &operand : reader->getOpOperands())
        if (Operation *def = operand.get().getDefiningOp();
            def && forward->getPosition(def))
          operand.set(checkpoints.get(builder, operand.get()));
    });
  }
  summary.recomputedWork += checkpoints.getRecomputedWork();
}

void mlir::es::applyPlan(TrainingGraph &step, ChoosePlan choose) {
  StepRewriter(step).run(choose);
}

FailureOr<TrainingGraph>
mlir::es::checkpointStep(std::vector<TrainingGraph> steps,
                         const CheckpointChoice &options, PeakMeasure measure) {
  if (options.kind == CheckpointKind::Budget)
    return fitBudget(std::move(steps), options.budget, measure);
  for (TrainingGraph &other : llvm::drop_begin(steps))
    other.func->erase();
  applyPlan(steps.front(), [&](unsigned blocks) {
    return CheckpointPlan::get(options, blocks);
  });
  return std::move(steps.front());
}
