//===- PerDevice.cpp - What one of several devices holds ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a function with shardings into the program of one device. Values that
// are needed in another sharding than they have are communicated, as are parts
// of sums; both are buffers of their own. The analysis then runs on that
// program as on any other.
//
//===----------------------------------------------------------------------===//

#include "PerDevice.h"
#include "ShardingPropagation.h"
#include "es/Foreign/Types.h"
#include "es/OpModel/CustomCalls.h"
#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"
#include "es/OpModel/Sharding.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Visitors.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::es;

namespace {
class Localizer {
public:
  Localizer(FunctionOpInterface func, ShardingReader &reader, int64_t device)
      : func(func), reader(reader), device(device) {}
  LocalFunction run();

private:
  void enter(Operation *op);
  void leave(Operation *op);
  void shardResult(OpResult result);
  void fitOperands(Operation *op);
  void fitOperand(OpOperand &operand, const DimensionSources &sources,
                  const Sharding &result);
  Sharding getComputed(Operation *op, const DimensionSources &sources,
                       const Sharding &wanted);
  void reduceParts(OpResult result, const DimensionSources &sources,
                   const Sharding &wanted);
  void fitReturn(Operation *terminator);
  void fitYields(Operation *op);
  void fitTo(OpOperand &operand, const Sharding &wanted);
  Value reshard(OpBuilder &builder, Value value, const Sharding &to,
                StringRef target);
  void set(Value value, Sharding sharding);
  void setTypes();

  FunctionOpInterface func;
  ShardingReader &reader;
  int64_t device;
  LocalFunction result;
  /// How values are to be split, and how they are: those of communication too.
  llvm::MapVector<Value, Sharding> solved, shardings;
  /// How deep in regions whose values are local already.
  unsigned manual = 0;
};
} // namespace

void Localizer::set(Value value, Sharding sharding) {
  if (sharding.device &&
      !llvm::is_contained(result.maximalDevices, *sharding.device))
    result.maximalDevices.push_back(*sharding.device);
  shardings[value] = std::move(sharding);
}

//===----------------------------------------------------------------------===//
// Shardings of results
//===----------------------------------------------------------------------===//

void Localizer::shardResult(OpResult value) {
  if (!isMemoryType(value.getType()))
    return;
  auto it = solved.find(value);
  Sharding sharding = it == solved.end() ? getReplicated(value) : it->second;
  Operation *op = value.getOwner();
  // Loops and branches are split as what they carry.
  if (!isWhile(op) && !isBranch(op) && !manual && getRank(value) &&
      !sharding.isSplit() && !getStatedSharding(value, reader) &&
      !getDimensionSources(op, value.getResultNumber()) &&
      getOpFacts(op).results[value.getResultNumber()].kind == ResultKind::New)
    ++result.numUnknown;
  set(value, std::move(sharding));
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

/// A new value, `value` in the sharding `to`.
Value Localizer::reshard(OpBuilder &builder, Value value, const Sharding &to,
                         StringRef target) {
  Value moved =
      createCustomCall(builder, NameLoc::get(builder.getStringAttr(target)),
                       ("es." + target).str(), value, value.getType())
          ->getResult(0);
  set(moved, to);
  return moved;
}

static bool overlapsAny(const SplitDimension &split,
                        ArrayRef<SplitDimension> others) {
  return llvm::any_of(others, [&](const SplitDimension &other) {
    return other.overlaps(split);
  });
}

/// How the op makes its result. Where both sides of a product are split along
/// what is summed, each device has a part of the whole, whatever the result is
/// to be split along.
Sharding Localizer::getComputed(Operation *op, const DimensionSources &sources,
                                const Sharding &wanted) {
  Sharding computed = wanted;
  for (auto &[left, right] : sources.contracted) {
    auto l = shardings.find(op->getOperand(left.first)),
         r = shardings.find(op->getOperand(right.first));
    if (l == shardings.end() || r == shardings.end() ||
        left.second >= l->second.dimensions.size() ||
        right.second >= r->second.dimensions.size())
      continue;
    const SplitDimension &summed = l->second.dimensions[left.second];
    if (summed.axes.empty() ||
        summed.axes != r->second.dimensions[right.second].axes)
      continue;
    for (SplitDimension &split : computed.dimensions)
      if (split.overlaps(summed))
        split.axes.clear();
  }
  return computed;
}

/// Dimensions that the result does not split alike have to be whole, or split
/// as the result's are.
void Localizer::fitOperand(OpOperand &operand, const DimensionSources &sources,
                           const Sharding &to) {
  auto it = shardings.find(operand.get());
  if (it == shardings.end() || !it->second.isSplit())
    return;
  Sharding wanted = it->second;
  bool changed = false;
  for (auto [dim, split] : llvm::enumerate(wanted.dimensions)) {
    if (split.axes.empty())
      continue;
    std::pair<unsigned, unsigned> here(operand.getOperandNumber(), dim);
    // A part of a sum on each device, unless these devices split the result.
    if (llvm::is_contained(sources.summed, here) &&
        !overlapsAny(split, to.dimensions))
      continue;
    const SplitDimension *target = nullptr;
    for (auto [result, list] : llvm::enumerate(sources.dimensions))
      if (llvm::is_contained(list, here))
        target = &to.dimensions[result];
    if (target && target->axes == split.axes)
      continue;
    split.axes = target ? target->axes : SmallVector<DeviceAxis, 2>();
    changed = true;
  }
  if (!changed)
    return;
  OpBuilder builder(operand.getOwner());
  operand.set(reshard(builder, operand.get(), wanted, "reshard"));
  ++result.numReshards;
}

/// Each device has a part of the sum where a dimension that is summed is split.
void Localizer::reduceParts(OpResult value, const DimensionSources &sources,
                            const Sharding &wanted) {
  Operation *op = value.getOwner();
  bool isPartial = llvm::any_of(sources.summed, [&](auto here) {
    auto it = shardings.find(op->getOperand(here.first));
    return it != shardings.end() &&
           here.second < it->second.dimensions.size() &&
           !it->second.dimensions[here.second].axes.empty();
  });
  if (!isPartial)
    return;
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  Value sum = reshard(builder, value, wanted, "all-reduce");
  value.replaceAllUsesExcept(sum, sum.getDefiningOp());
  ++result.numReductions;
}

void Localizer::fitOperands(Operation *op) {
  if (op->getNumRegions() && op->getName().stripDialect() != "reduce")
    return;
  for (OpResult value : op->getResults()) {
    auto it = shardings.find(value);
    std::optional<DimensionSources> sources =
        getDimensionSources(op, value.getResultNumber());
    if (it == shardings.end() || !sources)
      continue;
    Sharding wanted = it->second;
    Sharding computed = getComputed(op, *sources, wanted);
    set(value, computed);
    if (!isShardingConstraint(op))
      for (OpOperand &operand : op->getOpOperands())
        fitOperand(operand, *sources, computed);
    reduceParts(value, *sources, wanted);
  }
}

/// Results of the function in the shardings that it states for them.
void Localizer::fitReturn(Operation *terminator) {
  OpBuilder builder(terminator);
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    auto it = shardings.find(operand.get());
    if (it == shardings.end() || index >= func.getNumResults())
      continue;
    std::optional<Sharding> stated =
        reader.read(getShardingAttr(func.getResultAttrDict(index)), 0,
                    getRank(operand.get()));
    if (!stated)
      continue;
    Sharding current = it->second;
    // Open dimensions are whatever they are.
    for (auto [split, now] : llvm::zip(stated->dimensions, current.dimensions))
      if (split.isOpen && split.axes.empty())
        split.axes = now.axes;
    if (stated->sameAs(current))
      continue;
    operand.set(reshard(builder, operand.get(), *stated, "reshard"));
    ++result.numReshards;
  }
}

/// Communicates the operand if it is split otherwise.
void Localizer::fitTo(OpOperand &operand, const Sharding &wanted) {
  auto it = shardings.find(operand.get());
  if (it == shardings.end() || it->second.sameAs(wanted))
    return;
  OpBuilder builder(operand.getOwner());
  operand.set(reshard(builder, operand.get(), wanted, "reshard"));
  ++result.numReshards;
}

/// What a loop or a branch yields is split as its result.
void Localizer::fitYields(Operation *op) {
  for (Region &region : op->getRegions()) {
    Operation *terminator = region.hasOneBlock() && !region.front().empty()
                                ? &region.front().back()
                                : nullptr;
    if (!terminator || terminator->getNumOperands() != op->getNumResults() ||
        (isWhile(op) && &region == &op->getRegion(0)))
      continue;
    for (OpOperand &operand : terminator->getOpOperands())
      if (auto it = solved.find(op->getResult(operand.getOperandNumber()));
          it != solved.end())
        fitTo(operand, Sharding(it->second));
  }
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

void Localizer::enter(Operation *op) {
  if (isManualComputation(op)) {
    // Operands arrive as in_shardings says; the body is local.
    for (OpOperand &operand : op->getOpOperands())
      if (std::optional<Sharding> wanted =
              reader.read(getInShardings(op), operand.getOperandNumber(),
                          getRank(operand.get())))
        fitTo(operand, *wanted);
    for (BlockArgument local : op->getRegion(0).getArguments())
      if (auto it = solved.find(local); it != solved.end())
        set(local, Sharding(it->second));
    ++manual;
  }
  if (!isWhile(op))
    return;
  for (OpResult carried : op->getResults()) {
    auto it = solved.find(carried);
    if (it == solved.end())
      continue;
    fitTo(op->getOpOperand(carried.getResultNumber()), it->second);
    for (Region &region : op->getRegions())
      if (carried.getResultNumber() < region.getNumArguments())
        set(region.getArgument(carried.getResultNumber()),
            Sharding(it->second));
  }
}

void Localizer::leave(Operation *op) {
  if (isManualComputation(op))
    --manual;
  if (op->hasTrait<OpTrait::ReturnLike>() && op->getParentOp() == func)
    return fitReturn(op);
  for (OpResult value : op->getResults())
    shardResult(value);
  if (isWhile(op) || isBranch(op))
    return fitYields(op);
  fitOperands(op);
  // A constraint that changes something is communication.
  if (isShardingConstraint(op) && op->getNumOperands() == 1) {
    auto from = shardings.find(op->getOperand(0));
    Sharding to = shardings[op->getResult(0)];
    if (from == shardings.end() || from->second.sameAs(to))
      return;
    OpBuilder builder(op);
    op->replaceAllUsesWith(
        ValueRange(reshard(builder, op->getOperand(0), to, "reshard")));
    ++result.numReshards;
  }
}

void Localizer::setTypes() {
  for (auto &[value, sharding] : shardings) {
    ShapedType type = getCarriedShape(value.getType());
    if (!type || !type.hasRank() ||
        sharding.dimensions.size() != size_t(type.getRank()))
      continue;
    SmallVector<int64_t> shape = sharding.getLocalShape(type.getShape());
    // A scalar on another device keeps its few bytes.
    if (sharding.device && *sharding.device != device && !shape.empty())
      shape.front() = 0;
    if (Type local = withForeignShape(value.getType(), shape))
      value.setType(local);
  }
}

/// The body in place of the op: what was split for it is what it works on.
static void inlineManual(FunctionOpInterface func) {
  SmallVector<Operation *> ops;
  func->walk([&](Operation *op) {
    if (isManualComputation(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    Block &body = op->getRegion(0).front();
    Operation *terminator = body.getTerminator();
    if (terminator->getNumOperands() != op->getNumResults())
      continue;
    for (auto [argument, operand] :
         llvm::zip(body.getArguments(), op->getOperands()))
      argument.replaceAllUsesWith(operand);
    op->replaceAllUsesWith(terminator->getOperands());
    terminator->erase();
    op->getBlock()->getOperations().splice(Block::iterator(op),
                                           body.getOperations());
    op->erase();
  }
}

LocalFunction Localizer::run() {
  solved = propagateShardings(func, reader);
  for (BlockArgument argument : func.getArguments()) {
    if (!isMemoryType(argument.getType()))
      continue;
    const Sharding &sharding = solved[argument];
    if (getRank(argument) && !sharding.isSplit() &&
        !reader.read(
            getShardingAttr(func.getArgAttrDict(argument.getArgNumber())), 0,
            getRank(argument)))
      ++result.numUnknown;
    set(argument, Sharding(sharding));
  }
  // Communication that is put in on the way is not walked.
  SmallVector<std::pair<Operation *, bool>> steps;
  func->walk([&](Operation *op, const WalkStage &stage) {
    if (op == func.getOperation())
      return;
    if (stage.isBeforeAllRegions())
      steps.push_back({op, true});
    if (stage.isAfterAllRegions())
      steps.push_back({op, false});
  });
  for (auto [op, isEntry] : steps)
    isEntry ? enter(op) : leave(op);
  setTypes();
  inlineManual(func);
  SmallVector<Type> results;
  Operation *terminator = func.getFunctionBody().front().getTerminator();
  llvm::append_range(results, terminator->getOperandTypes());
  func.setType(
      func.cloneTypeWith(func.getFunctionBody().getArgumentTypes(), results));
  return std::move(result);
}

bool mlir::es::isSharded(FunctionOpInterface func, ShardingReader &reader) {
  if (!func.getFunctionBody().hasOneBlock())
    return false;
  auto splits = [&](Attribute attribute, Value value, unsigned index) {
    std::optional<Sharding> sharding =
        reader.read(attribute, index, getRank(value));
    return sharding && sharding->isSplit();
  };
  for (BlockArgument argument : func.getArguments())
    if (splits(getShardingAttr(func.getArgAttrDict(argument.getArgNumber())),
               argument, 0))
      return true;
  if (Operation *terminator = func.getFunctionBody().front().getTerminator();
      terminator->getNumOperands() == func.getNumResults())
    for (OpOperand &operand : terminator->getOpOperands())
      if (splits(getShardingAttr(
                     func.getResultAttrDict(operand.getOperandNumber())),
                 operand.get(), 0))
        return true;
  WalkResult found = func.getFunctionBody().walk([&](Operation *op) {
    Attribute attribute = getResultShardings(op);
    for (OpResult value : op->getResults())
      if (attribute && splits(attribute, value, value.getResultNumber()))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return found.wasInterrupted();
}

LocalFunction mlir::es::makeLocal(FunctionOpInterface func,
                                  ShardingReader &reader, int64_t device) {
  return Localizer(func, reader, device).run();
}
