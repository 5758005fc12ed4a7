//===- EvolutionStep.cpp - A step against the reference -------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the step should do is read off its ops, before any is lowered.
//
//===----------------------------------------------------------------------===//

#include "EvolutionStep.h"
#include "Harness.h"

#include "es/Dialect/ES/IR/ES.h"
#include "es/Reference/Update.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::es;
namespace ref = mlir::es::reference;

namespace {
/// A parameter of the step: its argument, and what the reference makes of it.
struct Trained {
  unsigned argument;
  std::vector<unsigned> stateArguments;
  ref::Parameter parameter;
  std::string data;
  std::vector<std::string> states;
};

class StepCheck {
public:
  StepCheck(ModuleOp module, func::FuncOp step) : module(module), step(step) {}
  bool run();

private:
  void findParameters();
  void findNoise();
  bool runStep();
  bool checkFitness();
  bool checkUpdate();
  bool checkOthers();
  void perturb(const Trained &t, unsigned member, bool undo, void *out);
  FailureOr<std::vector<float>> evaluate();

  ModuleOp module;
  func::FuncOp step;
  UpdateOp update;
  ShapeFitnessOp shape;
  std::vector<Trained> trained;
  ref::NoiseOptions noise;
  std::vector<float> fitness;
  ArgumentValues given;
  RunResult result;
  bool isCorrected = false, isInPlace = false;
};
} // namespace

/// The argument that a tensor is a version of.
static unsigned findArgument(Value value) {
  while (!isa<BlockArgument>(value)) {
    auto loop = value.getDefiningOp<scf::ForOp>();
    value = loop ? loop.getInitArgs()[cast<OpResult>(value).getResultNumber()]
                 : value.getDefiningOp()->getOperand(0);
  }
  return cast<BlockArgument>(value).getArgNumber();
}

static ref::Storage getStorage(Type type) {
  if (type.isF32())
    return ref::Storage::f32;
  if (type.isF64())
    return ref::Storage::f64;
  if (type.isBF16())
    return ref::Storage::bf16;
  if (type.isF16())
    return ref::Storage::f16;
  return type.isInteger(8)    ? ref::Storage::i8
         : type.isInteger(16) ? ref::Storage::i16
                              : ref::Storage::i32;
}

static ref::Rounding getRounding(UpdateOp op, Type element) {
  if (isa<IntegerType>(element))
    switch (op.getFixed()) {
    case FixedRounding::nearest:
      return ref::Rounding::nearest;
    case FixedRounding::stochastic:
      return ref::Rounding::stochastic;
    case FixedRounding::threshold:
      return ref::Rounding::threshold;
    case FixedRounding::error_feedback:
      return ref::Rounding::error_feedback;
    }
  return isa<BFloat16Type, Float16Type>(element)
             ? ref::Rounding(unsigned(op.getRounding()))
             : ref::Rounding::nearest;
}

void StepCheck::findParameters() {
  unsigned state = 0;
  for (auto [index, operand] : llvm::enumerate(update.getParameters())) {
    Trained t;
    t.argument = findArgument(operand);
    auto type = cast<ShapedType>(operand.getType());
    t.parameter.id = update.getParam(index).getEffectiveId();
    t.parameter.storage = getStorage(type.getElementType());
    t.parameter.shape = type.getShape();
    t.parameter.sigma = update.getSigmaOf(index);
    t.parameter.lr = update.getLrOf(index);
    t.parameter.rounding = getRounding(update, type.getElementType());
    t.parameter.tau = update.getTau().convertToDouble();
    if (auto stored = dyn_cast_if_present<quant::UniformQuantizedType>(
            update.getParam(index).getStored()))
      t.parameter.quantum = stored.getScale();
    for (unsigned i = 0, e = update.getNumStatesOf(index); i < e; ++i) {
      Value value = update.getStates()[state++];
      t.stateArguments.push_back(findArgument(value));
      auto stateType = cast<ShapedType>(value.getType());
      // Nothing has happened yet.
      given[t.stateArguments.back()] =
          std::string(stateType.getNumElements() *
                          getElementBytes(stateType.getElementType()),
                      0);
    }
    trained.push_back(std::move(t));
  }
}

void StepCheck::findNoise() {
  // The arguments of the step are 1 where nothing else is said.
  noise.key = ref::getStepKey(1, 1);
  noise.noise = ref::Noise(unsigned(update.getNoise()));
  noise.rank = update.getRank();
  step.walk([&](Operation *op) {
    isCorrected |= isa<PerturbFactorsOp>(op);
    auto perturb = dyn_cast<PerturbOp>(op);
    isInPlace |= perturb && perturb.getUndo();
  });
}

bool StepCheck::runStep() {
  FailureOr<RunResult> run =
      compileAndRun(module, step.getName(), "es-bufferize", given);
  if (failed(run))
    return false;
  result = *run;
  const std::string &bits = result.values.back();
  fitness.resize(bits.size() / 4);
  std::memcpy(fitness.data(), bits.data(), bits.size());
  for (Trained &t : trained) {
    t.data = result.before[t.argument];
    t.parameter.data = t.data.data();
    for (unsigned state : t.stateArguments)
      t.states.push_back(result.before[state]);
    unsigned moments = update.getNumMoments();
    for (unsigned i = 0; i < moments; ++i)
      t.parameter.moments[i] = t.states[i].data();
    if (t.states.size() > moments)
      t.parameter.companion = t.states[moments].data();
  }
  return true;
}

/// The parameter of a member, as the reference has it.
void StepCheck::perturb(const Trained &t, unsigned member, bool undo,
                        void *out) {
  bool antithetic = shape.getAntithetic();
  ref::perturb(noise, t.parameter, antithetic ? member / 2 : member,
               (antithetic && member % 2) != undo, out);
}

/// The model on the parameters of each member. In place, each starts from what
/// the one before it left behind.
FailureOr<std::vector<float>> StepCheck::evaluate() {
  StringRef name = step.getName();
  name.consume_back(".es_step");
  auto model = module.lookupSymbol<func::FuncOp>(name);
  if (!model)
    return failure();
  std::vector<ArgumentValues> members(fitness.size());
  for (auto [member, arguments] : llvm::enumerate(members)) {
    for (auto [index, type] : llvm::enumerate(model.getArgumentTypes()))
      if (isa<ShapedType>(type))
        arguments[index] = result.before[index];
    for (Trained &t : trained) {
      perturb(t, member, /*undo=*/false, arguments[t.argument].data());
      if (!isInPlace)
        continue;
      perturb(t, member, /*undo=*/false, t.data.data());
      perturb(t, member, /*undo=*/true, t.data.data());
    }
  }
  FailureOr<std::vector<RunResult>> runs =
      compileAndRunEach(module, name, "es-bufferize", members);
  if (failed(runs))
    return failure();
  std::vector<float> values(fitness.size());
  for (auto [value, run] : llvm::zip(values, *runs))
    std::memcpy(&value, run.values[0].data(), 4);
  return values;
}

bool StepCheck::checkFitness() {
  StringRef name = step.getName();
  name.consume_back(".es_step");
  auto model = module.lookupSymbol<func::FuncOp>(name);
  if (model &&
      !llvm::equal(model.getResultTypes(),
                   ArrayRef<Type>{Float32Type::get(module.getContext())})) {
    // The loss is the step's own.
    llvm::outs() << fitness.size() << " members";
    return true;
  }
  FailureOr<std::vector<float>> expected = evaluate();
  if (failed(expected))
    return false;
  bool equal =
      std::memcmp(expected->data(), fitness.data(), 4 * fitness.size()) == 0;
  bool close = true;
  for (auto [value, found] : llvm::zip(*expected, fitness))
    close &= std::abs(value - found) <= 1e-5 * std::max(1.0f, std::abs(value));
  llvm::outs() << fitness.size() << " members, fitness "
               << (equal   ? "equal"
                   : close ? "close"
                           : "DIFFERENT");
  // Corrections sum in another order.
  return equal || (isCorrected && close);
}

bool StepCheck::checkUpdate() {
  ref::ShapingOptions shaping;
  shaping.shaping = ref::Shaping(unsigned(shape.getShaping()));
  shaping.nan = ref::NanPolicy(unsigned(shape.getNan()));
  shaping.maximize = shape.getDirection() == Direction::maximize;
  shaping.antithetic = shape.getAntithetic();
  shaping.integer = shape.getInteger();
  ref::UpdateOptions options;
  options.noise = noise;
  options.maximize = shaping.maximize;
  options.order = ref::Order(unsigned(update.getOrder()));
  options.chunk = update.getChunk().value_or(1);
  options.scale = ref::Scale(unsigned(update.getScale()));
  options.coefficients = ref::shapeFitness(fitness, shaping);
  options.rule.optimizer = update.getOptimizer() == OptimizerKind::sgd
                               ? ref::Optimizer::sgd
                           : update.getOptimizer() == OptimizerKind::momentum
                               ? ref::Optimizer::momentum
                               : ref::Optimizer::adam;
  bool equal = true, changed = false;
  size_t state = trained.size();
  for (auto [index, t] : llvm::enumerate(trained)) {
    ref::update(options, t.parameter);
    equal &= t.data == result.values[index];
    changed |= result.values[index] != result.before[t.argument];
    for (const std::string &expected : t.states)
      equal &= expected == result.values[state++];
  }
  llvm::outs() << ", " << trained.size() << " parameters "
               << (equal ? "equal" : "DIFFERENT") << ", "
               << (changed ? "changed" : "unchanged");
  return equal;
}

/// Frozen parameters and inputs.
bool StepCheck::checkOthers() {
  llvm::DenseSet<unsigned> written;
  for (Trained &t : trained) {
    written.insert(t.argument);
    written.insert(t.stateArguments.begin(), t.stateArguments.end());
  }
  unsigned count = 0;
  bool kept = true;
  for (unsigned i = 0; i < result.before.size(); ++i)
    if (!written.contains(i) && !result.before[i].empty()) {
      kept &= result.before[i] == result.after[i];
      ++count;
    }
  llvm::outs() << ", " << count << " others " << (kept ? "kept" : "WRITTEN");
  return kept;
}

bool StepCheck::run() {
  step.walk([&](UpdateOp op) { update = op; });
  step.walk([&](ShapeFitnessOp op) { shape = op; });
  if (!update || !shape)
    return false;
  findParameters();
  findNoise();
  return runStep() & checkFitness() & checkUpdate() & checkOthers();
}

bool mlir::es::checkEvolutionStep(ModuleOp module, StringRef step) {
  llvm::outs() << "@" << step << ": ";
  bool ok = StepCheck(module, module.lookupSymbol<func::FuncOp>(step)).run();
  llvm::outs() << (ok ? "\n" : ", WRONG\n");
  return ok;
}
