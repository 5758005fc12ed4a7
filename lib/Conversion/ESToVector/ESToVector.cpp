//===- ESToVector.cpp - Ops of an Evolution Strategies step to kernels ----===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "Shaping.h"
#include "es/Conversion/Passes.h"
#include "es/Reference/NoiseVersion1.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>
#include <map>

namespace mlir::es {
#define GEN_PASS_DEF_CONVERTESTOVECTOR
#include "es/Conversion/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;

namespace {

/// Parameters that one kernel serves.
struct Group {
  Config config;
  SmallVector<unsigned> parameters;
};

struct ConvertESToVectorPass
    : es::impl::ConvertESToVectorBase<ConvertESToVectorPass> {
  using Base = es::impl::ConvertESToVectorBase<ConvertESToVectorPass>;
  using Base::Base;

  void runOnOperation() override;
  LogicalResult lower(UpdateOp op);
  LogicalResult lower(PerturbOp op);
  LogicalResult setTile(Config &config, Operation *op);
  func::FuncOp createKernel(ImplicitLocOpBuilder &b, const Config &config);

  unsigned count = 0;
};

/// The scalars of an update, for any of its parameters.
struct UpdateScalars {
  ImplicitLocOpBuilder &b;
  UpdateOp op;
  Lanes s;

  UpdateScalars(ImplicitLocOpBuilder &b, UpdateOp op) : b(b), op(op), s(b, 1) {}
  Value real(double value) { return s.real(value, s.f64()); }
  Value toF32(Value value) {
    return arith::TruncFOp::create(b, s.f32(), value);
  }
  Value getScale(double sigma, bool lowRank);
  Value getCorrection(double beta);
  Value getThreshold(bool lowRank);
  Value anyCoefficient();
};

} // namespace

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
  Value pointer = getPointer(b, op.getCoefficients());
  Value squares = fold(b, i64Constant(b, 0), getCount(b, op.getCoefficients()),
                       real(0.0), [&](Value pair, ValueRange sum) {
                         Value c = arith::ExtFOp::create(
                             b, s.f64(), s.load(s.f32(), pointer, pair));
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
  Value pointer = getPointer(b, op.getCoefficients());
  return fold(b, i64Constant(b, 0), getCount(b, op.getCoefficients()),
              s.whole(0, 1), [&](Value pair, ValueRange any) {
                Value c = s.load(s.f32(), pointer, pair);
                return SmallVector<Value>{s.bor(
                    any[0], s.cmp(arith::CmpFPredicate::UNE, c, s.real(0.0)))};
              })[0];
}

/// What 1 of an integer parameter stands for.
static FailureOr<double> getQuantum(Operation *op, ParamAttr param) {
  auto quantised = dyn_cast_if_present<quant::QuantizedType>(param.getStored());
  if (!quantised)
    return 1.0;
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(quantised))
    return uniform.getScale();
  return op->emitOpError() << "cannot be lowered: parameter " << param.getName()
                           << " has a scale for each axis or block, "
                           << quantised;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The sizes of a matrix.
static void storeSizes(ImplicitLocOpBuilder &b, Value memref, Value row) {
  for (int64_t i = 0; i < 2; ++i)
    storeWord(b,
              arith::IndexCastOp::create(b, b.getI64Type(),
                                         memref::DimOp::create(b, memref, i)),
              row, i ? kColumns : kRows);
}

/// Kernels are functions of the module around, and are called.
static LogicalResult checkPlace(Operation *op) {
  auto func = op->getParentOfType<func::FuncOp>();
  if (func && isa_and_present<ModuleOp>(func->getParentOp()))
    return success();
  return op->emitOpError()
         << "cannot be lowered: expects to be in a func.func of a module";
}

/// The parameters' elements have to follow each other in memory.
static LogicalResult checkBuffer(Operation *op, Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (type && type.getLayout().isIdentity())
    return success();
  return op->emitOpError() << "cannot be lowered: expects buffers with the "
                              "identity layout, got "
                           << value.getType();
}

static bool isMatrix(Value value) {
  return cast<ShapedType>(value.getType()).getRank() == 2;
}

LogicalResult ConvertESToVectorPass::setTile(Config &config, Operation *op) {
  config.width = vectorWidth;
  config.threads = threads;
  // Random bits come in runs of 128.
  int64_t run = config.getRunElements();
  int64_t elements = llvm::alignTo(std::max<int64_t>(tileSize, run),
                                   std::max<int64_t>(run, 128));
  config.tileRuns = elements / run;
  return success();
}

func::FuncOp ConvertESToVectorPass::createKernel(ImplicitLocOpBuilder &b,
                                                 const Config &config) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(cast<ModuleOp>(getModule(b)).getBody());
  return createLoopFunction(b, config, createTileFunction(b, config));
}

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

//===----------------------------------------------------------------------===//
// es.update
//===----------------------------------------------------------------------===//

static Config makeConfig(UpdateOp op) {
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
  return config;
}

LogicalResult ConvertESToVectorPass::lower(UpdateOp op) {
  for (Value operand : op->getOperands())
    if (isa<ShapedType>(operand.getType()) && failed(checkBuffer(op, operand)))
      return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  UpdateScalars scalars(b, op);
  Lanes s(b, 1);
  auto branch = scf::IfOp::create(b, scalars.anyCoefficient(), false);
  b.setInsertionPointToStart(branch.thenBlock());

  Value step = createScratch(b, b.getI64Type(), kStepWords);
  storeWord(b, op.getKey(), step, kKey);
  storeWord(b, getPointer(b, op.getCoefficients()), step, kCoefficients);
  storeWord(b, getCount(b, op.getCoefficients()), step, kPairs);
  if (op.getNumMoments() == 2) {
    storeWord(b, scalars.getCorrection(op.getBeta1().convertToDouble()), step,
              kCorrection1);
    storeWord(b, scalars.getCorrection(op.getBeta2().convertToDouble()), step,
              kCorrection2);
  }

  // Kernels, in the order of their first parameter.
  llvm::MapVector<std::pair<Type, unsigned>, Group> groups;
  unsigned nextState = 0;
  SmallVector<unsigned> states;
  for (auto [index, value] : llvm::enumerate(op.getParameters())) {
    Type element = cast<MemRefType>(value.getType()).getElementType();
    bool lowRank = op.getRank() && isMatrix(value);
    Group &group = groups[{element, lowRank}];
    group.parameters.push_back(index);
    group.config = makeConfig(op);
    group.config.element = element;
    group.config.rank = lowRank ? op.getRank() : 0;
    group.config.name = "es_update" + std::to_string(count) + "_" +
                        toString(element) + (lowRank ? "_low_rank" : "");
    states.push_back(nextState);
    nextState += op.getNumStatesOf(index);
  }
  ++count;

  std::map<std::pair<double, bool>, Value> scales;
  for (auto &entry : groups) {
    Group &group = entry.second;
    bool lowRank = entry.first.second;
    if (failed(setTile(group.config, op)))
      return failure();
    Value rows =
        createScratch(b, b.getI64Type(), kRowWords * group.parameters.size());
    Value threshold;
    if (group.config.isInteger() && op.getFixed() == FixedRounding::threshold)
      threshold = scalars.getThreshold(lowRank);
    for (auto [place, index] : llvm::enumerate(group.parameters)) {
      Value memref = op.getParameters()[index];
      Value row = elementPtr(b, b.getI64Type(), rows,
                             i64Constant(b, place * kRowWords));
      storeWord(b, getPointer(b, memref), row, kData);
      storeWord(b, getCount(b, memref), row, kCount);
      if (lowRank)
        storeSizes(b, memref, row);
      storeWord(b, i64Constant(b, op.getParam(index).getEffectiveId()), row,
                kId);
      unsigned state = states[index];
      for (unsigned i = 0; i < op.getNumMoments(); ++i)
        storeWord(b, getPointer(b, op.getStates()[state++]), row,
                  i ? kMoment2 : kMoment1);
      if (op.getNumStatesOf(index) > op.getNumMoments())
        storeWord(b, getPointer(b, op.getStates()[state]), row, kCompanion);
      double sigma = op.getSigmaOf(index);
      Value &scale = scales[{sigma, lowRank}];
      if (!scale)
        scale = scalars.getScale(sigma, lowRank);
      float lr = float(op.getLrOf(index));
      Value alpha = s.mul(s.real(lr), scale);
      storeWord(b, scale, row, kScale);
      storeWord(b, alpha, row, kAlpha);
      storeWord(b, s.real(lr), row, kLr);
      storeWord(b, s.real(lr * float(op.getWeightDecay().convertToDouble())),
                row, kLrDecay);
      if (!group.config.isInteger())
        continue;
      FailureOr<double> quantum = getQuantum(op, op.getParam(index));
      if (failed(quantum))
        return failure();
      storeWord(b,
                threshold ? threshold : s.div(alpha, s.real(float(*quantum))),
                row, kStep);
    }
    func::CallOp::create(
        b, createKernel(b, group.config),
        ValueRange{rows, i64Constant(b, group.parameters.size()), step});
  }
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// es.perturb
//===----------------------------------------------------------------------===//

LogicalResult ConvertESToVectorPass::lower(PerturbOp op) {
  if (failed(checkBuffer(op, op.getParameter())) ||
      failed(checkBuffer(op, op.getDestination())))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Lanes s(b, 1);
  Config config;
  config.kind = Config::Perturb;
  config.element = getElementTypeOrSelf(op.getParameter().getType());
  config.noise = op.getNoise();
  config.rank = isMatrix(op.getParameter()) ? op.getRank() : 0;
  config.name = "es_perturb_" + toString(config.element) + "_" +
                stringifyNoiseKind(op.getNoise()).str();
  if (config.rank)
    config.name += "_rank" + std::to_string(config.rank);
  if (failed(setTile(config, op)))
    return failure();
  FailureOr<double> quantum = getQuantum(op, op.getParam());
  if (failed(quantum))
    return failure();

  Value member = arith::IndexCastOp::create(b, b.getI64Type(), op.getMember());
  FloatAttr own = op.getParam().getSigma();
  float sigma = own ? own.getValueAsDouble() : op.getSigma().convertToDouble();
  if (config.isInteger())
    sigma = sigma / float(*quantum);
  Value scale = s.real(sigma), pair = member;
  if (op.getAntithetic()) {
    Value one = i64Constant(b, 1);
    Value odd = s.cmp(arith::CmpIPredicate::eq, s.band(member, one), one);
    scale = s.select(odd, s.real(-sigma), scale);
    pair = s.shr(member, 1);
  }
  Value step = createScratch(b, b.getI64Type(), kStepWords);
  storeWord(b, op.getKey(), step, kKey);
  storeWord(b, pair, step, kPair);
  Value row = createScratch(b, b.getI64Type(), kRowWords);
  storeWord(b, getPointer(b, op.getParameter()), row, kData);
  storeWord(b, getPointer(b, op.getDestination()), row, kOut);
  storeWord(b, getCount(b, op.getParameter()), row, kCount);
  if (config.rank)
    storeSizes(b, op.getParameter(), row);
  storeWord(b, i64Constant(b, op.getParam().getEffectiveId()), row, kId);
  storeWord(b, scale, row, kScale);
  // All perturbations of one kind share a kernel.
  auto kernel =
      cast<ModuleOp>(getModule(b)).lookupSymbol<func::FuncOp>(config.name +
                                                              "_all");
  if (!kernel)
    kernel = createKernel(b, config);
  func::CallOp::create(b, kernel, ValueRange{row, i64Constant(b, 1), step});
  op.erase();
  return success();
}

void ConvertESToVectorPass::runOnOperation() {
  if (vectorWidth != 1 && vectorWidth != 4 && vectorWidth != 8 &&
      vectorWidth != 16) {
    getOperation().emitError()
        << "expects a vector width of 1, 4, 8 or 16, got "
        << unsigned(vectorWidth);
    return signalPassFailure();
  }
  if (threads < 1) {
    getOperation().emitError() << "expects at least one thread, got 0";
    return signalPassFailure();
  }
  WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
    if (isa<UpdateOp, PerturbOp, StepKeyOp, ShapeFitnessOp>(op) &&
        failed(checkPlace(op)))
      return failure();
    if (auto update = dyn_cast<UpdateOp>(op))
      return lower(update);
    if (auto perturb = dyn_cast<PerturbOp>(op))
      return lower(perturb);
    if (auto key = dyn_cast<StepKeyOp>(op)) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      key.replaceAllUsesWith(emitStepKey(b, key.getSeed(), key.getStep()));
      key.erase();
    } else if (auto shape = dyn_cast<ShapeFitnessOp>(op)) {
      if (failed(checkBuffer(op, shape.getFitness())) ||
          failed(checkBuffer(op, shape.getDestination())))
        return failure();
      ImplicitLocOpBuilder b(op->getLoc(), op);
      auto [members, unit] = emitShaping(b, shape);
      shape.getMembers().replaceAllUsesWith(members);
      shape.getUnit().replaceAllUsesWith(unit);
      shape.erase();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
