//===- PerDevice.cpp - What one of several devices holds ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a function with shardings into the program of one device. Shardings go
// forward: an op without one of its own splits the dimensions that come from
// split dimensions of its operands. Values that are needed in another sharding
// are communicated, as are parts of sums; both are buffers of their own. The
// analysis then runs on that program as on any other.
//
//===----------------------------------------------------------------------===//

#include "PerDevice.h"
#include "es/Foreign/Types.h"
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
  std::optional<Sharding> getStated(OpResult result);
  Sharding propagate(OpResult result, const Sharding *stated);
  void fitOperands(Operation *op);
  void fitOperand(OpOperand &operand, const DimensionSources &sources,
                  const Sharding &result);
  void reduceParts(OpResult result, const DimensionSources &sources);
  void fitReturn(Operation *terminator);
  void fitLoop(Operation *op);
  Value reshard(OpBuilder &builder, Value value, const Sharding &to,
                StringRef target);
  void set(Value value, Sharding sharding);
  void setTypes();

  FunctionOpInterface func;
  ShardingReader &reader;
  int64_t device;
  LocalFunction result;
  llvm::MapVector<Value, Sharding> shardings;
  /// How deep in regions whose values are local already.
  unsigned manual = 0;
};
} // namespace

static unsigned getRank(Value value) {
  ShapedType type = getCarriedShape(value.getType());
  return type && type.hasRank() ? type.getRank() : 0;
}

static Sharding getReplicated(Value value) {
  Sharding sharding;
  sharding.dimensions.resize(getRank(value));
  return sharding;
}

static Attribute getShardingAttr(DictionaryAttr attributes) {
  if (!attributes)
    return nullptr;
  if (Attribute attribute = attributes.get("sdy.sharding"))
    return attribute;
  return attributes.get("mhlo.sharding");
}

static bool isManual(Operation *op) {
  return op->getName().getStringRef() == "sdy.manual_computation";
}

static bool isWhile(Operation *op) {
  return op->getName().stripDialect() == "while" &&
         op->getNumOperands() == op->getNumResults();
}

static StringRef getTarget(Operation *op) {
  if (op->getName().stripDialect() != "custom_call")
    return "";
  Attribute target = op->getAttr("call_target_name");
  if (auto symbol = dyn_cast_if_present<FlatSymbolRefAttr>(target))
    return symbol.getValue();
  auto name = dyn_cast_if_present<StringAttr>(target);
  return name ? name.getValue() : "";
}

/// Ops that say how a value is split and do nothing else.
static bool isConstraint(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "sdy.sharding_constraint" || name == "sdy.reshard" ||
         getTarget(op) == "Sharding";
}

void Localizer::set(Value value, Sharding sharding) {
  if (sharding.device &&
      !llvm::is_contained(result.maximalDevices, *sharding.device))
    result.maximalDevices.push_back(*sharding.device);
  shardings[value] = std::move(sharding);
}

//===----------------------------------------------------------------------===//
// Shardings of results
//===----------------------------------------------------------------------===//

std::optional<Sharding> Localizer::getStated(OpResult result) {
  Operation *op = result.getOwner();
  unsigned rank = getRank(result);
  if (isManual(op))
    return reader.read(op->getAttr("out_shardings"), result.getResultNumber(),
                       rank);
  if (isConstraint(op))
    if (Attribute attribute = op->getAttr("sharding"))
      return reader.read(attribute, 0, rank);
  // What comes out of a collective of Shardy.
  if (Attribute attribute = op->getAttr("out_sharding"))
    return reader.read(attribute, 0, rank);
  if (Attribute attribute = getShardingAttr(op->getAttrDictionary()))
    return reader.read(attribute, result.getResultNumber(), rank);
  return std::nullopt;
}

/// Splits every dimension as the first operand does that splits it, unless the
/// axes are in use. Of a stated sharding only open dimensions are split
/// further.
Sharding Localizer::propagate(OpResult value, const Sharding *stated) {
  Sharding sharding = stated ? *stated : getReplicated(value);
  std::optional<DimensionSources> sources =
      getDimensionSources(value.getOwner(), value.getResultNumber());
  bool unknown = !sources;
  if (sources) {
    for (auto [dim, list] : llvm::enumerate(sources->dimensions)) {
      SplitDimension &split = sharding.dimensions[dim];
      if (!split.axes.empty() || (stated && !split.isOpen))
        continue;
      for (auto [operand, from] : list) {
        auto it = shardings.find(value.getOwner()->getOperand(operand));
        if (it == shardings.end() || from >= it->second.dimensions.size())
          continue;
        const SplitDimension &source = it->second.dimensions[from];
        bool taken =
            llvm::any_of(sharding.dimensions, [&](const SplitDimension &other) {
              return other.overlaps(source);
            });
        if (source.axes.empty() || taken)
          continue;
        split.axes = source.axes;
        break;
      }
    }
    // What is on one device is computed there.
    for (Value operand : value.getOwner()->getOperands())
      if (auto it = shardings.find(operand);
          it != shardings.end() && it->second.device && !sharding.device)
        sharding.device = it->second.device;
  }
  if (unknown && !stated && !manual && sharding.dimensions.size() &&
      getOpFacts(value.getOwner()).results[value.getResultNumber()].kind ==
          ResultKind::New)
    ++result.numUnknown;
  return sharding;
}

void Localizer::shardResult(OpResult value) {
  if (!isMemoryType(value.getType()))
    return;
  std::optional<Sharding> stated = getStated(value);
  bool isOpen = stated && llvm::any_of(stated->dimensions, [](auto &split) {
                  return split.isOpen;
                });
  if (stated && !isOpen)
    return set(value, *stated);
  set(value, propagate(value, stated ? &*stated : nullptr));
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

/// A new value, `value` in the sharding `to`.
Value Localizer::reshard(OpBuilder &builder, Value value, const Sharding &to,
                         StringRef target) {
  OperationState state(NameLoc::get(builder.getStringAttr(target)),
                       "stablehlo.custom_call", value, value.getType());
  state.addAttribute("call_target_name",
                     builder.getStringAttr(("es." + target).str()));
  Value moved = builder.create(state)->getResult(0);
  set(moved, to);
  return moved;
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
    if (llvm::is_contained(sources.summed, here))
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
void Localizer::reduceParts(OpResult value, const DimensionSources &sources) {
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
  Sharding sharding = shardings[value];
  Value sum = reshard(builder, value, sharding, "all-reduce");
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
    Sharding sharding = it->second;
    if (!isConstraint(op))
      for (OpOperand &operand : op->getOpOperands())
        fitOperand(operand, *sources, sharding);
    reduceParts(value, *sources);
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

/// What a loop carries stays as it comes in.
void Localizer::fitLoop(Operation *op) {
  for (Region &region : llvm::drop_begin(op->getRegions())) {
    Operation *terminator =
        region.hasOneBlock() ? region.front().getTerminator() : nullptr;
    if (!terminator || terminator->getNumOperands() != op->getNumOperands())
      continue;
    OpBuilder builder(terminator);
    for (OpOperand &operand : terminator->getOpOperands()) {
      auto carried = shardings.find(op->getOperand(operand.getOperandNumber()));
      auto it = shardings.find(operand.get());
      if (carried == shardings.end() || it == shardings.end() ||
          it->second.sameAs(carried->second))
        continue;
      Sharding to = carried->second;
      operand.set(reshard(builder, operand.get(), to, "reshard"));
      ++result.numReshards;
    }
  }
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

void Localizer::enter(Operation *op) {
  if (isManual(op)) {
    // Operands arrive as in_shardings says; the body is local.
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands()) {
      auto it = shardings.find(operand.get());
      std::optional<Sharding> wanted =
          reader.read(op->getAttr("in_shardings"), operand.getOperandNumber(),
                      getRank(operand.get()));
      if (it == shardings.end() || !wanted || it->second.sameAs(*wanted))
        continue;
      operand.set(reshard(builder, operand.get(), *wanted, "reshard"));
      ++result.numReshards;
    }
    ++manual;
  }
  if (isWhile(op))
    for (Region &region : op->getRegions())
      for (auto [argument, init] :
           llvm::zip(region.getArguments(), op->getOperands()))
        if (auto it = shardings.find(init); it != shardings.end())
          set(argument, Sharding(it->second));
}

/// A result of a branch is split as all that it can be is.
static std::optional<Sharding>
joinBranches(OpResult value, const llvm::MapVector<Value, Sharding> &known) {
  std::optional<Sharding> joined;
  for (Region &region : value.getOwner()->getRegions()) {
    Operation *terminator = region.hasOneBlock() && !region.front().empty()
                                ? &region.front().back()
                                : nullptr;
    if (!terminator ||
        terminator->getNumOperands() != value.getOwner()->getNumResults())
      return std::nullopt;
    auto it = known.find(terminator->getOperand(value.getResultNumber()));
    if (it == known.end() || (joined && !joined->sameAs(it->second)))
      return std::nullopt;
    joined = it->second;
  }
  return joined;
}

void Localizer::leave(Operation *op) {
  if (isManual(op))
    --manual;
  if (op->hasTrait<OpTrait::ReturnLike>() && op->getParentOp() == func)
    return fitReturn(op);
  StringRef name = op->getName().stripDialect();
  for (OpResult value : op->getResults()) {
    if ((name == "case" || name == "if") && op->getNumRegions())
      if (std::optional<Sharding> joined = joinBranches(value, shardings)) {
        set(value, *joined);
        continue;
      }
    if (isWhile(op)) {
      auto it = shardings.find(op->getOperand(value.getResultNumber()));
      if (it != shardings.end())
        set(value, Sharding(it->second));
      continue;
    }
    shardResult(value);
  }
  if (isWhile(op))
    return fitLoop(op);
  fitOperands(op);
  // A constraint that changes something is communication.
  if (isConstraint(op) && op->getNumOperands() == 1) {
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
    if (isManual(op) && op->getNumRegions() == 1 &&
        op->getRegion(0).hasOneBlock() &&
        op->getRegion(0).getNumArguments() == op->getNumOperands())
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
  for (BlockArgument argument : func.getArguments()) {
    if (!isMemoryType(argument.getType()))
      continue;
    std::optional<Sharding> stated = reader.read(
        getShardingAttr(func.getArgAttrDict(argument.getArgNumber())), 0,
        getRank(argument));
    if (!stated && getRank(argument))
      ++result.numUnknown;
    set(argument, stated.value_or(getReplicated(argument)));
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
  WalkResult found = func.getFunctionBody().walk([&](Operation *op) {
    Attribute attribute = getShardingAttr(op->getAttrDictionary());
    if (op->getName().getDialectNamespace() == "sdy")
      for (StringRef name : {"sharding", "out_sharding", "out_shardings"})
        if (Attribute own = op->getAttr(name))
          attribute = own;
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
