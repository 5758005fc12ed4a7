//===- MembersInFlight.cpp - Members that run side by side ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The members of a group run in step: an op for each of them, then the next op.
// What an op of one member alone would have freed is kept until the op has run
// for all, so that at each op the group needs what so many members need.
//
// A loop of the model that all members run equally often becomes one loop in
// which they run in step. Other ops with regions run for one member after the
// other.
//
//===----------------------------------------------------------------------===//

#include "MembersInFlight.h"

#include "es/Analysis/LiveRanges.h"
#include "es/Dialect/ES/IR/ES.h"
#include "es/OpModel/Donations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// What depends on the member
//===----------------------------------------------------------------------===//

namespace {
class MemberDependence {
public:
  explicit MemberDependence(scf::ForOp loop);

  bool isDependent(Value value) const { return values.contains(value); }
  /// True if the op runs for each member.
  bool isRepeated(Operation *op) const { return ops.contains(op); }
  /// True for a loop that all members run in step.
  bool runsInStep(Operation *op) const;

private:
  bool readsDependent(Operation *op) const;
  void visit(Block &block);
  void visit(scf::ForOp loop);

  llvm::DenseSet<Value> values;
  llvm::DenseSet<Operation *> ops;
};
} // namespace

bool MemberDependence::runsInStep(Operation *op) const {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop || loop.getInitArgs().empty())
    return false;
  return llvm::none_of(
      ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
      [&](Value bound) { return isDependent(bound); });
}

bool MemberDependence::readsDependent(Operation *op) const {
  return op
      ->walk([&](Operation *nested) {
        return llvm::any_of(nested->getOperands(),
                            [&](Value value) { return isDependent(value); })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void MemberDependence::visit(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  auto spread = [&](ValueRange from) {
    for (auto [value, argument, result] :
         llvm::zip(from, loop.getRegionIterArgs(), loop.getResults()))
      if (isDependent(value))
        values.insert_range(ArrayRef<Value>{argument, result});
  };
  spread(loop.getInitArgs());
  visit(*loop.getBody());
  spread(yield.getOperands());
  if (llvm::any_of(loop.getBody()->without_terminator(),
                   [&](Operation &op) { return isRepeated(&op); }))
    ops.insert(loop);
}

/// Around a loop, what it yields may depend on the member although what it
/// starts with does not.
void MemberDependence::visit(Block &block) {
  size_t before;
  do {
    before = values.size();
    for (Operation &op : block.without_terminator()) {
      if (runsInStep(&op)) {
        visit(cast<scf::ForOp>(op));
      } else if (readsDependent(&op)) {
        values.insert(op.result_begin(), op.result_end());
        ops.insert(&op);
      }
    }
  } while (values.size() != before);
}

MemberDependence::MemberDependence(scf::ForOp loop) {
  values.insert(loop.getInductionVar());
  visit(*loop.getBody());
  // To fill memory again is cheaper than to copy what filled it.
  loop.walk([&](linalg::FillOp op) {
    bool isWritten = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return isRepeated(user) && !isRepeated(op);
    });
    if (!isWritten || !op.getOutputs()[0].getDefiningOp<tensor::EmptyOp>())
      return;
    values.insert(op.getResult(0));
    ops.insert(op);
  });
}

//===----------------------------------------------------------------------===//
// What is freed where
//===----------------------------------------------------------------------===//

using Releases = llvm::MapVector<Operation *, llvm::SmallSetVector<Value, 2>>;

/// The values of `loop` that are freed behind each op.
static Releases findReleases(FunctionOpInterface step, scf::ForOp loop) {
  BufferOptions options;
  options.isDonated = isDonatedArgument;
  BufferAssignment assignment = BufferAssignment::compute(step, options);
  LiveRanges ranges = LiveRanges::compute(assignment);
  const ProgramOrder &order = assignment.getOrder();
  Releases releases;
  for (auto [value, id] : assignment.getValues()) {
    const Buffer &buffer = assignment.getBuffers()[id];
    Operation *definition = value.getDefiningOp();
    if (!definition || !loop->isProperAncestor(definition) || !buffer.owned ||
        buffer.isAlias)
      continue;
    for (LiveSegment segment : ranges.getSegments(id)) {
      Operation *op = order.getOp(segment.last);
      bool isRead = op == definition ||
                    llvm::any_of(value.getUsers(), [&](Operation *user) {
                      return op->isAncestor(user);
                    });
      if (isRead && !isa<ReleaseOp>(op) &&
          !op->hasTrait<OpTrait::IsTerminator>() &&
          op->getBlock() == definition->getBlock())
        releases[op].insert(value);
    }
  }
  return releases;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {
class Group {
public:
  /// With `arePairs`, members that follow each other are pairs.
  Group(scf::ForOp loop, const MemberDependence &dependence,
        const Releases &releases, bool arePairs)
      : loop(loop), dependence(dependence), releases(releases),
        arePairs(arePairs) {}

  /// Emits `count` members, from `first` on, that continue `fitness`.
  Value emit(OpBuilder &builder, Value first, Value fitness, unsigned count);

private:
  void emit(OpBuilder &builder, Block &block);
  void emitOnce(OpBuilder &builder, Operation &op);
  void emitRepeated(OpBuilder &builder, Operation &op);
  void emitLoop(OpBuilder &builder, scf::ForOp op);
  void release(OpBuilder &builder, Operation &op);
  /// For each value, one or, if it depends on the member, one for each.
  SmallVector<Value> spread(ValueRange values);
  bool sharesFactors(Operation *op) const;
  bool readsSharedSign(Operation *op) const;
  void mapSpread(ValueRange values, ValueRange to);

  scf::ForOp loop;
  const MemberDependence &dependence;
  const Releases &releases;
  bool arePairs;
  /// Of each member.
  SmallVector<IRMapping> members;
};
} // namespace

SmallVector<Value> Group::spread(ValueRange values) {
  SmallVector<Value> result;
  for (Value value : values) {
    unsigned count = dependence.isDependent(value) ? members.size() : 1;
    for (unsigned i = 0; i < count; ++i)
      result.push_back(members[i].lookupOrDefault(value));
  }
  return result;
}

/// `to` has the order of spread().
void Group::mapSpread(ValueRange values, ValueRange to) {
  for (Value value : values) {
    bool isDependent = dependence.isDependent(value);
    for (auto [i, member] : llvm::enumerate(members))
      member.map(value, to[isDependent ? i : 0]);
    to = to.drop_front(isDependent ? members.size() : 1);
  }
}

void Group::emitOnce(OpBuilder &builder, Operation &op) {
  Operation *clone = builder.clone(op, members.front());
  for (IRMapping &member : llvm::drop_begin(members))
    member.map(op.getResults(), clone->getResults());
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// The second member of a pair has the factors of the first, subtracted.
bool Group::sharesFactors(Operation *op) const {
  auto factors = dyn_cast<PerturbFactorsOp>(op);
  return arePairs && factors && factors.getAntithetic();
}

/// True for the product with the factor that has the sign.
bool Group::readsSharedSign(Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    auto result = dyn_cast<OpResult>(operand);
    return result && result.getResultNumber() == 1 &&
           sharesFactors(result.getOwner());
  });
}

/// Subtracts the terms of a sum of products: the bits are those of a factor of
/// the other sign.
static void subtractTerms(Operation *product) {
  Block &body = product->getRegion(0).front();
  auto sum =
      cast<arith::AddFOp>(body.getTerminator()->getOperand(0).getDefiningOp());
  OpBuilder builder(sum);
  Value difference =
      arith::SubFOp::create(builder, sum.getLoc(), sum.getLhs(), sum.getRhs());
  sum.replaceAllUsesWith(difference);
  sum.erase();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Group::emitRepeated(OpBuilder &builder, Operation &op) {
  Value carried = loop.getRegionIterArgs().front();
  Value yielded = loop.getYieldedValues().front();
  for (auto [i, member] : llvm::enumerate(members)) {
    // A member's fitness joins that of the members before it.
    if (i > 0)
      if (Value before = members[i - 1].lookupOrNull(yielded))
        member.map(carried, before);
    if (i % 2 && sharesFactors(&op)) {
      for (Value factor : op.getResults())
        member.map(factor, members[i - 1].lookup(factor));
      continue;
    }
    Operation *clone = builder.clone(op, member);
    if (i % 2 && readsSharedSign(&op))
      subtractTerms(clone);
  }
}

void Group::emitLoop(OpBuilder &builder, scf::ForOp op) {
  // An argument may depend on the member although what it starts with does not.
  SmallVector<Value> inits;
  for (auto [init, argument] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs())) {
    unsigned count = dependence.isDependent(argument) ? members.size() : 1;
    for (unsigned i = 0; i < count; ++i)
      inits.push_back(members[i].lookupOrDefault(init));
  }
  IRMapping &any = members.front();
  auto clone = scf::ForOp::create(builder, op.getLoc(),
                                  any.lookupOrDefault(op.getLowerBound()),
                                  any.lookupOrDefault(op.getUpperBound()),
                                  any.lookupOrDefault(op.getStep()), inits);
  clone->setAttrs(op->getAttrs());
  for (IRMapping &member : members)
    member.map(op.getInductionVar(), clone.getInductionVar());
  mapSpread(ValueRange(op.getRegionIterArgs()),
            ValueRange(clone.getRegionIterArgs()));
  OpBuilder inside = OpBuilder::atBlockBegin(clone.getBody());
  emit(inside, *op.getBody());
  SmallVector<Value> yielded;
  for (auto [value, argument] :
       llvm::zip(op.getYieldedValues(), op.getRegionIterArgs())) {
    unsigned count = dependence.isDependent(argument) ? members.size() : 1;
    for (unsigned i = 0; i < count; ++i)
      yielded.push_back(members[i].lookupOrDefault(value));
  }
  scf::YieldOp::create(inside, op.getLoc(), yielded);
  mapSpread(op.getResults(), clone.getResults());
}

void Group::release(OpBuilder &builder, Operation &op) {
  auto it = releases.find(&op);
  if (it == releases.end())
    return;
  SmallVector<Value> dependent = llvm::to_vector(llvm::make_filter_range(
      it->second, [&](Value value) { return dependence.isDependent(value); }));
  // What a pair shares is released once.
  llvm::SetVector<Value> all;
  all.insert_range(spread(dependent));
  if (!all.empty())
    ReleaseOp::create(builder, op.getLoc(), all.getArrayRef());
}

void Group::emit(OpBuilder &builder, Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (!dependence.isRepeated(&op)) {
      emitOnce(builder, op);
      continue;
    }
    if (dependence.runsInStep(&op))
      emitLoop(builder, cast<scf::ForOp>(op));
    else
      emitRepeated(builder, op);
    release(builder, op);
  }
}

Value Group::emit(OpBuilder &builder, Value first, Value fitness,
                  unsigned count) {
  members.assign(count, IRMapping());
  for (auto [i, member] : llvm::enumerate(members)) {
    Value index = first;
    if (i > 0)
      index = arith::AddIOp::create(
          builder, loop.getLoc(), first,
          arith::ConstantIndexOp::create(builder, loop.getLoc(), i));
    member.map(loop.getInductionVar(), index);
  }
  members.front().map(loop.getRegionIterArgs().front(), fitness);
  emit(builder, *loop.getBody());
  return members.back().lookup(loop.getYieldedValues().front());
}

void mlir::es::runInFlight(FunctionOpInterface step, scf::ForOp loop,
                           unsigned population, unsigned count) {
  MemberDependence dependence(loop);
  Releases releases = findReleases(step, loop);
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  unsigned rest = population % count;
  auto groups = scf::ForOp::create(builder, loc, loop.getLowerBound(),
                                   index(population - rest), index(count),
                                   loop.getInitArgs());
  OpBuilder inside = OpBuilder::atBlockBegin(groups.getBody());
  Group group(loop, dependence, releases, /*arePairs=*/count % 2 == 0);
  Value yielded = group.emit(inside, groups.getInductionVar(),
                             groups.getRegionIterArgs().front(), count);
  scf::YieldOp::create(inside, loc, yielded);
  Value fitness = groups.getResult(0);
  if (rest)
    fitness = group.emit(builder, index(population - rest), fitness, rest);
  loop.getResult(0).replaceAllUsesWith(fitness);
  loop.erase();
}
