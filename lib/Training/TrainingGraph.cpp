//===- TrainingGraph.cpp - One step of training, as IR --------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The step works on a copy of the model. Trainable constants and globals become
// arguments of it, as parameters that can be updated have to be.
//
//===----------------------------------------------------------------------===//

#include "Composites.h"
#include "TrainingStep.h"

#include "es/OpModel/Derivatives.h"
#include "es/OpModel/Donations.h"
#include "es/OpModel/Torch.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::es;

Value TrainingStep::addArgument(Type type, Role role, StringRef name,
                                bool isDonated) {
  unsigned index = graph.func.getNumArguments();
  MLIRContext *context = model->getContext();
  Location loc = NameLoc::get(StringAttr::get(context, name), model->getLoc());
  NamedAttrList attrs(withDonation(DictionaryAttr::get(context), isDonated));
  if (role == Role::OptimizerState)
    attrs.set(kOptimizerStateAttrName, UnitAttr::get(context));
  (void)graph.func.insertArgument(index, type, attrs.getDictionary(context),
                                  loc);
  Value argument = graph.func.getArgument(index);
  graph.storages[argument] = {role, Type(), name.str()};
  return argument;
}

//===----------------------------------------------------------------------===//
// The copy of the model
//===----------------------------------------------------------------------===//

LogicalResult TrainingStep::cloneModel(StringRef suffix) {
  if (!model.getFunctionBody().hasOneBlock() ||
      model.getFunctionBody().front().empty())
    return model->emitError(
        "a training step expects a function of one block; structured control "
        "flow (scf) can be differentiated, branches between blocks cannot");
  // Said before a model of a million ops is copied in vain.
  if (llvm::none_of(inventory.getStorages(), [&](const StorageInfo &info) {
        return info.value && isTrained(info);
      }))
    return model->emitError("no trainable parameter; name some with '--train'");
  std::string name = (model.getName() + suffix).str();
  Operation *parent = model->getParentOp();
  while (SymbolTable::lookupSymbolIn(parent, name))
    name += "_";
  Operation *clone = model->clone(mapping);
  SymbolTable::setSymbolName(clone, name);
  model->getBlock()->getOperations().insertAfter(model->getIterator(), clone);
  graph.func = cast<FunctionOpInterface>(clone);
  // Which argument becomes which result is no longer so.
  clone->removeAttr("res_attrs");
  for (unsigned i = 0, e = graph.func.getNumArguments(); i < e; ++i) {
    const StorageInfo *info = inventory.lookup(model.getArgument(i));
    setDonated(graph.func, i, info && info->donated);
  }
  builder.setInsertionPoint(body().getTerminator());
  return success();
}

/// What depends on a trainable parameter, whether a gradient flows or not.
llvm::DenseSet<Value> TrainingStep::findTrained() {
  llvm::DenseSet<Value> trained;
  for (const StorageInfo &info : inventory.getStorages())
    if (info.value && isTrained(info))
      trained.insert(mapping.lookup(info.value));
  for (Operation &op : body())
    if (llvm::any_of(op.getOperands(),
                     [&](Value value) { return trained.contains(value); }))
      for (Value result : op.getResults())
        if (carriesGradient(result.getType()))
          trained.insert(result);
  return trained;
}

/// Ops that return more where a gradient is wanted do so here.
void TrainingStep::takeTrainingForms() {
  SmallVector<Operation *> ops;
  graph.func.getFunctionBody().walk([&](Operation *op) {
    if (!getTrainingResults(op).empty())
      ops.push_back(op);
  });
  llvm::DenseSet<Value> trained;
  if (options.eager)
    trained = findTrained();
  auto dependsOnTrained = [&](Value value) { return trained.contains(value); };
  for (Operation *op : ops) {
    if (options.eager && splitTorchOp(op, dependsOnTrained))
      continue;
    OpBuilder here(op);
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(op->getOperands());
    state.addTypes(op->getResultTypes());
    state.addTypes(getTrainingResults(op));
    state.addAttributes(op->getAttrs());
    Operation *form = here.create(state);
    op->getResult(0).replaceAllUsesWith(form->getResult(0));
    op->erase();
  }
}

/// A trainable parameter as an argument, whatever it is in the model.
void TrainingStep::addParameter(const StorageInfo &info) {
  Value value = mapping.lookup(info.value);
  if (!isa<BlockArgument>(value)) {
    Value argument =
        addArgument(value.getType(), Role::TrainableParameter, info.name);
    // Every load of a global is the same parameter.
    model.getFunctionBody().walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        if (inventory.lookup(result) != &info)
          continue;
        Value copy = mapping.lookup(result);
        copy.replaceAllUsesWith(argument);
        hoisted.insert(copy.getDefiningOp());
      }
    });
    value = argument;
  }
  auto argument = cast<BlockArgument>(value);
  IntegerAttr id;
  if (info.id && *info.id != hashParameterName(info.name))
    id = builder.getI32IntegerAttr(*info.id);
  auto attr = ParamAttr::get(model->getContext(), Trainability::Trainable,
                             builder.getStringAttr(info.name), id, info.stored,
                             info.param ? info.param.getSigma() : FloatAttr(),
                             info.param ? info.param.getLr() : FloatAttr());
  graph.func.setArgAttr(argument.getArgNumber(), "es.param", attr);
  graph.storages[value] = {Role::TrainableParameter, info.getStoredType(),
                           info.name};
  if (options.zero == 3)
    value = gatherWhereUsed(value, info);
  resident.insert(value);
  parameters.push_back({&info, value, {}, {}, {}, {}});
}

/// A device keeps a shard of the parameter and gathers the whole for each op
/// that reads it; the gradient gathers it again.
Value TrainingStep::gatherWhereUsed(Value value, const StorageInfo &info) {
  auto whole = dyn_cast<RankedTensorType>(value.getType());
  auto argument = dyn_cast<BlockArgument>(value);
  if (!whole || !whole.hasStaticShape() || !argument)
    return value;
  RankedTensorType shard = getShardType(whole, options.devices);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  argument.setType(shard);
  for (OpOperand *use : uses) {
    OpBuilder here(use->getOwner());
    use->set(AllGatherOp::create(here, value.getLoc(), whole, value,
                                 options.devices));
  }
  StepStorage &storage = graph.storages[value];
  storage.stored = nullptr;
  if (info.stored)
    storage.stored = shard.clone(info.stored);
  return value;
}

void TrainingStep::addStorages() {
  for (const StorageInfo &info : inventory.getStorages()) {
    if (!info.value)
      continue;
    if (isTrained(info)) {
      addParameter(info);
      continue;
    }
    Value value = mapping.lookup(info.value);
    graph.storages[value] = {info.role, info.getStoredType(), info.name};
    if (info.role == Role::FrozenParameter && options.zero == 3)
      gatherWhereUsed(value, info);
    if (info.role == Role::FrozenParameter || info.role == Role::Constant)
      resident.insert(value);
  }
  for (Operation *op : hoisted)
    if (op->use_empty())
      op->erase();
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

LogicalResult TrainingStep::differentiate(ReverseSweep &sweep, Value &loss) {
  llvm::DenseMap<Operation *, SmallVector<unsigned, 1>> firstUsers;
  for (auto [index, parameter] : llvm::enumerate(parameters)) {
    Operation *first = nullptr;
    for (Operation *user : parameter.value.getUsers()) {
      while (user->getBlock() != &body())
        user = user->getParentOp();
      if (!first || user->isBeforeInBlock(first))
        first = user;
    }
    if (first)
      firstUsers[first].push_back(index);
  }
  if (losses.empty())
    losses.push_back(loss);
  if (llvm::none_of(losses, [&](Value v) { return sweep.isActive(v); })) {
    InFlightDiagnostic error =
        model->emitError("the loss depends on no trainable parameter");
    for (Value value : losses)
      if (Operation *cut = sweep.findCut(value)) {
        error.attachNote(cut->getLoc())
            << "no gradient flows through '" << cut->getName() << "'";
        break;
      }
    return error;
  }
  SmallVector<Value> seeds;
  for (Value value : losses) {
    if (!sweep.isActive(value))
      continue;
    seeds.push_back(SplatOp::create(builder, value.getLoc(), value.getType(),
                                    builder.getF64FloatAttr(1.0)));
    sweep.addCotangent(value.getLoc(), value, seeds.back());
  }
  auto finishParameters = [&](Operation *op) {
    auto it = firstUsers.find(op);
    if (it == firstUsers.end())
      return;
    for (unsigned index : it->second) {
      Parameter &parameter = parameters[index];
      if (Value gradient = sweep.getCotangent(parameter.value))
        takeGradient(parameter, gradient);
      if (parameter.gradient && options.lifetime == GradientLifetime::Update)
        update(parameter);
    }
  };
  LogicalResult swept = sweep.run(body(), finishParameters);
  // A loop that the loss is a result of hands out more by now.
  loss = sweep.getCurrent(loss);
  sweep.eraseReplaced();
  if (failed(swept))
    return failure();
  // Frameworks that run op by op hold the seed until the backward pass ends.
  if (options.eager)
    ReleaseOp::create(builder, loss.getLoc(), seeds);
  graph.conservativeOps = std::move(sweep.conservativeOps);
  graph.checkpoints.recomputedWork = sweep.repeatedWork;
  return success();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

void TrainingStep::finish(Value loss) {
  SmallVector<Value> results = {loss};
  for (Parameter &parameter : parameters) {
    if (!parameter.gradient) {
      graph.unreached.push_back(parameter.info->name);
      continue;
    }
    graph.gradients.push_back({parameter.info->name, parameter.gradient});
    results.push_back(parameter.updated.front());
  }
  for (Parameter &parameter : parameters)
    if (parameter.gradient)
      llvm::append_range(results, ArrayRef(parameter.updated).drop_front());
  body().getTerminator()->setOperands(results);
  graph.func.setType(
      graph.func.cloneTypeWith(graph.func.getFunctionBody().getArgumentTypes(),
                               ValueRange(results).getTypes()));
}

/// What was asked for and changes nothing.
void TrainingStep::addOptionNotes() {
  if (options.masterWeights &&
      llvm::none_of(parameters, [&](const Parameter &parameter) {
        return hasMaster(parameter);
      }))
    graph.notes.push_back("--master-weights adds nothing: no trainable "
                          "parameter is stored in less than 32 bits");
  if (options.zero && options.devices == 1)
    graph.notes.push_back("--zero partitions over one device, which is to say "
                          "not at all; --devices=N says how many there are");
}

FailureOr<TrainingGraph> TrainingStep::build(bool keepsAll) {
  if (failed(cloneModel(".training_step")))
    return failure();
  takeTrainingForms();
  auto fail = [&]() -> FailureOr<TrainingGraph> {
    graph.func->erase();
    return failure();
  };
  addStorages();
  if (options.savePolicy == SavePolicy::AttentionFused)
    graph.composites = formComposites(graph.func);
  if (options.relu == ReluSaves::Mask)
    maskRelus(graph.func);
  llvm::MapVector<Value, StringAttr> values;
  for (Parameter &parameter : parameters)
    values[parameter.value] = builder.getStringAttr(parameter.info->name);
  ReverseSweep sweep(builder, options, values, resident);
  sweep.findActive(body());
  Operation *last = body().getTerminator()->getPrevNode();
  FailureOr<Value> loss =
      createLoss([&](Value value) { return sweep.isActive(value); });
  if (failed(loss))
    return fail();
  // What computes an assumed loss stands behind the model's ops.
  for (Operation *op = last ? last->getNextNode() : &body().front();
       op != body().getTerminator(); op = op->getNextNode())
    sweep.findActive(op);
  if (!keepsAll)
    sweep.chooseSaved(body());
  if (failed(differentiate(sweep, *loss)))
    return fail();
  if (options.lifetime == GradientLifetime::Step)
    updateAll();
  addOptionNotes();
  finish(*loss);
  return std::move(graph);
}

FailureOr<TrainingGraph> mlir::es::buildTrainingGraph(
    FunctionOpInterface model, const Inventory &inventory,
    const TrainingOptions &options, PeakMeasure measure) {
  auto build = [&](bool keepsAll) {
    return TrainingStep(model, inventory, options).build(keepsAll);
  };
  bool repeatsBlocks = options.checkpoint.kind != CheckpointKind::None;
  FailureOr<TrainingGraph> graph = build(repeatsBlocks);
  if (failed(graph) || !repeatsBlocks)
    return graph;
  std::vector<TrainingGraph> steps;
  steps.push_back(std::move(*graph));
  // To meet a budget, gradients may also compute values again one by one.
  if (options.checkpoint.kind == CheckpointKind::Budget && !options.eager &&
      options.savePolicy != SavePolicy::All) {
    graph = build(/*keepsAll=*/false);
    if (succeeded(graph))
      steps.push_back(std::move(*graph));
  }
  return checkpointStep(std::move(steps), options.checkpoint, measure);
}
