//===- TrainingStep.h - The function under construction ---------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_TRAINING_TRAININGSTEP_H
#define ES_LIB_TRAINING_TRAININGSTEP_H

#include "ReverseSweep.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::es {

/// Builds one training step: the model's copy (TrainingGraph.cpp), its loss
/// (Losses.cpp), the gradients (ReverseSweep.cpp), the updates (Updates.cpp).
class TrainingStep {
public:
  TrainingStep(FunctionOpInterface model, const Inventory &inventory,
               const TrainingOptions &options)
      : model(model), inventory(inventory), options(options),
        builder(model->getContext()) {}
  virtual ~TrainingStep() = default;

  /// With `keepsAll` each derivative keeps what it reads, whatever the save
  /// policy, which then only says what is one kernel.
  FailureOr<TrainingGraph> build(bool keepsAll = false);

  /// A new argument, behind the others.
  Value addArgument(Type type, Role role, StringRef name,
                    bool isDonated = false);
  Block &body() { return graph.func.getFunctionBody().front(); }

  FunctionOpInterface model;
  const Inventory &inventory;
  const TrainingOptions &options;
  OpBuilder builder;
  TrainingGraph graph;

protected:
  /// A trainable parameter and what the step makes of it.
  struct Parameter {
    const StorageInfo *info;
    Value value;
    /// What is updated: the value, or this device's shard of it.
    Value updatable;
    Value gradient;
    SmallVector<Value, 2> states;
    SmallVector<Value, 3> updated;
  };

  // TrainingGraph.cpp
  /// True if the step updates this storage.
  virtual bool isTrained(const StorageInfo &info) const {
    return info.role == Role::TrainableParameter;
  }
  LogicalResult cloneModel(StringRef suffix);
  llvm::DenseSet<Value> findTrained();
  void takeTrainingForms();
  void addStorages();
  void addParameter(const StorageInfo &info);
  Value gatherWhereUsed(Value argument, const StorageInfo &info);
  LogicalResult differentiate(ReverseSweep &sweep, Value &loss);
  void addOptionNotes();
  void finish(Value loss);

  // Losses.cpp
  FailureOr<Value> createLoss(function_ref<bool(Value)> isActive);
  FailureOr<Value> addLosses();

  // Updates.cpp
  void takeGradient(Parameter &parameter, Value gradient);
  void addStates(Parameter &parameter);
  Value convertGradient(Parameter &parameter);
  bool hasMaster(const Parameter &parameter) const;
  unsigned getTemporaries() const;
  void createUpdate(MutableArrayRef<Parameter> updated);
  void update(Parameter &parameter);
  void updateAll();

  IRMapping mapping;
  std::vector<Parameter> parameters;
  /// What the loss is the sum of.
  SmallVector<Value, 1> losses;
  llvm::DenseSet<Value> resident;
  /// Constants and loads that an argument stands for.
  llvm::SmallSetVector<Operation *, 4> hoisted;
  Value stepNumber;
};

} // namespace mlir::es

#endif // ES_LIB_TRAINING_TRAININGSTEP_H
