//===- SharingGraph.cpp - Two opinions on who shares memory ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharingGraph.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include <deque>

using namespace mlir;
using namespace mlir::es;

SharingGraph::SharingGraph(func::FuncOp func, const BufferAssignment &ours,
                           const bufferization::OneShotAnalysisState &theirs)
    : ours(ours), theirs(theirs) {
  func.walk([&](Operation *op) { addOp(op); });
}

static bool isTensor(Value value) { return isa<TensorType>(value.getType()); }

void SharingGraph::add(Value from, Value to, EdgeKind kind, bool isShared,
                       Region *region) {
  for (Value end : {from, to})
    edgesOf[end].push_back(edges.size());
  bool alias = theirs.areAliasingBufferizedValues(from, to);
  edges.push_back({from, to, kind, isShared, alias, region});
  if (isShared)
    connected.unionSets(from, to);
}

void SharingGraph::addOp(Operation *op) {
  if (isa<scf::ForOp>(op))
    return addLoop(op);
  if (isa<scf::IfOp>(op))
    return addBranch(op);
  OpFacts facts = getOpFacts(op);
  auto isShared = [&](Value a, Value b) {
    BufferId buffer = ours.getBuffer(a);
    return buffer != kNoBuffer && buffer == ours.getBuffer(b);
  };
  for (OpResult result : op->getResults()) {
    if (!isTensor(result))
      continue;
    ResultFact fact = facts.results[result.getResultNumber()];
    bool isView = fact.kind == ResultKind::View;
    if (isView || fact.kind == ResultKind::Destination) {
      Value source = op->getOperand(fact.source);
      EdgeKind kind = isView ? EdgeKind::View
                      : facts.operands[fact.source] == OperandUse::ReadWrite
                          ? EdgeKind::Update
                          : EdgeKind::Overwrite;
      add(source, result, kind, isShared(source, result));
    }
    if (std::optional<unsigned> taken = ours.getTakenOver(result))
      if (op->getOperand(*taken) != op->getOperand(fact.source))
        add(op->getOperand(*taken), result, EdgeKind::TakeOver, true);
  }
}

void SharingGraph::addLoop(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [index, init] : llvm::enumerate(loop.getInitArgsMutable())) {
    if (!isTensor(init.get()))
      continue;
    OpOperand &next = yield->getOpOperand(index);
    Value argument = loop.getRegionIterArg(index),
          result = op->getResult(index);
    bool keepsInit = ours.isInPlace(init), keepsNext = ours.isInPlace(next);
    add(init.get(), argument, EdgeKind::Loop, keepsInit);
    add(init.get(), result, EdgeKind::Loop, keepsInit);
    add(next.get(), argument, EdgeKind::Loop, keepsNext);
    edges.back().isBackEdge = true;
    add(next.get(), result, EdgeKind::Loop, keepsNext);
  }
}

void SharingGraph::addBranch(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (OpOperand &operand : block.back().getOpOperands())
        if (isTensor(operand.get()))
          add(operand.get(), op->getResult(operand.getOperandNumber()),
              EdgeKind::Branch, ours.isInPlace(operand), &region);
}

bool SharingGraph::areConnected(Value a, Value b) const {
  return connected.isEquivalent(a, b);
}

/// True if two edges with a common end are never taken together: two values
/// that one result may be, one value that two sides of a branch yield. One-Shot
/// analysis takes all that may alias, on whatever path, for one class.
static bool areExclusive(const SharingEdge &a, const SharingEdge &b) {
  if (a.kind != b.kind ||
      (a.kind != EdgeKind::Branch && a.kind != EdgeKind::Loop))
    return false;
  bool isOneIf = a.region && b.region &&
                 a.region->getParentOp() == b.region->getParentOp();
  return a.to == b.to || (isOneIf && a.region != b.region);
}

std::optional<EdgeKind> SharingGraph::getTheirs(OpOperand &destination) const {
  auto found = edgesOf.find(destination.get());
  if (found == edgesOf.end())
    return std::nullopt;
  for (unsigned index : found->second) {
    const SharingEdge &edge = edges[index];
    if (edge.to.getDefiningOp() == destination.getOwner() && edge.theirs &&
        !edge.ours)
      return edge.kind;
  }
  return std::nullopt;
}

std::optional<EdgeKind> SharingGraph::findCut(Value source, Value target,
                                              Side side,
                                              Operation *except) const {
  std::deque<Value> queue = {source};
  llvm::DenseMap<Value, std::optional<EdgeKind>> cut = {{source, std::nullopt}};
  llvm::DenseMap<Value, const SharingEdge *> reachedBy;
  while (!queue.empty()) {
    Value value = queue.front();
    queue.pop_front();
    if (value == target)
      return cut[value];
    auto found = edgesOf.find(value);
    if (found == edgesOf.end())
      continue;
    for (unsigned index : found->second) {
      const SharingEdge &edge = edges[index];
      bool isOpen = side == Side::Ours ? edge.ours : edge.theirs;
      Value other = edge.from == value ? edge.to : edge.from;
      bool isExcepted = except && edge.to.getDefiningOp() == except;
      if (!isOpen || isExcepted || cut.contains(other))
        continue;
      bool isCut = side == Side::Ours ? !edge.theirs : !edge.ours;
      const SharingEdge *previous = reachedBy.lookup(value);
      if (side == Side::Theirs &&
          (edge.isBackEdge || (previous && areExclusive(*previous, edge))))
        isCut = true;
      reachedBy[other] = &edge;
      std::optional<EdgeKind> soFar = cut[value];
      cut[other] = soFar || !isCut ? soFar : edge.kind;
      queue.push_back(other);
    }
  }
  return std::nullopt;
}
