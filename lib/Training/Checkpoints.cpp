//===- Checkpoints.cpp - The forward pass, evaluated again ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are evaluated again where a gradient asks for them, with what they are
// computed from, back to what is kept. What a kept state consists of is what
// crosses the border of its part and is asked for: nothing else stays live.
//
//===----------------------------------------------------------------------===//

#include "Checkpoints.h"

#include "ReverseSweep.h"

#include "es/OpModel/OpModel.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// The forward pass
//===----------------------------------------------------------------------===//

static Repeat classify(Operation *op, const ReverseSweep &sweep) {
  OpFacts facts = getOpFacts(op);
  if (facts.opClass == OpClass::ControlFlow || facts.opClass == OpClass::Call ||
      drawsRandomNumbers(op) || (op->isRegistered() && !isMemoryEffectFree(op)))
    return Repeat::Never;
  bool isActive = false, isConstant = true, isChain = true, isNew = true;
  for (auto [fact, result] : llvm::zip(facts.results, op->getResults())) {
    isActive |= sweep.isActive(result);
    isConstant &= fact.kind == ResultKind::Constant ||
                  fact.kind == ResultKind::Splat ||
                  fact.kind == ResultKind::None;
    isChain &= sweep.isParameterAlone(result);
  }
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp();
        isMemoryType(operand.getType()) &&
        !(def && getOpFacts(def).results[0].kind == ResultKind::Undefined))
      isNew = false;
  if (isConstant)
    return Repeat::Never;
  if (isChain || (isNew && facts.opClass == OpClass::Generator))
    return Repeat::Always;
  return isActive ? Repeat::Activation : Repeat::Inactive;
}

ForwardPass::ForwardPass(Block &body, Operation *end, const ReverseSweep &sweep)
    : body(&body) {
  for (Value argument : body.getArguments())
    if (isMemoryType(argument.getType()) && !sweep.isResident(argument))
      inputs.push_back(argument);
  for (Operation &op : llvm::make_range(body.begin(), end->getIterator())) {
    unsigned position = ops.size();
    positions[&op] = position;
    ops.push_back(&op);
    repeats.push_back(classify(&op, sweep));
    for (Value value : getReads(&op))
      lastUses[value] = position;
  }
}

std::optional<unsigned> ForwardPass::getPosition(Operation *op) const {
  auto it = positions.find(op);
  if (it == positions.end())
    return std::nullopt;
  return it->second;
}

SmallVector<Value> ForwardPass::getReads(Operation *op) const {
  SmallVector<Value> reads(op->getOperands());
  for (Region &region : op->getRegions())
    region.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (operand.getParentBlock() == body)
          reads.push_back(operand);
    });
  return reads;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

std::string CheckpointChoice::str() const {
  static constexpr StringRef names[] = {"none", "blocks", "sqrt", "states",
                                        "budget"};
  std::string name = names[unsigned(kind)].str();
  return kind == CheckpointKind::States ? name + "=" + std::to_string(states)
                                        : name;
}

CheckpointPlan CheckpointPlan::get(const CheckpointChoice &options,
                                   unsigned blocks) {
  CheckpointPlan plan;
  switch (options.kind) {
  case CheckpointKind::Blocks:
    break;
  case CheckpointKind::States:
    plan.slots = options.states;
    break;
  case CheckpointKind::Sqrt:
    while ((plan.group + 1) * (plan.group + 1) <= blocks)
      ++plan.group;
    // The last group is evaluated once.
    if (plan.group > 1)
      plan.whole = blocks - (blocks - 1) / plan.group * plan.group;
    break;
  case CheckpointKind::None:
  case CheckpointKind::Budget:
    plan.whole = blocks;
  }
  return plan;
}

SmallVector<unsigned> CheckpointPlan::getParts(unsigned blocks) const {
  SmallVector<unsigned> parts;
  unsigned repeated = blocks - std::min(whole, blocks);
  for (unsigned block = 0; block < repeated; block += group)
    parts.push_back(block);
  parts.push_back(repeated);
  return parts;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Checkpoints::Checkpoints(const ForwardPass &forward,
                         ArrayRef<unsigned> partBegins, unsigned slots)
    : forward(forward), partBegins(partBegins),
      schedule(scheduleCheckpoints(partBegins.size(), slots)) {
  keepStates();
}

unsigned Checkpoints::getPart(unsigned position) const {
  return llvm::upper_bound(partBegins, position) - partBegins.begin() - 1;
}

void Checkpoints::keepStates() {
  for (unsigned part : schedule[time].kept)
    kept.push_back({part, time});
}

void Checkpoints::enter(Operation *op) {
  std::optional<unsigned> position = forward.getPosition(op);
  if (!position)
    return;
  unsigned part = getPart(*position);
  while (schedule[time].step > part) {
    if (!kept.empty() && kept.back().part == schedule[time].step)
      kept.pop_back();
    ++time;
    keepStates();
  }
}

/// True if a state has been kept since then that the value belongs to. States
/// further down the stack were kept no later.
bool Checkpoints::isKept(unsigned definedIn, unsigned readIn,
                         unsigned since) const {
  const Kept *it =
      llvm::upper_bound(kept, definedIn, [](unsigned part, const Kept &state) {
        return part < state.part;
      });
  return it != kept.end() && it->part <= readIn && it->time <= since;
}

/// The value where it is there, null where it has to be evaluated again.
Value Checkpoints::find(Value value) const {
  Operation *op = value.getDefiningOp();
  std::optional<unsigned> position;
  if (op)
    position = forward.getPosition(op);
  if (!position || time == 0 || !isMemoryType(value.getType()))
    return value;
  Repeat repeat = forward.getRepeat(*position);
  if (repeat == Repeat::Never)
    return value;
  unsigned definedIn = getPart(*position);
  unsigned readIn = getPart(std::max(forward.getLastUse(value), *position));
  if (repeat == Repeat::Inactive && definedIn < readIn)
    return value;
  Version version = {value, 0};
  if (auto it = versions.find(value); it != versions.end())
    version = it->second;
  if (version.time == time)
    return version.value;
  if (repeat != Repeat::Always && isKept(definedIn, readIn, version.time))
    return version.value;
  return nullptr;
}

Value Checkpoints::get(OpBuilder &builder, Value value) {
  if (Value there = find(value))
    return there;
  llvm::DenseSet<unsigned> needed;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (find(next))
      continue;
    Operation *op = next.getDefiningOp();
    if (needed.insert(*forward.getPosition(op)).second)
      llvm::append_range(worklist, forward.getReads(op));
  }
  SmallVector<unsigned> ordered(needed.begin(), needed.end());
  llvm::sort(ordered);
  for (unsigned position : ordered) {
    Operation *op = forward.getOp(position);
    IRMapping mapping;
    for (Value read : forward.getReads(op))
      mapping.map(read, find(read));
    Operation *copy = builder.clone(*op, mapping);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
      versions[from] = {to, time};
    recomputedWork += estimateWork(op);
  }
  return find(value);
}
