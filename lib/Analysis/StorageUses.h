//===- StorageUses.h - What uses say of storages ----------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows arguments, constants and globals forward through the ops whose result
// stands for them, into loops and callees, and notes where one is used as a
// weight, a bias or a table. The values that stand for storages form a graph
// whose nodes are made in such an order that sources come first; evidence flows
// back along it in one pass over the nodes in reverse. Linear in the ops.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_ANALYSIS_STORAGEUSES_H
#define ES_LIB_ANALYSIS_STORAGEUSES_H

#include "es/Dialect/ES/IR/ES.h"
#include "es/OpModel/RoleFacts.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <functional>

namespace mlir::es {

class StorageUses {
public:
  /// What was seen of a storage.
  enum Evidence : uint8_t {
    kNone = 0,
    /// The operand of a contraction, a filter, a table.
    kWeight = 1,
    /// Broadcast onto an activation: a bias or a scale.
    kVector = 2,
    /// A running mean or variance.
    kStatistic = 4,
    /// Multiplied by another storage, which is the weight. This outweighs
    /// kWeight: the gradient of that weight is a product with this one too.
    kData = 8,
  };

  struct Root {
    /// An argument, or the result of a constant or of a load from a global.
    Value value;
    uint8_t evidence = kNone;
  };

  /// A storage that is known to be no parameter, so that a product with it says
  /// that the other side is one.
  using IsData = std::function<bool(Value)>;

  StorageUses(FunctionOpInterface func, IsData isData)
      : func(func), isData(std::move(isData)) {}
  void run();

  /// Arguments first, then constants and loads in program order, callees after
  /// callers.
  ArrayRef<Root> getRoots() const { return roots; }
  /// Every es.param op, with the index of the root it annotates or nullopt.
  ArrayRef<std::pair<ParamOp, std::optional<unsigned>>> getParams() const {
    return params;
  }

private:
  static constexpr unsigned kNoRoot = ~0u;
  struct Node {
    /// The nodes that this one stands for, in `sources`; none for a root.
    unsigned firstSource = 0, numSources = 0;
    /// The storage itself, or the largest of those it stands for; kNoRoot if
    /// it depends on no storage (a splat).
    unsigned root = kNoRoot;
    uint8_t evidence = kNone;
    /// Reached through views, conversions, dequantisations and transposes only.
    bool isExact = true;
  };

  void sortCallersFirst();
  void visitFunction(FunctionOpInterface callee);
  void visit(Operation *op);
  void visitParam(ParamOp op);
  void visitCall(CallOpInterface call);
  void visitLoop(Operation *op);
  void visitWhile(Operation *op);
  void visitContraction(Operation *op, const RoleFacts &facts);
  void visitElements(Operation *op, const RoleFacts &facts);
  void markBroadcasts(Operation *op, ArrayRef<unsigned> stands);
  void markBiases(Operation *op, const RoleFacts &facts);
  void follow(Operation *op, const RoleFacts &facts, ArrayRef<unsigned> stands);
  void markVectors(Operation *op, ArrayRef<unsigned> operands,
                   Evidence evidence);
  void propagate();

  static constexpr unsigned kNoNode = ~0u;
  unsigned getNode(Value value) const;
  void addSource(Node &node, unsigned source);
  /// The node, if it stands for a storage.
  const Node *lookupStored(Value value) const;
  void addRoot(Value value);
  void addNeutral(Value value);
  void addAlias(Value value, Value source);
  void mark(Value value, Evidence evidence);
  Type getRootType(const Node &node) const;
  bool isBroadcastVector(unsigned source, ShapedType result) const;

  FunctionOpInterface func;
  IsData isData;
  SymbolTableCollection symbols;
  std::vector<FunctionOpInterface> order;
  /// Position of each reached function in `order`.
  llvm::DenseMap<Operation *, unsigned> positions;
  /// Nodes passed for each argument of a callee; none where some call passes a
  /// computed value.
  struct Passed {
    SmallVector<unsigned, 1> nodes;
    bool isComputed = false;
  };
  llvm::DenseMap<Operation *, SmallVector<Passed>> passed;
  std::vector<Node> nodes;
  /// The sources of all nodes, node by node.
  std::vector<unsigned> sources;
  llvm::DenseMap<Value, unsigned> nodeOf;
  std::vector<Root> roots;
  std::vector<unsigned> rootNodes;
  std::vector<std::pair<ParamOp, std::optional<unsigned>>> params;
};

} // namespace mlir::es

#endif // ES_LIB_ANALYSIS_STORAGEUSES_H
