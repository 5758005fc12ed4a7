//===- ShardingPropagation.cpp - How unstated values are split ------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dimensions that run together, of operands and results alike, are tied. An
// open one takes over the axes of the longest of its tie, as far as its value
// does not use them elsewhere, until nothing changes: what is stated first with
// high priority, and through ops that keep dimensions as they are. Ties that
// disagree go to the first operand, last of all.
//
//===----------------------------------------------------------------------===//

#include "ShardingPropagation.h"

#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/IR/Builders.h"

#include <deque>
#include <set>
#include <vector>

using namespace mlir;
using namespace mlir::es;

Sharding mlir::es::getReplicated(Value value) {
  Sharding sharding;
  sharding.dimensions.resize(getRank(value));
  return sharding;
}

bool mlir::es::isWhile(Operation *op) {
  return op->getName().stripDialect() == "while" &&
         op->getNumOperands() == op->getNumResults();
}

bool mlir::es::isBranch(Operation *op) {
  StringRef name = op->getName().stripDialect();
  return (name == "case" || name == "if") && op->getNumRegions();
}

static int64_t getSize(Value value, unsigned dim) {
  return getCarriedShape(value.getType()).getDimSize(dim);
}

namespace {
using Axes = SmallVector<DeviceAxis, 2>;

/// A place in the program that has one sharding: a value, what a loop carries,
/// a use of a generator, or what something outside of the body wants.
struct Node {
  Value value;
  Sharding sharding;
};

/// Dimensions that run together, in the order in which they win.
struct Tie {
  SmallVector<std::pair<unsigned, unsigned>, 4> members;
  /// Of an op that keeps dimensions as they are.
  bool passesThrough;
};

class Solver {
public:
  Solver(FunctionOpInterface func, ShardingReader &reader)
      : func(func), reader(reader) {}
  llvm::MapVector<Value, Sharding> run();

private:
  // Building.
  unsigned addNode(Value value, std::optional<Sharding> stated);
  unsigned getNode(Value value);
  unsigned getNode(OpOperand &use);
  void alias(Value value, unsigned node);
  void tieAll(unsigned a, unsigned b);
  void tieWanted(OpOperand &use, std::optional<Sharding> wanted);
  void addTie(Tie tie);
  void build(Operation *op);
  void buildWhile(Operation *op);
  void buildBranch(Operation *op);
  void buildManual(Operation *op);
  void buildResult(OpResult result);

  // Solving.
  void solve(bool onlyPassing, bool takesSides, unsigned priority);
  Axes chooseAxes(const Tie &tie, bool takesSides, unsigned priority) const;
  bool takeAxes(unsigned node, unsigned dim, ArrayRef<DeviceAxis> axes,
                bool sameSizes);
  void placeDevices();
  void splitGenerators();

  FunctionOpInterface func;
  ShardingReader &reader;
  std::vector<Node> nodes;
  llvm::DenseMap<Value, unsigned> nodeOf;
  llvm::MapVector<OpOperand *, unsigned> generated;
  SmallVector<Tie> ties;
  /// Ties that each node is in.
  SmallVector<SmallVector<unsigned, 4>> tiesOf;
  std::set<unsigned> priorities = {0};
};
} // namespace

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// A generator that states no sharding.
static bool isFreeGenerator(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isGenerator(op) && !getShardingAttr(op->getAttrDictionary());
}

unsigned Solver::addNode(Value value, std::optional<Sharding> stated) {
  Node node{value, stated.value_or(getReplicated(value))};
  for (SplitDimension &split : node.sharding.dimensions) {
    split.isOpen |= !stated;
    priorities.insert(split.priority);
  }
  nodes.push_back(std::move(node));
  tiesOf.emplace_back();
  return nodes.size() - 1;
}

void Solver::alias(Value value, unsigned node) { nodeOf[value] = node; }

unsigned Solver::getNode(Value value) {
  auto it = nodeOf.find(value);
  if (it != nodeOf.end())
    return it->second;
  std::optional<Sharding> stated;
  if (auto result = dyn_cast<OpResult>(value))
    stated = getStatedSharding(result, reader);
  unsigned node = addNode(value, stated);
  nodeOf[value] = node;
  return node;
}

unsigned Solver::getNode(OpOperand &use) {
  if (!isFreeGenerator(use.get()))
    return getNode(use.get());
  auto it = generated.find(&use);
  if (it != generated.end())
    return it->second;
  unsigned node = addNode(use.get(), std::nullopt);
  generated[&use] = node;
  return node;
}

void Solver::addTie(Tie tie) {
  if (tie.members.size() < 2)
    return;
  for (auto [node, dim] : tie.members)
    if (tiesOf[node].empty() || tiesOf[node].back() != ties.size())
      tiesOf[node].push_back(ties.size());
  ties.push_back(std::move(tie));
}

void Solver::tieAll(unsigned a, unsigned b) {
  unsigned rank = nodes[a].sharding.dimensions.size();
  if (a == b || nodes[b].sharding.dimensions.size() != rank)
    return;
  for (unsigned dim = 0; dim < rank; ++dim)
    addTie({{{a, dim}, {b, dim}}, /*passesThrough=*/true});
}

/// What is outside wants the value as `wanted`; that is all it says.
void Solver::tieWanted(OpOperand &use, std::optional<Sharding> wanted) {
  if (wanted)
    tieAll(addNode(use.get(), wanted), getNode(use));
}

static Operation *getYield(Region &region) {
  return region.hasOneBlock() && !region.front().empty()
             ? &region.front().back()
             : nullptr;
}

/// All that a loop carries at one place is split alike.
void Solver::buildWhile(Operation *op) {
  for (OpResult result : op->getResults()) {
    if (!isMemoryType(result.getType()))
      continue;
    unsigned index = result.getResultNumber(), node = getNode(result);
    tieAll(getNode(op->getOpOperand(index)), node);
    for (Region &region : op->getRegions()) {
      if (index < region.getNumArguments())
        alias(region.getArgument(index), node);
      Operation *yield = getYield(region);
      if (yield && yield->getNumOperands() == op->getNumResults() &&
          &region != &op->getRegion(0))
        tieAll(getNode(yield->getOpOperand(index)), node);
    }
  }
}

void Solver::buildBranch(Operation *op) {
  for (OpResult result : op->getResults())
    for (Region &region : op->getRegions())
      if (Operation *yield = getYield(region);
          yield && yield->getNumOperands() == op->getNumResults() &&
          isMemoryType(result.getType()))
        tieAll(getNode(yield->getOpOperand(result.getResultNumber())),
               getNode(result));
}

/// The axes that are left to split `local`, a part of `whole`: manual ones come
/// first in each dimension.
static std::optional<Sharding> getFreeAxes(std::optional<Sharding> sharding,
                                           Value whole, Value local) {
  if (!sharding || getRank(whole) != getRank(local))
    return std::nullopt;
  for (auto [dim, split] : llvm::enumerate(sharding->dimensions)) {
    int64_t size = getSize(local, dim);
    int64_t parts = size > 0 ? getSize(whole, dim) / size : 1;
    while (parts > 1 && !split.axes.empty()) {
      parts /= split.axes.front().size;
      split.axes.erase(split.axes.begin());
    }
  }
  return sharding;
}

void Solver::buildManual(Operation *op) {
  Block &body = op->getRegion(0).front();
  for (auto [operand, local] :
       llvm::zip(op->getOpOperands(), body.getArguments())) {
    std::optional<Sharding> wanted = reader.read(
        getInShardings(op), operand.getOperandNumber(), getRank(operand.get()));
    tieWanted(operand, wanted);
    alias(local, addNode(local, getFreeAxes(wanted, operand.get(), local)));
  }
  Operation *yield = getYield(op->getRegion(0));
  if (!yield || yield->getNumOperands() != op->getNumResults())
    return;
  for (auto [operand, result] :
       llvm::zip(yield->getOpOperands(), op->getResults()))
    tieWanted(operand, getFreeAxes(getStatedSharding(result, reader), result,
                                   operand.get()));
}

static bool keepsDimensions(Operation *op) {
  OpClass opClass = getOpFacts(op).opClass;
  StringRef name = op->getName().stripDialect();
  return opClass == OpClass::Elementwise ||
         opClass == OpClass::ElementwiseCostly || name == "transpose" ||
         name == "reshape" || name == "optimization_barrier" || isShardyOp(op);
}

void Solver::buildResult(OpResult result) {
  Operation *op = result.getOwner();
  if (!isMemoryType(result.getType()) || isFreeGenerator(result))
    return;
  unsigned node = getNode(result);
  std::optional<DimensionSources> sources =
      getDimensionSources(op, result.getResultNumber());
  // Nobody knows how the op would make a part of it.
  if (!sources) {
    for (SplitDimension &split : nodes[node].sharding.dimensions)
      split.isOpen = false;
    return;
  }
  auto add = [&](Tie &tie, std::pair<unsigned, unsigned> from) {
    OpOperand &use = op->getOpOperand(from.first);
    if (isMemoryType(use.get().getType()) && from.second < getRank(use.get()))
      tie.members.push_back({getNode(use), from.second});
  };
  bool passesThrough = keepsDimensions(op);
  for (auto [dim, list] : llvm::enumerate(sources->dimensions)) {
    Tie tie{{}, passesThrough};
    for (std::pair<unsigned, unsigned> from : list)
      add(tie, from);
    tie.members.push_back({node, dim});
    addTie(std::move(tie));
  }
  for (auto &pair : sources->contracted) {
    Tie tie{{}, /*passesThrough=*/false};
    for (std::pair<unsigned, unsigned> from : pair)
      add(tie, from);
    addTie(std::move(tie));
  }
}

void Solver::build(Operation *op) {
  if (op->hasTrait<OpTrait::ReturnLike>() && op->getParentOp() == func) {
    for (OpOperand &operand : op->getOpOperands())
      if (operand.getOperandNumber() < func.getNumResults() &&
          isMemoryType(operand.get().getType()))
        tieWanted(operand, reader.read(getShardingAttr(func.getResultAttrDict(
                                           operand.getOperandNumber())),
                                       0, getRank(operand.get())));
    return;
  }
  if (isWhile(op))
    return buildWhile(op);
  if (isManualComputation(op))
    return buildManual(op);
  if (isBranch(op))
    return buildBranch(op);
  for (OpResult result : op->getResults())
    buildResult(result);
}

//===----------------------------------------------------------------------===//
// Solving
//===----------------------------------------------------------------------===//

static bool isPrefix(ArrayRef<DeviceAxis> a, ArrayRef<DeviceAxis> b) {
  return a.size() <= b.size() && a == b.take_front(a.size());
}

/// The axes that all members of a tie should have; none if they disagree,
/// unless sides are taken.
Axes Solver::chooseAxes(const Tie &tie, bool takesSides,
                        unsigned priority) const {
  Axes longest;
  for (auto [node, dim] : tie.members) {
    const SplitDimension &split = nodes[node].sharding.dimensions[dim];
    if (split.priority > priority || isPrefix(split.axes, longest))
      continue;
    if (isPrefix(longest, split.axes))
      longest = split.axes;
    else if (!takesSides)
      return {};
  }
  return longest;
}

bool Solver::takeAxes(unsigned index, unsigned dim, ArrayRef<DeviceAxis> axes,
                      bool sameSizes) {
  Sharding &sharding = nodes[index].sharding;
  SplitDimension &split = sharding.dimensions[dim];
  if (!split.isOpen || sharding.device || !isPrefix(split.axes, axes))
    return false;
  auto isTaken = [&](DeviceAxis axis) {
    auto overlaps = [&](DeviceAxis other) { return axis.overlaps(other); };
    for (auto [other, used] : llvm::enumerate(sharding.dimensions))
      if (other != dim && llvm::any_of(used.axes, overlaps))
        return true;
    return llvm::any_of(sharding.replicated, overlaps);
  };
  int64_t size = getSize(nodes[index].value, dim), parts = split.getParts();
  bool changed = false;
  for (DeviceAxis axis : axes.drop_front(split.axes.size())) {
    parts *= axis.size;
    // Parts of groups of dimensions are whole.
    if (isTaken(axis) || (!sameSizes && (size <= 0 || size % parts)))
      break;
    split.axes.push_back(axis);
    changed = true;
  }
  return changed;
}

void Solver::solve(bool onlyPassing, bool takesSides, unsigned priority) {
  std::deque<unsigned> work;
  SmallVector<bool> queued(ties.size(), true);
  for (unsigned tie = 0; tie < ties.size(); ++tie)
    work.push_back(tie);
  while (!work.empty()) {
    unsigned index = work.front();
    work.pop_front();
    queued[index] = false;
    const Tie &tie = ties[index];
    if (onlyPassing && !tie.passesThrough)
      continue;
    Axes axes = chooseAxes(tie, takesSides, priority);
    if (axes.empty())
      continue;
    auto sizeOf = [&](std::pair<unsigned, unsigned> member) {
      return getSize(nodes[member.first].value, member.second);
    };
    bool sameSizes = llvm::all_of(tie.members, [&](auto member) {
      return sizeOf(member) == sizeOf(tie.members.front());
    });
    for (auto [node, dim] : tie.members) {
      if (!takeAxes(node, dim, axes, sameSizes))
        continue;
      for (unsigned other : tiesOf[node])
        if (!queued[other]) {
          queued[other] = true;
          work.push_back(other);
        }
    }
  }
}

/// What is on one device is computed there.
void Solver::placeDevices() {
  func.getFunctionBody().walk([&](Operation *op) {
    for (OpResult result : op->getResults()) {
      auto it = nodeOf.find(result);
      if (it == nodeOf.end() || getStatedSharding(result, reader) ||
          !getDimensionSources(op, result.getResultNumber()))
        continue;
      for (Value operand : op->getOperands())
        if (auto from = nodeOf.find(operand); from != nodeOf.end())
          if (std::optional<int64_t> device =
                  nodes[from->second].sharding.device)
            nodes[it->second].sharding.device = device;
    }
  });
}

void Solver::splitGenerators() {
  llvm::MapVector<Operation *, SmallVector<std::pair<Value, Sharding>, 2>> made;
  for (auto [use, node] : generated) {
    Operation *op = use->get().getDefiningOp();
    SmallVector<std::pair<Value, Sharding>, 2> &variants = made[op];
    const Sharding &wanted = nodes[node].sharding;
    auto it = llvm::find_if(
        variants, [&](auto &variant) { return variant.second.sameAs(wanted); });
    if (it == variants.end()) {
      Value value = op->getResult(0);
      if (!variants.empty()) {
        OpBuilder builder(op);
        value = builder.clone(*op)->getResult(0);
      }
      variants.push_back({value, wanted});
      nodeOf[value] = node;
      it = std::prev(variants.end());
    }
    use->set(it->first);
  }
}

llvm::MapVector<Value, Sharding> Solver::run() {
  for (BlockArgument argument : func.getArguments())
    if (isMemoryType(argument.getType()))
      alias(argument,
            addNode(argument, reader.read(getShardingAttr(func.getArgAttrDict(
                                              argument.getArgNumber())),
                                          0, getRank(argument))));
  // Parents first: what a loop carries has one place.
  func.getFunctionBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { build(op); });
  for (unsigned priority : priorities) {
    solve(/*onlyPassing=*/true, /*takesSides=*/false, priority);
    solve(/*onlyPassing=*/false, /*takesSides=*/false, priority);
    solve(/*onlyPassing=*/false, /*takesSides=*/true, priority);
  }
  placeDevices();
  splitGenerators();
  llvm::MapVector<Value, Sharding> shardings;
  auto add = [&](Value value) {
    if (auto it = nodeOf.find(value); it != nodeOf.end())
      shardings[value] = nodes[it->second].sharding;
  };
  for (BlockArgument argument : func.getArguments())
    add(argument);
  func.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      add(result);
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        add(argument);
  });
  return shardings;
}

llvm::MapVector<Value, Sharding>
mlir::es::propagateShardings(FunctionOpInterface func, ShardingReader &reader) {
  return Solver(func, reader).run();
}
