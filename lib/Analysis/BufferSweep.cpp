//===- BufferSweep.cpp - Buffers of single ops ----------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides, op by op, whether a result is a view, overwrites its destination,
// takes over a dying operand, or gets memory of its own.
//
//===----------------------------------------------------------------------===//

#include "BufferSweep.h"
#include "es/OpModel/Donations.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::es;

BufferSweep::BufferSweep(BufferAssignment &result, const BufferOptions &options)
    : result(result), options(options), order(*result.order),
      lastReads(*result.lastReads) {}

void BufferSweep::run() {
  auto isOwned = [&](BlockArgument argument) {
    return options.isDonated ? options.isDonated(argument)
                             : isDonatedArgument(argument);
  };
  if (options.model == MemoryModel::Fused)
    fusion.emplace(order, lastReads, isOwned);
  for (BlockArgument argument : result.function.getArguments())
    if (isMemoryType(argument.getType()))
      create(argument, argument.getType(), isOwned(argument));
  for (unsigned point = 0, e = order.size(); point < e; ++point) {
    current = point;
    Operation *op = order.getOp(point);
    if (order.isEnd(point)) {
      leaveRegions(op);
      continue;
    }
    if (&op->getBlock()->front() == op)
      visitBlockStart(op->getBlock());
    const OpFacts &facts = order.getFacts(point);
    if (facts.opClass == OpClass::Call)
      visitCall(op, facts);
    else if (op->hasTrait<OpTrait::IsTerminator>() ||
             (facts.opClass == OpClass::Terminator &&
              op == &op->getBlock()->back()))
      visitTerminator(op);
    else if (order.getEndOfPoint(point) != point)
      enterRegions(op);
    else
      visitOp(op, facts);
  }
}

//===----------------------------------------------------------------------===//
// Numbers; those of the op at hand need no looking up
//===----------------------------------------------------------------------===//

ValueNumber BufferSweep::getNumber(Value value) const {
  if (auto opResult = dyn_cast<OpResult>(value))
    if (opResult.getOwner() == order.getOp(current) && !order.isEnd(current))
      return order.getFirstResult(current) + opResult.getResultNumber();
  return order.getNumber(value);
}

BufferId BufferSweep::getBuffer(OpOperand &operand) const {
  if (operand.getOwner() != order.getOp(current) || order.isEnd(current))
    return getBuffer(operand.get());
  return result.getBuffer(
      order.getOperands(current)[operand.getOperandNumber()]);
}

unsigned BufferSweep::getPoint(Operation *op) const {
  return op == order.getOp(current) && !order.isEnd(current)
             ? current
             : order.getBegin(op);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

BufferId BufferSweep::create(Value root, Type type, bool owned) {
  BufferId id = result.table.size();
  Buffer &buffer = result.table.emplace_back();
  buffer.root = root;
  buffer.type = type;
  buffer.owned = owned;
  reads.emplace_back();
  if (root)
    join(root, id);
  return id;
}

void BufferSweep::join(Value value, BufferId buffer) {
  if (ValueNumber number = getNumber(value); number != kNoNumber)
    result.bufferOf[number] = buffer;
  addRead(buffer, value);
  for (BufferId target : result.getTargets(buffer))
    addRead(target, value);
}

void BufferSweep::addRead(BufferId buffer, Value value) {
  LastReads::Info info = lastReads.lookup(getNumber(value));
  reads[buffer].last = std::max(reads[buffer].last, info.last);
  reads[buffer].pathDependent |= info.pathDependent;
  reads[buffer].members.push_back(value);
}

BufferId BufferSweep::copy(OpOperand &operand) {
  BufferId id = create(Value(), operand.get().getType(), /*owned=*/true);
  result.table[id].copyFor = &operand;
  result.copies[&operand] = id;
  return id;
}

BufferId BufferSweep::createAlias(Value root) {
  BufferId id = create(root, root.getType(), /*owned=*/false);
  result.table[id].isAlias = true;
  return id;
}

void BufferSweep::addTarget(BufferId alias, BufferId target) {
  SmallVector<BufferId, 2> resolved;
  if (result.table[target].isAlias)
    resolved.assign(result.getTargets(target).begin(),
                    result.getTargets(target).end());
  else
    resolved.push_back(target);
  for (BufferId id : resolved) {
    if (id == alias || llvm::is_contained(result.targets[alias], id))
      continue;
    result.targets[alias].push_back(id);
    for (Value member : reads[alias].members)
      addRead(id, member);
  }
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool BufferSweep::isDying(BufferId buffer, Operation *op) const {
  const Reads &info = reads[buffer];
  if (info.last <= getPoint(op))
    return true;
  if (!info.pathDependent)
    return false;
  return llvm::none_of(info.members, [&](Value member) {
    return member.getParentRegion()->isAncestor(op->getParentRegion()) &&
           lastReads.isReadAfter(member, op);
  });
}

bool BufferSweep::mayOverwrite(BufferId buffer, Operation *op) const {
  return buffer != kNoBuffer && result.table[buffer].owned &&
         isDying(buffer, op);
}

bool BufferSweep::isWholeBuffer(Value value, BufferId buffer) const {
  Type type = result.table[buffer].type;
  if (value.getType() == type)
    return true;
  auto view = dyn_cast<ShapedType>(value.getType());
  auto whole = dyn_cast<ShapedType>(type);
  return view && whole && view.hasStaticShape() && whole.hasStaticShape() &&
         view.getElementType() == whole.getElementType() &&
         view.getNumElements() == whole.getNumElements();
}

bool BufferSweep::hasConflictingRead(OpOperand &destination, BufferId buffer,
                                     const OpFacts &facts) const {
  Operation *op = destination.getOwner();
  for (OpOperand &other : op->getOpOperands()) {
    BufferId read = getBuffer(other);
    bool throughAlias = llvm::is_contained(result.getTargets(read), buffer);
    if (&other == &destination || (read != buffer && !throughAlias))
      continue;
    OperandUse use = facts.operands[other.getOperandNumber()];
    if (use == OperandUse::None)
      continue;
    if (use != OperandUse::ReadElementwise || other.get() != destination.get())
      return true;
  }
  return false;
}

/// A destination that only carries an initial value (a fill, a splat), as
/// opposed to data: eager execution would not have it as a tensor.
bool BufferSweep::isFreshInit(Value value) const {
  Operation *def = value.getDefiningOp();
  if (!def)
    return false;
  return order.contains(def) &&
         order.getFacts(order.getBegin(def)).opClass == OpClass::Generator;
}

//===----------------------------------------------------------------------===//
// Single ops
//===----------------------------------------------------------------------===//

void BufferSweep::visitOp(Operation *op, const OpFacts &facts) {
  materialize(op, facts);
  for (OpResult value : op->getResults()) {
    ResultFact fact = facts.results[value.getResultNumber()];
    if (fusion && fusion->isAbsorbed(op) && fact.kind != ResultKind::None) {
      visitAbsorbed(value);
      continue;
    }
    if (fusion && fusion->isFolded(op)) {
      visitView(value, op->getOperand(0));
      continue;
    }
    switch (fact.kind) {
    case ResultKind::None:
      break;
    case ResultKind::New:
      allocateOrTakeOver(value, facts);
      break;
    case ResultKind::View:
      visitView(value, op->getOperand(fact.source));
      break;
    case ResultKind::Destination:
      visitDestination(op->getOpOperand(fact.source), facts, value);
      break;
    case ResultKind::Undefined:
      virtuals[value] = Virtual::Undefined;
      break;
    case ResultKind::Splat:
      virtuals[value] = Virtual::Splat;
      break;
    case ResultKind::Constant:
      visitConstant(value);
      break;
    }
  }
}

void BufferSweep::visitView(Value value, Value source) {
  if (auto it = virtuals.find(source); it != virtuals.end()) {
    Virtual kind = it->second;
    virtuals[value] = kind;
  } else if (BufferId buffer = getBuffer(source); buffer != kNoBuffer) {
    join(value, buffer);
  } else {
    create(value, value.getType(), /*owned=*/true);
  }
}

/// Never in memory: whoever reads it reads what it is computed from.
void BufferSweep::visitAbsorbed(OpResult value) {
  BufferId alias = createAlias(value);
  for (const FusedLeaf &leaf : fusion->getLeaves(value))
    if (BufferId source = getBuffer(leaf.value); source != kNoBuffer)
      addTarget(alias, source);
}

void BufferSweep::visitConstant(OpResult value) {
  Operation *op = value.getOwner();
  // Loads of one global share its storage.
  for (StringRef name : {"name", "global"})
    if (auto symbol = op->getAttrOfType<SymbolRefAttr>(name)) {
      auto [it, inserted] = globals.try_emplace(symbol, kNoBuffer);
      if (!inserted)
        return join(value, it->second);
      it->second = result.table.size();
    }
  BufferId id = create(value, value.getType(), /*owned=*/false);
  result.table[id].isConstant = true;
}

void BufferSweep::visitDestination(OpOperand &destination, const OpFacts &facts,
                                   OpResult value) {
  Operation *op = destination.getOwner();
  bool readsOld =
      facts.operands[destination.getOperandNumber()] == OperandUse::ReadWrite;
  if (auto it = virtuals.find(destination.get()); it != virtuals.end()) {
    if (it->second == Virtual::Splat && readsOld)
      return join(value, copy(destination));
    return allocateOrTakeOver(value, facts);
  }
  BufferId buffer = getBuffer(destination);
  bool allowed = options.model != MemoryModel::Eager || facts.alwaysInPlace ||
                 isFreshInit(destination.get());
  if (readsOld) {
    if (allowed && mayOverwrite(buffer, op) &&
        !hasConflictingRead(destination, buffer, facts))
      return join(value, buffer);
    return join(value, copy(destination));
  }
  // Contents nobody reads are not worth holding on to, except in an argument
  // that its caller gave away and that a loop or branch has not taken since.
  auto argument = dyn_cast_if_present<BlockArgument>(
      buffer == kNoBuffer ? Value() : result.table[buffer].root);
  if (allowed && argument && argument.getOwner() == op->getBlock() &&
      argument.getOwner()->isEntryBlock() && !handedAway.contains(buffer) &&
      mayOverwrite(buffer, op) &&
      !hasConflictingRead(destination, buffer, facts))
    return join(value, buffer);
  allocateOrTakeOver(value, facts);
}

static bool canTakeOver(OpResult value, Value operand) {
  if (value.getType() == operand.getType())
    return true;
  if (hasTypedMemory(value.getOwner()))
    return false;
  auto to = dyn_cast<ShapedType>(value.getType());
  auto from = dyn_cast<ShapedType>(operand.getType());
  return to && from && to.hasStaticShape() && from.hasStaticShape() &&
         to.getNumElements() == from.getNumElements() &&
         to.getElementType().isIntOrFloat() &&
         from.getElementType().isIntOrFloat() &&
         to.getElementTypeBitWidth() == from.getElementTypeBitWidth();
}

/// The fused form of a takeover: an operand is a value in memory or what it is
/// computed from.
bool BufferSweep::takeOverLeaf(OpResult value, const OpFacts &facts) {
  Operation *op = value.getOwner();
  SmallVector<FusedLeaf, 4> leaves;
  for (OpOperand &operand : op->getOpOperands()) {
    OperandUse use = facts.operands[operand.getOperandNumber()];
    if (use == OperandUse::None || virtuals.contains(operand.get()))
      continue;
    for (FusedLeaf leaf : fusion->getLeaves(operand.get())) {
      leaf.elementwise &= use == OperandUse::ReadElementwise;
      leaves.push_back(leaf);
    }
  }
  for (const FusedLeaf &leaf : leaves) {
    BufferId buffer = getBuffer(leaf.value);
    bool isFree = llvm::all_of(leaves, [&](const FusedLeaf &other) {
      return getBuffer(other.value) != buffer ||
             (other.elementwise && other.value == leaf.value);
    });
    bool isTaken = llvm::any_of(op->getResults(), [&](OpResult other) {
      return other != value && getBuffer(other) == buffer;
    });
    if (!isFree || isTaken || virtuals.contains(leaf.value) ||
        !canTakeOver(value, leaf.value) || !mayOverwrite(buffer, op) ||
        !isWholeBuffer(leaf.value, buffer))
      continue;
    join(value, buffer);
    return true;
  }
  return false;
}

void BufferSweep::allocateOrTakeOver(OpResult value, const OpFacts &facts) {
  Operation *op = value.getOwner();
  if (fusion) {
    if (!takeOverLeaf(value, facts))
      create(value, value.getType(), /*owned=*/true);
    return;
  }
  auto isTaken = [&](BufferId buffer) {
    return llvm::any_of(op->getResults(), [&](OpResult other) {
      return other != value && getBuffer(other) == buffer;
    });
  };
  if (options.model != MemoryModel::Eager || facts.alwaysInPlace)
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      if (facts.operands[index] != OperandUse::ReadElementwise)
        continue;
      BufferId buffer = getBuffer(operand);
      if (virtuals.contains(operand.get()) ||
          !canTakeOver(value, operand.get()) || !mayOverwrite(buffer, op) ||
          !isWholeBuffer(operand.get(), buffer) ||
          hasConflictingRead(operand, buffer, facts) || isTaken(buffer))
        continue;
      result.takeovers[getNumber(value)] = index + 1;
      return join(value, buffer);
    }
  create(value, value.getType(), /*owned=*/true);
}

//===----------------------------------------------------------------------===//
// Splats and undefined values that something needs in memory
//===----------------------------------------------------------------------===//

void BufferSweep::materialize(Operation *op, const OpFacts &facts) {
  if (facts.opClass != OpClass::Contraction &&
      facts.opClass != OpClass::Materializing &&
      facts.opClass != OpClass::Opaque && facts.opClass != OpClass::Call)
    return;
  for (OpOperand &operand : op->getOpOperands()) {
    OperandUse use = facts.operands[operand.getOperandNumber()];
    if (use == OperandUse::Read || use == OperandUse::ReadElementwise)
      materializeOperand(operand);
  }
}

void BufferSweep::materializeOperand(OpOperand &operand) {
  Value value = operand.get();
  if (!virtuals.contains(value))
    return;
  if (getBuffer(value) == kNoBuffer)
    create(value, value.getType(), /*owned=*/true);
  result.materialized[value].push_back(&operand);
}
