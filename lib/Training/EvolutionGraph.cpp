//===- EvolutionGraph.cpp - One step of Evolution Strategies --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model's copy becomes the body of a loop over the members, or over groups
// of members that run side by side.
//
//===----------------------------------------------------------------------===//

#include "es/Training/EvolutionGraph.h"
#include "LowRankProducts.h"
#include "MembersInFlight.h"
#include "TrainingStep.h"

#include "es/OpModel/RoleFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::es;

namespace {
class EvolutionStep : public TrainingStep {
public:
  EvolutionStep(FunctionOpInterface model, const Inventory &inventory,
                const EvolutionOptions &evolution)
      : TrainingStep(model, inventory, lossOptions), evolution(evolution) {
    lossOptions.loss = evolution.loss;
    lossOptions.lossResults = evolution.lossResults;
  }

  FailureOr<TrainingGraph> build();

private:
  bool isTrained(const StorageInfo &info) const override;
  void describeStorages();
  void findDependent();
  LogicalResult checkLoss(Value loss);
  LogicalResult checkRule();
  void addStates();
  void createLoop(Value loss);
  Value perturb(OpBuilder &builder, Value parameter, ParamAttr param);
  void perturbAtStart();
  void perturbInPlace();
  void correctProducts();
  void storeFitness(Value loss);
  void update();

  ParamAttr getParam(Value parameter);

  const EvolutionOptions &evolution;
  TrainingOptions lossOptions;
  /// Values that differ between members.
  llvm::DenseSet<Value> dependent;
  /// Matrices whose products have corrections.
  llvm::DenseSet<Value> corrected;
  Value seed, step, key;
  scf::ForOp loop;
};
} // namespace

/// The elements that noise is defined for.
static bool hasNoise(Type type) {
  ShapedType shaped = getCarriedShape(type);
  if (!shaped || !shaped.hasRank())
    return false;
  Type element = shaped.getElementType();
  return isa<Float32Type, Float64Type, BFloat16Type, Float16Type>(element) ||
         element.isSignlessInteger(8) || element.isSignlessInteger(16) ||
         element.isSignlessInteger(32);
}

bool EvolutionStep::isTrained(const StorageInfo &info) const {
  return info.isParameter() && info.isTrainedByES && info.value &&
         hasNoise(info.value.getType());
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static Value castTo(OpBuilder &builder, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(builder, value.getLoc(), type,
                                            value)
      .getResult(0);
}

/// The value as a builtin tensor, whatever dialect its type is of.
static Value asTensor(OpBuilder &builder, Value value) {
  ShapedType shaped = getCarriedShape(value.getType());
  return castTo(
      builder, value,
      RankedTensorType::get(shaped.getShape(), shaped.getElementType()));
}

static Value createEmpty(OpBuilder &builder, Value like) {
  Location loc = like.getLoc();
  return tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like),
      cast<RankedTensorType>(like.getType()).getElementType());
}

//===----------------------------------------------------------------------===//
// The copy of the model
//===----------------------------------------------------------------------===//

/// What is frozen here may be trainable to backpropagation, and the reverse;
/// annotations inside the body say what is known already.
void EvolutionStep::describeStorages() {
  std::string untrained;
  for (const StorageInfo &info : inventory.getStorages()) {
    if (!info.value || isTrained(info) || !info.isParameter())
      continue;
    graph.storages[mapping.lookup(info.value)].role = Role::FrozenParameter;
    if (info.isTrainedByES)
      untrained += (untrained.empty() ? "" : ", ") + info.name;
  }
  if (!untrained.empty())
    graph.notes.push_back("no noise is defined for the elements of " +
                          untrained + ": left as they are");
  SmallVector<ParamOp> annotations;
  graph.func.getFunctionBody().walk(
      [&](ParamOp op) { annotations.push_back(op); });
  for (ParamOp op : annotations) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
}

/// What a parameter reaches, through regions as well.
void EvolutionStep::findDependent() {
  for (const Parameter &parameter : parameters)
    dependent.insert(parameter.value);
  auto isReached = [&](Operation *op) {
    return op
        ->walk([&](Operation *nested) {
          return llvm::any_of(
                     nested->getOperands(),
                     [&](Value operand) { return dependent.contains(operand); })
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  };
  for (Operation &op : body()) {
    if (!isReached(&op))
      continue;
    op.walk([&](Operation *nested) {
      dependent.insert(nested->result_begin(), nested->result_end());
    });
  }
}

LogicalResult EvolutionStep::checkLoss(Value loss) {
  auto op = loss.getDefiningOp<LossOp>();
  if (dependent.contains(op ? op.getPrediction() : loss) ||
      llvm::any_of(losses, [&](Value v) { return dependent.contains(v); }))
    return success();
  return model->emitError("the loss depends on no trainable parameter");
}

LogicalResult EvolutionStep::checkRule() {
  if (evolution.optimizer == OptimizerKind::sgd)
    return success();
  for (const Parameter &parameter : parameters) {
    ShapedType type = getCarriedShape(parameter.value.getType());
    if (isa<IntegerType>(type.getElementType()))
      return model->emitError()
             << "parameter '" << parameter.info->name
             << "' has integer elements, which --es-optimizer="
             << stringifyOptimizerKind(evolution.optimizer)
             << " cannot update; sgd can";
  }
  return success();
}

ParamAttr EvolutionStep::getParam(Value parameter) {
  return graph.func.getArgAttrOfType<ParamAttr>(
      cast<BlockArgument>(parameter).getArgNumber(), "es.param");
}

void EvolutionStep::addStates() {
  unsigned count = evolution.optimizer == OptimizerKind::sgd        ? 0
                   : evolution.optimizer == OptimizerKind::momentum ? 1
                                                                    : 2;
  for (Parameter &parameter : parameters) {
    ShapedType type = getCarriedShape(parameter.value.getType());
    Type element = type.getElementType();
    if (!isa<Float64Type>(element))
      element = builder.getF32Type();
    SmallVector<Type> states(count, element);
    Type stored = type.getElementType();
    if (isa<BFloat16Type, Float16Type>(stored)) {
      if (evolution.rounding == Rounding::compensated)
        states.push_back(stored);
      else if (evolution.rounding == Rounding::master)
        states.push_back(builder.getF32Type());
    } else if (isa<IntegerType>(stored) &&
               evolution.fixed == FixedRounding::error_feedback) {
      states.push_back(builder.getF32Type());
    }
    for (auto [i, state] : llvm::enumerate(states))
      parameter.states.push_back(addArgument(
          RankedTensorType::get(type.getShape(), state), Role::OptimizerState,
          parameter.info->name + ".state" + std::to_string(i), true));
    graph.func.setArgAttr(cast<BlockArgument>(parameter.value).getArgNumber(),
                          "bufferization.writable", builder.getBoolAttr(true));
  }
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

/// Everything but the storages themselves moves into the loop.
void EvolutionStep::createLoop(Value loss) {
  SmallVector<Operation *> ops;
  for (Operation &op : body().without_terminator()) {
    bool isStorage = llvm::any_of(op.getResults(), [&](Value result) {
      return graph.storages.contains(result);
    });
    if (!isStorage)
      ops.push_back(&op);
  }
  Location loc = model->getLoc();
  builder.setInsertionPoint(body().getTerminator());
  key = StepKeyOp::create(builder, loc, builder.getI64Type(), seed, step);
  Value fitness = tensor::EmptyOp::create(
      builder, loc, ArrayRef<int64_t>{evolution.population},
      builder.getF32Type());
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  SmallVector<Value> carried = {fitness};
  if (evolution.placement == PerturbPlacement::InPlace)
    for (Parameter &parameter : parameters)
      carried.push_back(asTensor(builder, parameter.value));
  loop = scf::ForOp::create(builder, loc, index(0), index(evolution.population),
                            index(1), carried);
  OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
  Operation *yield =
      scf::YieldOp::create(inside, loc, loop.getRegionIterArgs());
  for (Operation *op : ops)
    op->moveBefore(yield);
}

Value EvolutionStep::perturb(OpBuilder &builder, Value parameter,
                             ParamAttr param) {
  Location loc = parameter.getLoc();
  Value tensor = asTensor(builder, parameter);
  auto op = PerturbOp::create(
      builder, loc, evolution.noise, tensor, param,
      createEmpty(builder, tensor), key, loop.getInductionVar(), Value(),
      Value(), llvm::APFloat(evolution.sigma), uint64_t(evolution.rank),
      evolution.antithetic, /*undo=*/false);
  return castTo(builder, op.getPerturbed(), parameter.getType());
}

/// All of them, kept to the end of the member.
void EvolutionStep::perturbAtStart() {
  SmallVector<Value> copies;
  for (Parameter &parameter : parameters) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : parameter.value.getUses())
      if (loop->isProperAncestor(use.getOwner()))
        uses.push_back(&use);
    if (uses.empty() || corrected.contains(parameter.value))
      continue;
    OpBuilder here = OpBuilder::atBlockBegin(loop.getBody());
    if (!copies.empty())
      here.setInsertionPointAfterValue(copies.back());
    Value perturbed = perturb(here, parameter.value, getParam(parameter.value));
    for (OpOperand *use : uses)
      use->set(perturbed);
    copies.push_back(perturbed);
  }
  OpBuilder end(loop.getBody()->getTerminator());
  if (!copies.empty())
    ReleaseOp::create(end, model->getLoc(), copies);
}

/// The loop carries the parameters; each member perturbs them and takes it
/// back.
void EvolutionStep::perturbInPlace() {
  Operation *yield = loop.getBody()->getTerminator();
  OpBuilder begin = OpBuilder::atBlockBegin(loop.getBody());
  std::string rounded;
  for (auto [index, parameter] : llvm::enumerate(parameters)) {
    Location loc = parameter.value.getLoc();
    ParamAttr param = getParam(parameter.value);
    auto change = [&, this](OpBuilder &at, Value tensor, bool undo) -> Value {
      return PerturbOp::create(at, loc, evolution.noise, tensor, param, tensor,
                               key, loop.getInductionVar(), Value(), Value(),
                               llvm::APFloat(evolution.sigma),
                               uint64_t(evolution.rank), evolution.antithetic,
                               undo)
          .getPerturbed();
    };
    Value carried = loop.getRegionIterArg(index + 1);
    graph.storages[carried] = graph.storages.lookup(parameter.value);
    Value perturbed = change(begin, carried, /*undo=*/false);
    Value cast = castTo(begin, perturbed, parameter.value.getType());
    parameter.value.replaceUsesWithIf(cast, [&](OpOperand &use) {
      return loop->isProperAncestor(use.getOwner());
    });
    OpBuilder end(yield);
    yield->setOperand(index + 1, change(end, perturbed, /*undo=*/true));
    if (isa<FloatType>(getElementTypeOrSelf(perturbed.getType())))
      rounded += (rounded.empty() ? "" : ", ") + parameter.info->name;
  }
  if (!rounded.empty())
    graph.notes.push_back("perturbing in place and back rounds twice a member; "
                          "these parameters drift: " +
                          rounded);
}

/// Corrections in place of perturbed matrices, where every use of a parameter
/// is a product of it.
void EvolutionStep::correctProducts() {
  std::string whole;
  for (Parameter &parameter : parameters) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : parameter.value.getUses())
      if (loop->isProperAncestor(use.getOwner()))
        uses.push_back(&use);
    LowRankNoise noise{
        evolution.noise,        getParam(parameter.value), key,
        loop.getInductionVar(), evolution.sigma,           evolution.rank,
        evolution.antithetic};
    auto type = dyn_cast<ShapedType>(parameter.value.getType());
    bool isMatrix = type && type.hasRank() && type.getRank() == 2;
    bool isCorrected = isMatrix && llvm::all_of(uses, [](OpOperand *use) {
                         return canCorrectProduct(*use);
                       });
    if (isCorrected) {
      for (OpOperand *use : uses)
        correctProduct(*use, noise);
      corrected.insert(parameter.value);
      continue;
    }
    if (isMatrix)
      whole += (whole.empty() ? "" : ", ") + parameter.info->name;
  }
  if (!whole.empty())
    graph.notes.push_back("not only read by products, and so perturbed as a "
                          "whole: " +
                          whole);
}

/// The loss is the fitness.
void EvolutionStep::storeFitness(Value loss) {
  Operation *yield = loop.getBody()->getTerminator();
  OpBuilder end(yield);
  Location loc = loss.getLoc();
  Value number = loss;
  if (!isa<FloatType>(loss.getType())) {
    Value tensor = asTensor(end, loss);
    int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
    SmallVector<Value> indices;
    if (rank > 0)
      indices.assign(rank, arith::ConstantIndexOp::create(end, loc, 0));
    number = tensor::ExtractOp::create(end, loc, tensor, indices);
  }
  unsigned width = number.getType().getIntOrFloatBitWidth();
  Type f32 = end.getF32Type();
  if (width < 32)
    number = arith::ExtFOp::create(end, loc, f32, number);
  else if (width > 32)
    number = arith::TruncFOp::create(end, loc, f32, number);
  Value fitness = tensor::InsertOp::create(
      end, loc, number, loop.getRegionIterArg(0), loop.getInductionVar());
  yield->setOperand(0, fitness);
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

void EvolutionStep::update() {
  builder.setInsertionPoint(body().getTerminator());
  Location loc = model->getLoc();
  Value fitness = loop.getResult(0);
  int64_t pairs =
      evolution.antithetic ? evolution.population / 2 : evolution.population;
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{pairs},
                                        builder.getF32Type());
  auto shaped = ShapeFitnessOp::create(
      builder, loc, evolution.shaping, evolution.direction, fitness, empty,
      evolution.nan, evolution.antithetic, false);
  SmallVector<Value> tensors, states;
  SmallVector<Attribute> params;
  bool hasHalf = false, hasIntegers = false;
  for (auto [index, parameter] : llvm::enumerate(parameters)) {
    tensors.push_back(evolution.placement == PerturbPlacement::InPlace
                          ? loop.getResult(index + 1)
                          : asTensor(builder, parameter.value));
    llvm::append_range(states, parameter.states);
    params.push_back(getParam(parameter.value));
    Type element = getElementTypeOrSelf(tensors.back().getType());
    hasHalf |= isa<BFloat16Type, Float16Type>(element);
    hasIntegers |= isa<IntegerType>(element);
  }
  auto number = [](double value) { return llvm::APFloat(value); };
  // To the nearest, steps far below a unit in the last place would be lost.
  auto op = UpdateOp::create(
      builder, loc, evolution.optimizer, evolution.direction, evolution.noise,
      key, shaped.getCoefficients(), shaped.getMembers(), shaped.getUnit(),
      readsStep(evolution.optimizer) ? step : Value(), tensors, states,
      builder.getArrayAttr(params), number(evolution.sigma),
      number(evolution.learningRate), uint64_t(evolution.rank),
      ScaleKind::exact, SumOrder::seq, IntegerAttr(), IntegerAttr(),
      Accumulator::s64, hasHalf ? evolution.rounding : Rounding::nearest,
      hasIntegers ? evolution.fixed : FixedRounding::nearest, number(2.0),
      number(0.9), number(0.999), number(1e-8), number(0.0));
  SmallVector<Value> results;
  for (auto [index, parameter] : llvm::enumerate(parameters))
    results.push_back(
        castTo(builder, op.getUpdated()[index], parameter.value.getType()));
  llvm::append_range(results, op.getUpdated().drop_front(parameters.size()));
  results.push_back(fitness);
  body().getTerminator()->setOperands(results);
  graph.func.setType(
      graph.func.cloneTypeWith(graph.func.getFunctionBody().getArgumentTypes(),
                               ValueRange(results).getTypes()));
}

FailureOr<TrainingGraph> EvolutionStep::build() {
  if (failed(cloneModel(".es_step")))
    return failure();
  addStorages();
  describeStorages();
  findDependent();
  FailureOr<Value> loss =
      createLoss([&](Value value) { return dependent.contains(value); });
  if (failed(loss) || failed(checkLoss(*loss)) || failed(checkRule())) {
    graph.func->erase();
    return failure();
  }
  addStates();
  seed = addArgument(builder.getI64Type(), Role::Input, "seed");
  step = addArgument(builder.getI64Type(), Role::Input, "step");
  // What the model returned is no longer wanted.
  body().getTerminator()->setOperands({});
  createLoop(*loss);
  for (const Parameter &parameter : parameters)
    foldTransposes(parameter.value);
  if (evolution.placement == PerturbPlacement::InPlace) {
    perturbInPlace();
  } else {
    if (evolution.placement == PerturbPlacement::LowRank)
      correctProducts();
    perturbAtStart();
    if (evolution.placement != PerturbPlacement::Copy) {
      if (evolution.isCounted)
        sinkThroughReads(graph.func);
      sinkPerturbations(graph.func);
    }
  }
  storeFitness(*loss);
  update();
  unsigned together = std::min(evolution.inFlight, evolution.population);
  if (together > 1)
    runInFlight(graph.func, loop, evolution.population, together);
  return std::move(graph);
}

FailureOr<TrainingGraph>
mlir::es::buildEvolutionGraph(FunctionOpInterface model,
                              const Inventory &inventory,
                              const EvolutionOptions &options) {
  return EvolutionStep(model, inventory, options).build();
}
