//===- LiveRanges.cpp - When buffers are live -----------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer's segments are the union of those of its values. Most values are
// read in the block that defines them, or in loops below it: one segment, known
// from LastReads. The others are followed branch by branch and block by block.
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/LiveRanges.h"

using namespace mlir;
using namespace mlir::es;

static constexpr unsigned kUnknown = ~0u;

namespace {

class Collector {
public:
  Collector(const BufferAssignment &assignment)
      : assignment(assignment), order(assignment.getOrder()),
        lastReads(assignment.getLastReads()) {}

  std::vector<std::pair<BufferId, LiveSegment>> run();

private:
  /// Users of a value inside one region, from `start` on.
  struct Scope {
    Region *region;
    Block *block;
    unsigned start;
    SmallVector<Operation *> users;
  };

  void add(unsigned first, unsigned last);
  void addValue(Value value, ValueNumber number, unsigned start);
  void addMaterialized(Value value);
  void addPaths(Value value, unsigned start, ArrayRef<Operation *> users);
  void addBlock(Block *block, unsigned start, ArrayRef<Operation *> users);
  void addGraph(const Scope &scope);

  const BufferAssignment &assignment;
  const ProgramOrder &order;
  const LastReads &lastReads;
  std::vector<std::pair<BufferId, LiveSegment>> found;
  SmallVector<Scope> scopes;
  SmallVector<BufferId, 2> current;
};

} // namespace

void Collector::add(unsigned first, unsigned last) {
  for (BufferId buffer : current)
    found.push_back({buffer, {first, std::max(first, last)}});
}

/// The point at which each value comes into being, by number.
static std::vector<unsigned> getDefinitions(const ProgramOrder &order) {
  std::vector<unsigned> definitions(order.getValues().size(), kUnknown);
  for (unsigned point = 0, e = order.size(); point < e; ++point) {
    if (order.isEnd(point))
      continue;
    unsigned count = order.getOp(point)->getNumResults();
    std::fill_n(definitions.begin() + order.getFirstResult(point), count,
                order.getEndOfPoint(point));
  }
  for (auto [definition, value] : llvm::zip(definitions, order.getValues()))
    if (definition == kUnknown)
      definition = order.getBlockBegin(cast<BlockArgument>(value).getOwner());
  return definitions;
}

/// The op of `region` that is or contains `op`.
static Operation *getHomeOp(Operation *op, Region *region) {
  while (op->getParentRegion() != region)
    op = op->getParentOp();
  return op;
}

void Collector::addValue(Value value, ValueNumber number, unsigned start) {
  if (!assignment.getMaterializedUses(value).empty())
    return addMaterialized(value);
  LastReads::Info info = lastReads.lookup(number);
  if (!info.isRead) {
    // An argument nobody reads is freed at once; a result is written first.
    if (isa<OpResult>(value) ||
        value.getParentRegion() == &assignment.getFunction().getFunctionBody())
      add(start, start);
    return;
  }
  if (!info.pathDependent)
    return add(start, info.last);
  SmallVector<Operation *> users;
  for (OpOperand &use : value.getUses()) {
    Operation *user = order.getPointOp(use.getOwner());
    if (user != use.getOwner() || readsMemory(use))
      users.push_back(user);
  }
  if (isa<OpResult>(value))
    add(start, start);
  addPaths(value, start, users);
}

/// Written right before the first op that needs it in memory.
void Collector::addMaterialized(Value value) {
  unsigned start = order.size();
  SmallVector<Operation *> users;
  Region *region = value.getParentRegion();
  for (OpOperand *use : assignment.getMaterializedUses(value)) {
    users.push_back(order.getPointOp(use->getOwner()));
    start = std::min(start, order.getBegin(getHomeOp(users.back(), region)));
  }
  addPaths(value, start, users);
}

void Collector::addPaths(Value value, unsigned start,
                         ArrayRef<Operation *> users) {
  scopes.push_back({value.getParentRegion(), value.getParentBlock(), start,
                    SmallVector<Operation *>(users)});
  while (!scopes.empty()) {
    Scope scope = scopes.pop_back_val();
    if (scope.region->hasOneBlock())
      addBlock(scope.block, scope.start, scope.users);
    else
      addGraph(scope);
  }
}

/// From `start` to the last of `users`, all inside `block`. If that is inside a
/// branch, the value dies in each of its regions on its own.
void Collector::addBlock(Block *block, unsigned start,
                         ArrayRef<Operation *> users) {
  Operation *last = nullptr;
  for (Operation *user : users) {
    Operation *home = getHomeOp(user, block->getParent());
    if (!last || order.getBegin(last) < order.getBegin(home))
      last = home;
  }
  if (!last)
    return;
  SmallVector<Operation *> nested;
  for (Operation *user : users)
    if (user != last && last->isProperAncestor(user))
      nested.push_back(user);
  if (nested.empty())
    return add(start, order.getBegin(last));
  if (!isBranchOp(last))
    return add(start, order.getEnd(last));
  add(start, order.getBegin(last));
  for (Region &region : last->getRegions()) {
    SmallVector<Operation *> inside;
    for (Operation *user : nested)
      if (region.isAncestor(user->getParentRegion()))
        inside.push_back(user);
    if (!inside.empty())
      scopes.push_back({&region, &region.front(), order.getSpan(region).first,
                        std::move(inside)});
  }
}

/// A region with several blocks: live through each block it is live out of.
void Collector::addGraph(const Scope &scope) {
  llvm::DenseMap<Block *, SmallVector<Operation *>> usersIn;
  llvm::DenseSet<Block *> liveIn;
  SmallVector<Block *> worklist;
  auto enter = [&](Block *block) {
    if (block != scope.block && liveIn.insert(block).second)
      worklist.push_back(block);
  };
  for (Operation *user : scope.users) {
    Block *block = getHomeOp(user, scope.region)->getBlock();
    usersIn[block].push_back(user);
    enter(block);
  }
  while (!worklist.empty())
    for (Block *pred : worklist.pop_back_val()->getPredecessors())
      enter(pred);
  for (Block &block : *scope.region) {
    bool isHome = &block == scope.block;
    if (!isHome && !liveIn.contains(&block))
      continue;
    unsigned start = isHome ? scope.start : order.getBlockBegin(&block);
    if (llvm::any_of(block.getSuccessors(), [&](Block *successor) {
          return liveIn.contains(successor);
        }))
      add(start, order.getBlockEnd(&block));
    else
      addBlock(&block, start, usersIn.lookup(&block));
  }
}

std::vector<std::pair<BufferId, LiveSegment>> Collector::run() {
  std::vector<unsigned> definitions = getDefinitions(order);
  for (auto [number, value] : llvm::enumerate(order.getValues())) {
    BufferId buffer = assignment.getBuffer(ValueNumber(number));
    if (buffer == kNoBuffer)
      continue;
    ArrayRef<BufferId> targets = assignment.getTargets(buffer);
    current.assign(targets.begin(), targets.end());
    if (!assignment.getBuffers()[buffer].isAlias)
      current.push_back(buffer);
    addValue(value, number, definitions[number]);
  }
  for (auto [operand, buffer] : assignment.getCopies()) {
    current.assign({buffer});
    unsigned point = order.getBegin(operand->getOwner());
    add(point, point);
  }
  for (auto [buffer, first, last] : assignment.getHeld()) {
    ArrayRef<BufferId> targets = assignment.getTargets(buffer);
    current.assign(targets.begin(), targets.end());
    if (!assignment.getBuffers()[buffer].isAlias)
      current.push_back(buffer);
    add(first, last);
  }
  // Memory of the caller's and constants are there all the time.
  ArrayRef<Buffer> buffers = assignment.getBuffers();
  for (BufferId id = 0, e = buffers.size(); id < e; ++id)
    if (!buffers[id].owned && !buffers[id].isAlias) {
      current.assign({id});
      add(0, order.size() ? order.size() - 1 : 0);
    }
  return std::move(found);
}

LiveRanges LiveRanges::compute(const BufferAssignment &assignment) {
  std::vector<std::pair<BufferId, LiveSegment>> found =
      Collector(assignment).run();
  // Distributed over the buffers, then put in order and joined in place.
  size_t count = assignment.getBuffers().size();
  LiveRanges result;
  result.starts.assign(count + 1, 0);
  for (const auto &[id, segment] : found)
    ++result.starts[id];
  size_t sum = 0;
  for (size_t &start : result.starts)
    start = sum += start;
  result.segments.resize(found.size());
  for (const auto &[id, segment] : found)
    result.segments[--result.starts[id]] = segment;
  size_t kept = 0;
  for (BufferId id = 0; id < count; ++id) {
    size_t begin = result.starts[id], end = result.starts[id + 1];
    llvm::sort(result.segments.begin() + begin, result.segments.begin() + end,
               [](LiveSegment a, LiveSegment b) {
                 return std::tie(a.first, a.last) < std::tie(b.first, b.last);
               });
    result.starts[id] = kept;
    for (size_t i = begin; i < end; ++i) {
      LiveSegment segment = result.segments[i];
      if (kept > result.starts[id] &&
          segment.first <= result.segments[kept - 1].last + 1)
        result.segments[kept - 1].last =
            std::max(result.segments[kept - 1].last, segment.last);
      else
        result.segments[kept++] = segment;
    }
  }
  result.starts[count] = kept;
  result.segments.resize(kept);
  return result;
}

LiveSegment LiveRanges::getHull(BufferId buffer) const {
  ArrayRef<LiveSegment> all = getSegments(buffer);
  return all.empty() ? LiveSegment{0, 0}
                     : LiveSegment{all.front().first, all.back().last};
}
