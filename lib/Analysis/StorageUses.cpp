//===- StorageUses.cpp - What uses say of storages ------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StorageUses.h"
#include "es/OpModel/OpModel.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

unsigned StorageUses::getNode(Value value) const {
  auto it = nodeOf.find(value);
  return it == nodeOf.end() ? kNoNode : it->second;
}

const StorageUses::Node *StorageUses::lookupStored(Value value) const {
  unsigned node = getNode(value);
  return node != kNoNode && nodes[node].root != kNoRoot ? &nodes[node]
                                                        : nullptr;
}

/// Of the node that is made at the moment.
void StorageUses::addSource(Node &node, unsigned source) {
  if (node.numSources++ == 0)
    node.firstSource = sources.size();
  sources.push_back(source);
}

void StorageUses::addRoot(Value value) {
  Node &node = nodes.emplace_back();
  node.root = roots.size();
  nodeOf[value] = nodes.size() - 1;
  rootNodes.push_back(nodes.size() - 1);
  roots.push_back({value, kNone});
}

void StorageUses::addNeutral(Value value) {
  nodes.emplace_back();
  nodeOf[value] = nodes.size() - 1;
}

void StorageUses::addAlias(Value value, Value source) {
  if (auto it = nodeOf.find(source); it != nodeOf.end())
    nodeOf[value] = unsigned(it->second);
}

void StorageUses::mark(Value value, Evidence evidence) {
  if (auto it = nodeOf.find(value); it != nodeOf.end())
    nodes[it->second].evidence |= evidence;
}

Type StorageUses::getRootType(const Node &node) const {
  return roots[node.root].value.getType();
}

static int64_t countElements(Type type) {
  auto shaped = getCarriedShape(type);
  if (!shaped || !shaped.hasRank())
    return 0;
  // A dynamic dimension counts as one: it is compared with others of its kind.
  int64_t count = 1;
  for (int64_t size : shaped.getShape())
    if (!ShapedType::isDynamic(size) &&
        llvm::MulOverflow(count, std::max<int64_t>(size, 1), count))
      return std::numeric_limits<int64_t>::max();
  return count;
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

/// The result of `op` stands for the largest of its sources, if all of them
/// stand for storages or splats.
void StorageUses::follow(Operation *op, const RoleFacts &facts,
                         ArrayRef<unsigned> stands) {
  if (op->getNumResults() != 1 || stands.empty() ||
      llvm::is_contained(stands, kNoNode))
    return;
  Node node;
  node.isExact = facts.use != RoleUse::Map;
  int64_t largest = -1;
  for (unsigned index : stands) {
    const Node &source = nodes[index];
    if (source.root == kNoRoot)
      continue;
    int64_t count =
        facts.use == RoleUse::Follow ? 0 : countElements(getRootType(source));
    if (count < largest)
      continue;
    if (count > largest) {
      sources.resize(sources.size() - node.numSources);
      node.numSources = 0;
    }
    if (node.numSources == 0)
      node.root = source.root;
    largest = count;
    node.isExact &= source.isExact;
    addSource(node, index);
  }
  nodeOf[op->getResult(0)] = nodes.size();
  nodes.push_back(node);
}

/// The parameter of a product is the operand that is a storage while the other
/// depends on data, and the right-hand one of two.
void StorageUses::visitContraction(Operation *op, const RoleFacts &facts) {
  Value left = op->getOperand(facts.data), right = op->getOperand(facts.weight);
  const Node *leftNode = lookupStored(left), *rightNode = lookupStored(right);
  auto canBeWeight = [&](const Node *node) {
    return node && node->isExact && !isData(roots[node->root].value);
  };
  bool isRight = canBeWeight(rightNode);
  if (!isRight && !canBeWeight(leftNode))
    return;
  mark(isRight ? right : left, kWeight);
  if (leftNode && rightNode)
    mark(isRight ? left : right, kData);
}

/// True if `source` is a vector that is repeated along a dimension of `result`.
bool StorageUses::isBroadcastVector(unsigned source, ShapedType result) const {
  if (source == kNoNode || nodes[source].root == kNoRoot || !result.hasRank() ||
      result.getRank() < 2)
    return false;
  auto type = getCarriedShape(getRootType(nodes[source]));
  if (!type || !type.hasRank() ||
      !isa<FloatType, ComplexType>(type.getElementType()))
    return false;
  if (type.getRank() <= 1)
    return true;
  // 1x64x1x1 is a vector too, where it meets something larger.
  int64_t longest = 1;
  for (int64_t size : type.getShape())
    longest = std::max(longest, size);
  return type.hasStaticShape() && type.getNumElements() == longest &&
         countElements(result) > longest;
}

/// A vector that is broadcast and then joined with something.
void StorageUses::markBroadcasts(Operation *op, ArrayRef<unsigned> stands) {
  ShapedType result = op->getNumResults() == 1
                          ? getCarriedShape(op->getResult(0).getType())
                          : ShapedType();
  if (!result || stands.size() < 2)
    return;
  for (unsigned node : stands)
    if (isBroadcastVector(node, result))
      nodes[node].evidence |= kVector;
}

void StorageUses::visitElements(Operation *op, const RoleFacts &facts) {
  SmallVector<unsigned, 4> stands;
  for (unsigned index : facts.sources)
    stands.push_back(getNode(op->getOperand(index)));
  markBroadcasts(op, stands);
  follow(op, facts, stands);
}

/// What the sums of a product start from is a bias if it is a vector.
void StorageUses::markBiases(Operation *op, const RoleFacts &facts) {
  for (unsigned index : facts.vectors) {
    Value result =
        op->getNumResults() ? Value(op->getResult(0)) : op->getOperand(index);
    auto type = getCarriedShape(result.getType());
    if (type && isBroadcastVector(getNode(op->getOperand(index)), type))
      mark(op->getOperand(index), kVector);
  }
}

void StorageUses::markVectors(Operation *op, ArrayRef<unsigned> operands,
                              Evidence evidence) {
  for (unsigned index : operands)
    if (index < op->getNumOperands())
      mark(op->getOperand(index), evidence);
}

void StorageUses::visitParam(ParamOp op) {
  const Node *node = lookupStored(op.getValue());
  std::optional<unsigned> root;
  if (node && node->isExact)
    root = node->root;
  params.push_back({op, root});
  addAlias(op.getResult(), op.getValue());
}

void StorageUses::visit(Operation *op) {
  if (auto param = dyn_cast<ParamOp>(op))
    return visitParam(param);
  if (auto call = dyn_cast<CallOpInterface>(op))
    return visitCall(call);
  if (op->getNumRegions() > 0)
    visitLoop(op);
  if (op->getNumResults() == 1 &&
      (op->getNumOperands() == 0 || getLoadedGlobal(op)) &&
      isMemoryType(op->getResult(0).getType())) {
    ResultKind kind = getOpFacts(op).results[0].kind;
    if (kind == ResultKind::Constant)
      return addRoot(op->getResult(0));
    if (kind == ResultKind::Splat || kind == ResultKind::Undefined)
      return addNeutral(op->getResult(0));
  }
  RoleFacts facts = getRoleFacts(op);
  switch (facts.use) {
  case RoleUse::None:
    return;
  case RoleUse::Generate:
    if (op->getNumResults() == 1)
      addNeutral(op->getResult(0));
    return;
  case RoleUse::Follow:
  case RoleUse::Scale:
  case RoleUse::Map:
    return visitElements(op, facts);
  case RoleUse::Contraction:
    visitContraction(op, facts);
    return markBiases(op, facts);
  case RoleUse::Convolution:
    mark(op->getOperand(facts.weight), kWeight);
    if (lookupStored(op->getOperand(facts.weight)))
      mark(op->getOperand(facts.data), kData);
    return markBiases(op, facts);
  case RoleUse::Lookup:
    mark(op->getOperand(facts.weight), kWeight);
    return;
  case RoleUse::Normalization:
    markVectors(op, facts.vectors, kVector);
    markVectors(op, facts.statistics, kStatistic);
    return;
  }
}
