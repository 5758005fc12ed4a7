//===- RealizeBuffers.cpp - Make the buffer assignment explicit -----------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the same assignment that the report counts, and writes it into the IR
// as allocations, copies, destinations and deallocations of tensors.
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/Deallocations.h"
#include "es/Dialect/ES/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::es {
#define GEN_PASS_DEF_REALIZEBUFFERS
#include "es/Dialect/ES/Transforms/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {

class Realizer {
public:
  explicit Realizer(const BufferAssignment &assignment)
      : assignment(assignment), builder(assignment.getFunction()) {}
  void run();

private:
  void makeCopies(Operation *op);
  void fixDestinations(Operation *op);
  void materialize();
  void deallocate(const Deallocation &site);
  Value createStorage(Location loc, Value like, Value copyOf);
  Value getHandle(BufferId id) const;

  const BufferAssignment &assignment;
  OpBuilder builder;
  llvm::DenseMap<BufferId, Value> handles;
};

} // namespace

/// The splat constant behind views of it.
static TypedAttr getSplat(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    SplatElementsAttr splat;
    if (matchPattern(value, m_Constant(&splat)))
      return dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
    OpFacts facts = getOpFacts(def);
    ResultFact fact = facts.results[cast<OpResult>(value).getResultNumber()];
    if (fact.kind != ResultKind::View)
      return nullptr;
    value = def->getOperand(fact.source);
  }
  return nullptr;
}

static bool isUndefined(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    OpFacts facts = getOpFacts(def);
    ResultFact fact = facts.results[cast<OpResult>(value).getResultNumber()];
    if (fact.kind != ResultKind::View)
      return fact.kind == ResultKind::Undefined;
    value = def->getOperand(fact.source);
  }
  return false;
}

/// A new tensor of the type of `like`, with the contents of `copyOf` if given.
Value Realizer::createStorage(Location loc, Value like, Value copyOf) {
  auto type = cast<RankedTensorType>(like.getType());
  TypedAttr splat = copyOf ? getSplat(copyOf) : nullptr;
  if (copyOf && !splat && !isUndefined(copyOf))
    return bufferization::AllocTensorOp::create(builder, loc, type,
                                                ValueRange(), copyOf);
  SmallVector<Value> sizes;
  for (int64_t i = 0, e = type.getRank(); i < e; ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(tensor::DimOp::create(builder, loc, like, i));
  Value storage =
      bufferization::AllocTensorOp::create(builder, loc, type, sizes);
  if (!splat)
    return storage;
  Value scalar = arith::ConstantOp::create(builder, loc, splat);
  return linalg::FillOp::create(builder, loc, scalar, storage).getResult(0);
}

void Realizer::makeCopies(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (assignment.isInPlace(operand))
      continue;
    builder.setInsertionPoint(op);
    Value storage = createStorage(op->getLoc(), operand.get(), operand.get());
    handles[assignment.getCopies().lookup(&operand)] = storage;
    operand.set(storage);
  }
}

/// Destinations with nothing to keep get the operand that the result takes
/// over, or fresh memory.
void Realizer::fixDestinations(Operation *op) {
  OpFacts facts = getOpFacts(op);
  for (OpResult result : op->getResults()) {
    ResultFact fact = facts.results[result.getResultNumber()];
    if (fact.kind != ResultKind::Destination)
      continue;
    OpOperand &destination = op->getOpOperand(fact.source);
    if (!assignment.isInPlace(destination))
      continue;
    if (std::optional<unsigned> taken = assignment.getTakenOver(result)) {
      destination.set(op->getOperand(*taken));
      continue;
    }
    BufferId own = assignment.getBuffer(result);
    if (assignment.getBuffers()[own].root != result)
      continue;
    builder.setInsertionPoint(op);
    destination.set(createStorage(op->getLoc(), destination.get(), Value()));
  }
}

/// Splats (and undefined values) that something needs in memory.
void Realizer::materialize() {
  std::vector<std::pair<BufferId, Value>> needed;
  for (auto [value, id] : assignment.getValues())
    if (!assignment.getMaterializedUses(value).empty())
      needed.push_back({id, value});
  llvm::sort(needed,
             [](const auto &a, const auto &b) { return a.first < b.first; });
  const ProgramOrder &order = assignment.getOrder();
  for (auto [id, value] : needed) {
    Operation *first = nullptr;
    for (OpOperand *use : assignment.getMaterializedUses(value)) {
      Operation *home =
          value.getParentBlock()->findAncestorOpInBlock(*use->getOwner());
      if (!first || order.getBegin(home) < order.getBegin(first))
        first = home;
    }
    builder.setInsertionPoint(first);
    Value storage = createStorage(first->getLoc(), value, value);
    handles[id] = storage;
    for (OpOperand *use : assignment.getMaterializedUses(value))
      use->set(storage);
  }
}

Value Realizer::getHandle(BufferId id) const {
  if (Value handle = handles.lookup(id))
    return handle;
  return assignment.getBuffers()[id].root;
}

void Realizer::deallocate(const Deallocation &site) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = site.op ? site.op->getLoc() : builder.getUnknownLoc();
  switch (site.place) {
  case Deallocation::Place::After:
    builder.setInsertionPointAfter(site.op);
    break;
  case Deallocation::Place::Before:
    builder.setInsertionPoint(site.op);
    break;
  case Deallocation::Place::BlockStart:
    builder.setInsertionPointToStart(site.block);
    break;
  case Deallocation::Place::EmptyRegion: {
    Region &region = site.op->getRegion(site.index);
    if (region.empty()) {
      builder.createBlock(&region);
      scf::YieldOp::create(builder, loc);
    }
    builder.setInsertionPointToStart(&region.front());
    break;
  }
  case Deallocation::Place::Edge: {
    // A block of its own on the edge; later frees on it go there too.
    Block *target = site.op->getSuccessor(site.index);
    SuccessorOperands operands =
        cast<BranchOpInterface>(site.op).getSuccessorOperands(site.index);
    Block *edge =
        builder.createBlock(target->getParent(), Region::iterator(target));
    SmallVector<Value> forwarded(operands.getForwardedOperands());
    cf::BranchOp::create(builder, loc, target, forwarded);
    operands.getMutableForwardedOperands().clear();
    site.op->setSuccessor(edge, site.index);
    builder.setInsertionPointToStart(edge);
    break;
  }
  }
  bufferization::DeallocTensorOp::create(builder, loc, getHandle(site.buffer));
}

void Realizer::run() {
  std::vector<Deallocation> sites = computeDeallocations(assignment);
  const ProgramOrder &order = assignment.getOrder();
  materialize();
  for (unsigned point = 0, e = order.size(); point < e; ++point) {
    if (order.isEnd(point))
      continue;
    makeCopies(order.getOp(point));
    fixDestinations(order.getOp(point));
  }
  for (const Deallocation &site : sites)
    deallocate(site);
}

/// Empty tensors and splats that nothing uses any more would be allocated.
static void eraseVirtuals(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (op->getNumResults() == 1 && isMemoryType(op->getResult(0).getType()))
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops)) {
    if (!op->use_empty())
      continue;
    Value value = op->getResult(0);
    ResultKind kind = getOpFacts(op).results[0].kind;
    if (kind == ResultKind::Undefined || kind == ResultKind::Splat ||
        (kind == ResultKind::View && (getSplat(value) || isUndefined(value))))
      op->erase();
  }
}

namespace {
struct RealizeBuffersPass : es::impl::RealizeBuffersBase<RealizeBuffersPass> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    llvm::DenseMap<Operation *, ReturnedArguments> returned;
    BufferOptions options;
    options.returnedArguments = [&](Operation *call) {
      Operation *callee =
          cast<CallOpInterface>(call).resolveCallableInTable(&symbols);
      return returned.lookup(callee);
    };
    // Callees first: what they return decides who owns it.
    SmallVector<func::FuncOp> order;
    if (failed(orderByCalls(symbols, order)))
      return signalPassFailure();
    for (func::FuncOp func : order) {
      BufferAssignment assignment = BufferAssignment::compute(func, options);
      returned[func] = assignment.getReturnedArguments();
      Realizer(assignment).run();
    }
    eraseVirtuals(getOperation());
  }

  LogicalResult orderByCalls(SymbolTableCollection &symbols,
                             SmallVectorImpl<func::FuncOp> &order);
};
} // namespace

/// Post-order of the call graph, with an explicit stack.
LogicalResult
RealizeBuffersPass::orderByCalls(SymbolTableCollection &symbols,
                                 SmallVectorImpl<func::FuncOp> &order) {
  enum State { New, Active, Done };
  llvm::DenseMap<Operation *, State> states;
  SmallVector<func::FuncOp> stack;
  for (func::FuncOp root : getOperation().getOps<func::FuncOp>()) {
    stack.push_back(root);
    while (!stack.empty()) {
      func::FuncOp func = stack.back();
      if (states[func] != New || func.isExternal()) {
        stack.pop_back();
        if (states[func] == Active)
          order.push_back(func);
        states[func] = Done;
        continue;
      }
      states[func] = Active;
      bool isRecursive = false;
      func.walk([&](CallOpInterface call) {
        auto callee = dyn_cast_if_present<func::FuncOp>(
            call.resolveCallableInTable(&symbols));
        if (!callee)
          return;
        isRecursive |= states[callee] == Active;
        if (states[callee] == New)
          stack.push_back(callee);
      });
      if (isRecursive)
        return func.emitError("recursive calls cannot be bufferized with "
                              "static ownership");
    }
  }
  return success();
}
