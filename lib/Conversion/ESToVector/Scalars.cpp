//===- Scalars.cpp - Scalars of an update, and its kernel
//---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"
#include "Shaping.h"
#include "es/Reference/NoiseVersion1.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Remarks.h"
#include <cmath>

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// s S: computed in f64, rounded once, 0 if no member counts.
Value UpdateScalars::getScale(double sigma, bool lowRank) {
  Value unit = op.getUnit(), n = s.toFloat(op.getMembers(), s.f64()), scale;
  if (op.getOrder() == SumOrder::exact && op.getNoise() == NoiseKind::int8) {
    double one = noise::kInt8Scale;
    unit = s.mul(unit, real(lowRank ? one * one : one));
  }
  if (lowRank)
    unit = s.div(unit, real(std::sqrt(double(op.getRank()))));
  switch (op.getScale()) {
  case ScaleKind::exact:
    scale = s.div(unit, s.mul(n, real(sigma)));
    break;
  case ScaleKind::mean:
    scale = s.div(unit, n);
    break;
  case ScaleKind::root:
    scale = s.div(s.mul(unit, real(sigma)), s.sqrt(n));
    break;
  }
  Value none =
      s.cmp(arith::CmpIPredicate::eq, op.getMembers(), i64Constant(b, 0));
  scale = s.select(none, s.real(0.0), toF32(scale));
  return op.getDirection() == Direction::maximize ? scale : s.neg(scale);
}

/// 1 / (1 - beta^step), by squaring.
Value UpdateScalars::getCorrection(double beta) {
  Value power =
      fold(b, i64Constant(b, 0), i64Constant(b, 63),
           {real(1.0), real(beta), op.getStep()}, [&](Value, ValueRange v) {
             Value one = i64Constant(b, 1);
             Value odd =
                 s.cmp(arith::CmpIPredicate::eq, s.band(v[2], one), one);
             return SmallVector<Value>{s.select(odd, s.mul(v[0], v[1]), v[0]),
                                       s.mul(v[1], v[1]), s.shr(v[2], 1)};
           })[0];
  return toF32(s.div(real(1.0), s.sub(real(1.0), power)));
}

/// tau standard deviations of the sum of an integer parameter.
Value UpdateScalars::getThreshold(bool lowRank) {
  Value squares = fold(
      b, i64Constant(b, 0), pairs, real(0.0), [&](Value pair, ValueRange sum) {
        Value c = arith::ExtFOp::create(b, s.f64(), coefficientAt(pair));
        return SmallVector<Value>{s.add(sum[0], s.mul(c, c))};
      })[0];
  double variance = 1.0;
  if (op.getNoise() == NoiseKind::int8) {
    double table = 65122.0 / 256.0;
    double unit = op.getOrder() == SumOrder::exact ? table : table / 256.0;
    variance = lowRank ? unit * unit : unit;
  }
  if (lowRank)
    variance = variance * double(op.getRank());
  Value deviation = s.sqrt(s.mul(real(variance), squares));
  return toF32(s.mul(real(op.getTau().convertToDouble()), deviation));
}

Value UpdateScalars::anyCoefficient() {
  return fold(b, i64Constant(b, 0), pairs, s.whole(0, 1),
              [&](Value pair, ValueRange any) {
                Value counts = s.cmp(arith::CmpFPredicate::UNE,
                                     coefficientAt(pair), s.real(0.0));
                return SmallVector<Value>{s.bor(any[0], counts)};
              })[0];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

FailureOr<Quantum> mlir::es::kernel::getQuantum(Operation *op, ParamAttr param,
                                                ShapedType type) {
  Quantum quantum;
  auto quantised = dyn_cast_if_present<quant::QuantizedType>(param.getStored());
  if (!quantised)
    return quantum;
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(quantised)) {
    quantum.scale = uniform.getScale();
    return quantum;
  }
  auto axes = dyn_cast<quant::UniformQuantizedPerAxisType>(quantised);
  if (!axes) {
    return op->emitOpError()
           << "cannot be lowered: parameter " << param.getName()
           << " has a scale for each block, " << quantised;
  }
  quantum.axis = axes.getQuantizedDimension();
  for (double scale : axes.getScales())
    quantum.scales.push_back(float(scale));
  quantum.stride = 1;
  for (int64_t size : type.getShape().drop_front(*quantum.axis + 1)) {
    if (ShapedType::isDynamic(size))
      return op->emitOpError()
             << "cannot be lowered: parameter " << param.getName()
             << " has a scale for each index of an axis and "
                "a dynamic size behind it";
    quantum.stride *= size;
  }
  return quantum;
}

LLVM::GlobalOp mlir::es::kernel::getScales(Operation *module,
                                           ImplicitLocOpBuilder &b,
                                           const Quantum &quantum,
                                           unsigned number) {
  std::string name = "es_scales" + std::to_string(number);
  if (Operation *found = SymbolTable::lookupSymbolIn(module, name))
    return cast<LLVM::GlobalOp>(found);
  auto type =
      RankedTensorType::get({int64_t(quantum.scales.size())}, b.getF32Type());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&module->getRegion(0).front());
  return LLVM::GlobalOp::create(
      b, LLVM::LLVMArrayType::get(b.getF32Type(), quantum.scales.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, name,
      DenseElementsAttr::get(type, ArrayRef<float>(quantum.scales)));
}

std::string mlir::es::kernel::toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

bool mlir::es::kernel::isMatrix(Value value) {
  return cast<ShapedType>(value.getType()).getRank() == 2;
}

Config mlir::es::kernel::makeConfig(UpdateOp op, unsigned index,
                                    unsigned firstState,
                                    const Quantum &quantum) {
  Config config;
  config.kind = Config::Update;
  config.noise = op.getNoise();
  config.order = op.getOrder();
  config.chunk = op.getChunk().value_or(1);
  config.accumulator = op.getAccumulator();
  config.optimizer = op.getOptimizer();
  config.decay = op.getDecay();
  config.rounding = op.getRounding();
  config.fixed = op.getFixed();
  config.maximize = op.getDirection() == Direction::maximize;
  config.beta1 = op.getBeta1().convertToDouble();
  config.beta2 = op.getBeta2().convertToDouble();
  config.epsilon = op.getEpsilon().convertToDouble();
  config.weightDecay = op.getWeightDecay().convertToDouble();
  Value parameter = op.getParameters()[index];
  config.element = getElementTypeOrSelf(parameter.getType());
  config.rank = isMatrix(parameter) ? op.getRank() : 0;
  // A threshold is the same whatever the scale.
  config.perAxis = quantum.axis && config.fixed != FixedRounding::threshold;
  if (op.getNumMoments())
    config.moment = getElementTypeOrSelf(op.getStates()[firstState].getType());
  config.name = toString(config.element) +
                (config.hasHalfMoments() ? "_" + toString(config.moment) : "") +
                (config.perAxis ? "_axis" : "") +
                (config.rank ? "_low_rank" : "");
  return config;
}

Config mlir::es::kernel::makeConfig(PerturbOp op, const Quantum &quantum) {
  Config config;
  config.kind = Config::Perturb;
  config.element = getElementTypeOrSelf(op.getParameter().getType());
  config.noise = op.getNoise();
  config.rank = isMatrix(op.getParameter()) ? op.getRank() : 0;
  config.perAxis = quantum.axis.has_value();
  config.name = "es_perturb_" + toString(config.element) + "_" +
                stringifyNoiseKind(op.getNoise()).str();
  if (config.rank)
    config.name += "_rank" + std::to_string(config.rank);
  if (config.perAxis)
    config.name += "_axis";
  return config;
}

SmallVector<std::pair<RowWord, Value>>
mlir::es::kernel::getStatesOf(UpdateOp op, unsigned index,
                              unsigned firstState) {
  SmallVector<std::pair<RowWord, Value>> states;
  unsigned moments = op.getNumMoments();
  for (unsigned i = 0; i < op.getNumStatesOf(index); ++i)
    states.push_back({i >= moments ? kCompanion
                      : i          ? kMoment2
                                   : kMoment1,
                      op.getStates()[firstState + i]});
  return states;
}

//===----------------------------------------------------------------------===//
// Values of one op
//===----------------------------------------------------------------------===//

WordValues UpdateScalars::getRow(const Config &config, unsigned index,
                                 const Quantum &quantum) {
  bool lowRank = config.rank;
  double sigma = op.getSigmaOf(index);
  Value &scale = scales[{sigma, lowRank}];
  if (!scale)
    scale = getScale(sigma, lowRank);
  float lr = float(op.getLrOf(index));
  float decay = float(op.getWeightDecay().convertToDouble());
  Value alpha = s.mul(s.real(lr), scale);
  WordValues row = {{kScale, scale},
                    {kAlpha, alpha},
                    {kLr, s.real(lr)},
                    {kLrDecay, s.real(lr * decay)}};
  if (!config.isInteger())
    return row;
  if (config.fixed != FixedRounding::threshold) {
    Value step =
        config.perAxis ? alpha : s.div(alpha, s.real(float(quantum.scale)));
    row.push_back({kStep, step});
  } else if (coefficientAt) {
    Value &threshold = thresholds[lowRank];
    if (!threshold)
      threshold = getThreshold(lowRank);
    row.push_back({kStep, threshold});
  }
  return row;
}

WordValues UpdateScalars::getStep() {
  if (op.getNumMoments() == 2 && stepValues.empty())
    stepValues = {
        {kCorrection1, getCorrection(op.getBeta1().convertToDouble())},
        {kCorrection2, getCorrection(op.getBeta2().convertToDouble())}};
  return stepValues;
}

MemberValues mlir::es::kernel::getMember(ImplicitLocOpBuilder &b, PerturbOp op,
                                         const Config &config,
                                         const Quantum &quantum) {
  Lanes s(b, 1);
  Value member = arith::IndexCastOp::create(b, b.getI64Type(), op.getMember());
  FloatAttr own = op.getParam().getSigma();
  float sigma = own ? own.getValueAsDouble() : op.getSigma().convertToDouble();
  if (config.isInteger() && !config.perAxis)
    sigma = sigma / float(quantum.scale);
  if (!op.getAntithetic())
    return {member, s.real(sigma)};
  Value one = i64Constant(b, 1);
  Value odd = s.cmp(arith::CmpIPredicate::eq, s.band(member, one), one);
  return {s.shr(member, 1), s.select(odd, s.real(-sigma), s.real(sigma))};
}

//===----------------------------------------------------------------------===//
// Every op
//===----------------------------------------------------------------------===//

LogicalResult mlir::es::kernel::checkPlace(Operation *op) {
  auto func = op->getParentOfType<func::FuncOp>();
  if (func && isa_and_present<ModuleOp>(func->getParentOp()))
    return success();
  return op->emitOpError()
         << "cannot be lowered: expects to be in a func.func of a module";
}

LogicalResult mlir::es::kernel::checkWhole(PerturbOp op, StringRef what) {
  if (!op.getAt() && !op.getRows() && !op.getUndo())
    return success();
  return op.emitOpError() << "cannot be lowered to " << what
                          << ": expects a whole parameter that is perturbed, "
                             "not a part of it, nor undone";
}

LogicalResult mlir::es::kernel::checkBuffer(Operation *op, Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (type && type.getLayout().isIdentity())
    return success();
  return op->emitOpError() << "cannot be lowered: expects buffers with the "
                              "identity layout, got "
                           << value.getType();
}

void mlir::es::kernel::remarkOnNearest(UpdateOp op) {
  if (op.getRounding() != Rounding::nearest)
    return;
  for (auto [index, value] : llvm::enumerate(op.getParameters())) {
    Type element = getElementTypeOrSelf(value.getType());
    if (!isa<BFloat16Type, Float16Type>(element))
      continue;
    remark::missed(op.getLoc(),
                   remark::RemarkOpts::name("NearestRounding").category("es"))
        << remark::metric("Parameter", op.getParam(index).getName().getValue())
        << remark::reason("updates below half an ulp of {0} vanish",
                          toString(element))
        << remark::suggest("rounding = #es.rounding<stochastic>");
  }
}

static LogicalResult lowerScalarOp(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  if (auto key = dyn_cast<StepKeyOp>(op)) {
    key.replaceAllUsesWith(emitStepKey(b, key.getSeed(), key.getStep()));
    key.erase();
    return success();
  }
  auto shape = cast<ShapeFitnessOp>(op);
  if (failed(checkBuffer(op, shape.getFitness())) ||
      failed(checkBuffer(op, shape.getDestination())))
    return failure();
  auto [members, unit] = emitShaping(b, shape);
  shape.getMembers().replaceAllUsesWith(members);
  shape.getUnit().replaceAllUsesWith(unit);
  shape.erase();
  return success();
}

LogicalResult mlir::es::kernel::lowerStepOps(
    Operation *root, llvm::function_ref<LogicalResult(UpdateOp)> update,
    llvm::function_ref<LogicalResult(Operation *)> perturbation) {
  WalkResult result = root->walk([&](Operation *op) -> WalkResult {
    bool isPerturbation = isa<PerturbOp, PerturbFactorsOp>(op);
    auto updateOp = dyn_cast<UpdateOp>(op);
    if (!isPerturbation && !updateOp && !isa<StepKeyOp, ShapeFitnessOp>(op))
      return WalkResult::advance();
    if (failed(checkPlace(op)))
      return failure();
    if (isPerturbation)
      return perturbation(op);
    if (!updateOp)
      return lowerScalarOp(op);
    remarkOnNearest(updateOp);
    return update(updateOp);
  });
  return failure(result.wasInterrupted());
}
