//===- ESToVector.cpp - Ops of an Evolution Strategies step to kernels ----===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"
#include "Shaping.h"
#include "es/Conversion/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::es {
#define GEN_PASS_DEF_CONVERTESTOVECTOR
#include "es/Conversion/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;

namespace {

struct Perturbation;

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
  LogicalResult lower(PerturbFactorsOp op);
  LogicalResult lowerFactor(PerturbFactorsOp op, Value memref,
                            uint32_t purpose);
  void perturbRange(Perturbation &p, Value data, Value out, Value first,
                    Value count);
  void perturbRows(Perturbation &p, Value rows, Value data, Value out,
                   Value count);
  void call(Perturbation &perturbation);
  void setTile(Config &config);
  func::FuncOp createKernel(ImplicitLocOpBuilder &b, const Config &config);

  unsigned count = 0, scaleCount = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The sizes of a matrix.
static void addSizes(ImplicitLocOpBuilder &b, Value memref, WordValues &row) {
  for (int64_t i = 0; i < 2; ++i)
    row.push_back(
        {i ? kColumns : kRows,
         arith::IndexCastOp::create(b, b.getI64Type(),
                                    memref::DimOp::create(b, memref, i))});
}

/// The parameter itself.
static void addTensor(ImplicitLocOpBuilder &b, const Config &config,
                      Value memref, ParamAttr param, WordValues &row) {
  row.push_back({kData, getPointer(b, memref)});
  row.push_back({kCount, getCount(b, memref)});
  if (config.rank)
    addSizes(b, memref, row);
  row.push_back({kId, i64Constant(b, param.getEffectiveId())});
}

/// The scales of an axis, constants of the module.
static void addScales(ImplicitLocOpBuilder &b, const Quantum &quantum,
                      unsigned number, WordValues &row) {
  LLVM::GlobalOp scales = getScales(getModule(b), b, quantum, number);
  row.push_back({kAxisScales, LLVM::AddressOfOp::create(b, scales)});
  row.push_back({kAxisStride, i64Constant(b, quantum.stride)});
  row.push_back({kAxisSize, i64Constant(b, quantum.scales.size())});
}

void ConvertESToVectorPass::setTile(Config &config) {
  config.width = vectorWidth;
  config.threads = threads;
  // Random bits come in runs of 128.
  int64_t run = config.getRunElements();
  int64_t elements = llvm::alignTo(std::max<int64_t>(tileSize, run),
                                   std::max<int64_t>(run, 128));
  config.tileRuns = elements / run;
}

func::FuncOp ConvertESToVectorPass::createKernel(ImplicitLocOpBuilder &b,
                                                 const Config &config) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(cast<ModuleOp>(getModule(b)).getBody());
  return createLoopFunction(b, config, createTileFunction(b, config));
}

//===----------------------------------------------------------------------===//
// es.update
//===----------------------------------------------------------------------===//

LogicalResult ConvertESToVectorPass::lower(UpdateOp op) {
  for (Value operand : op->getOperands())
    if (isa<ShapedType>(operand.getType()) && failed(checkBuffer(op, operand)))
      return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Lanes s(b, 1);
  Value coefficients = getPointer(b, op.getCoefficients());
  Value pairs = getCount(b, op.getCoefficients());
  auto coefficientAt = [&](Value pair) {
    return s.load(s.f32(), coefficients, pair);
  };
  UpdateScalars scalars(b, op, pairs, coefficientAt);
  auto branch = scf::IfOp::create(b, scalars.anyCoefficient(), false);
  b.setInsertionPointToStart(branch.thenBlock());

  Value step = createScratch(b, b.getI64Type(), kStepWords);
  storeWord(b, op.getKey(), step, kKey);
  storeWord(b, coefficients, step, kCoefficients);
  storeWord(b, pairs, step, kPairs);
  for (auto [word, value] : scalars.getStep())
    storeWord(b, value, step, word);

  // Kernels, in the order of their first parameter.
  llvm::MapVector<StringRef, Group> groups;
  SmallVector<Quantum> quanta;
  SmallVector<unsigned> states;
  unsigned nextState = 0;
  std::string prefix = "es_update" + std::to_string(count++) + "_";
  for (auto [index, value] : llvm::enumerate(op.getParameters())) {
    FailureOr<Quantum> quantum =
        getQuantum(op, op.getParam(index), cast<ShapedType>(value.getType()));
    if (failed(quantum))
      return failure();
    quanta.push_back(*quantum);
    states.push_back(nextState);
    Config config = makeConfig(op, index, nextState, *quantum);
    config.name = prefix + config.name;
    setTile(config);
    StringRef key = StringAttr::get(op.getContext(), config.name).getValue();
    Group &group = groups[key];
    group.config = config;
    group.parameters.push_back(index);
    nextState += op.getNumStatesOf(index);
  }
  for (auto &entry : groups) {
    Group &group = entry.second;
    Value rows =
        createScratch(b, b.getI64Type(), kRowWords * group.parameters.size());
    func::FuncOp fill;
    for (auto [place, index] : llvm::enumerate(group.parameters)) {
      WordValues row;
      addTensor(b, group.config, op.getParameters()[index], op.getParam(index),
                row);
      for (auto [word, state] : getStatesOf(op, index, states[index]))
        row.push_back({word, getPointer(b, state)});
      row.append(scalars.getRow(group.config, index, quanta[index]));
      if (group.config.perAxis)
        addScales(b, quanta[index], scaleCount++, row);
      fill = callRowFunction(b, group.config, rows, place, row, fill);
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

namespace {
/// The perturbations of one op: of a member, with noise of one parameter.
struct Perturbation {
  ImplicitLocOpBuilder &b;
  Config config;
  Lanes s;
  Value pair, isOdd, step, row;

  Perturbation(ImplicitLocOpBuilder &b, const Config &config, ParamAttr param,
               Value key, Value member, bool antithetic);
  void setScale(float sigma);
};
} // namespace

Perturbation::Perturbation(ImplicitLocOpBuilder &b, const Config &config,
                           ParamAttr param, Value key, Value member,
                           bool antithetic)
    : b(b), config(config), s(b, 1) {
  pair = arith::IndexCastOp::create(b, b.getI64Type(), member);
  if (antithetic) {
    Value one = i64Constant(b, 1);
    isOdd = s.cmp(arith::CmpIPredicate::eq, s.band(pair, one), one);
    pair = s.shr(pair, 1);
  }
  step = createScratch(b, b.getI64Type(), kStepWords);
  storeWord(b, key, step, kKey);
  storeWord(b, pair, step, kPair);
  row = createScratch(b, b.getI64Type(), kRowWords);
  storeWord(b, i64Constant(b, param.getEffectiveId()), row, kId);
}

void Perturbation::setScale(float sigma) {
  Value scale = s.real(sigma);
  if (isOdd)
    scale = s.select(isOdd, s.real(-sigma), scale);
  storeWord(b, scale, row, kScale);
}

/// The address of the first element of a buffer that may be a part of another.
static FailureOr<Value> getFirstElement(ImplicitLocOpBuilder &b, Operation *op,
                                        Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type || type.getLayout().isIdentity()) {
    if (failed(checkBuffer(op, memref)))
      return failure();
    return getPointer(b, memref);
  }
  SmallVector<int64_t> strides;
  int64_t offset, stride = 1;
  bool isContiguous = succeeded(type.getStridesAndOffset(strides, offset));
  for (int64_t i = type.getRank() - 1; isContiguous && i >= 0; --i) {
    isContiguous = strides[i] == stride || type.getDimSize(i) == 1;
    stride *= type.getDimSize(i);
  }
  if (!isContiguous) {
    (void)checkBuffer(op, memref);
    return failure();
  }
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  Value by =
      arith::IndexCastOp::create(b, b.getI64Type(), metadata.getOffset());
  return elementPtr(b, type.getElementType(), getPointer(b, memref), by);
}

/// All perturbations of one kind share a kernel.
void ConvertESToVectorPass::call(Perturbation &perturbation) {
  ImplicitLocOpBuilder &b = perturbation.b;
  Config &config = perturbation.config;
  config.name = "es_perturb_" + toString(config.element) + "_" +
                stringifyNoiseKind(config.noise).str();
  if (config.rank)
    config.name += "_rank" + std::to_string(config.rank);
  if (config.purpose)
    config.name += "_purpose" + std::to_string(config.purpose);
  if (config.isRange)
    config.name += "_part";
  if (config.perAxis)
    config.name += "_axis";
  auto kernel = cast<ModuleOp>(getModule(b))
                    .lookupSymbol<func::FuncOp>(config.name + "_all");
  if (!kernel)
    kernel = createKernel(b, config);
  func::CallOp::create(
      b, kernel,
      ValueRange{perturbation.row, i64Constant(b, 1), perturbation.step});
}

/// The elements from `first` on, `count` of them, in memory at `data` and
/// `out`.
void ConvertESToVectorPass::perturbRange(Perturbation &p, Value data, Value out,
                                         Value first, Value count) {
  Value back = p.s.sub(i64Constant(p.b, 0), first);
  storeWord(p.b, elementPtr(p.b, p.config.element, data, back), p.row, kData);
  storeWord(p.b, elementPtr(p.b, p.config.element, out, back), p.row, kOut);
  storeWord(p.b, first, p.row, kFirst);
  storeWord(p.b, p.s.add(first, count), p.row, kCount);
  call(p);
}

/// One range a row.
void ConvertESToVectorPass::perturbRows(Perturbation &p, Value rows, Value data,
                                        Value out, Value count) {
  ImplicitLocOpBuilder &b = p.b;
  Type index = cast<MemRefType>(rows.getType()).getElementType();
  Value pointer = getPointer(b, rows), n = getCount(b, rows);
  // No rows, no division.
  Value some = arith::MaxSIOp::create(b, n, i64Constant(b, 1));
  Value size = arith::DivSIOp::create(b, count, some);
  loop(b, i64Constant(b, 0), n, 1, [&](Value i) {
    Value row = p.s.load(index.isIndex() ? b.getI64Type() : index, pointer, i);
    if (row.getType() != b.getI64Type())
      row = p.s.sext(row, 64);
    Value at = p.s.mul(i, size);
    perturbRange(p, elementPtr(b, p.config.element, data, at),
                 elementPtr(b, p.config.element, out, at), p.s.mul(row, size),
                 size);
  });
}

LogicalResult ConvertESToVectorPass::lower(PerturbOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  if (op.getRows() && failed(checkBuffer(op, op.getRows())))
    return failure();
  FailureOr<Value> data = getFirstElement(b, op, op.getParameter());
  FailureOr<Value> out = getFirstElement(b, op, op.getDestination());
  FailureOr<Quantum> quantum = getQuantum(
      op, op.getParam(), cast<ShapedType>(op.getParameter().getType()));
  if (failed(data) || failed(out) || failed(quantum))
    return failure();
  Config config;
  config.kind = Config::Perturb;
  config.element = getElementTypeOrSelf(op.getParameter().getType());
  config.noise = op.getNoise();
  config.rank = isMatrix(op.getParameter()) ? op.getRank() : 0;
  config.isRange = op.getAt() || op.getRows();
  config.perAxis = quantum->axis.has_value();
  setTile(config);
  FloatAttr own = op.getParam().getSigma();
  float sigma = own ? own.getValueAsDouble() : op.getSigma().convertToDouble();
  if (config.isInteger() && !config.perAxis)
    sigma = sigma / float(quantum->scale);
  Perturbation p(b, config, op.getParam(), op.getKey(), op.getMember(),
                 op.getAntithetic());
  p.setScale(op.getUndo() ? -sigma : sigma);
  WordValues row;
  if (config.perAxis)
    addScales(b, *quantum, scaleCount++, row);
  if (config.rank)
    addSizes(b, op.getParameter(), row);
  storeWords(b, row, p.row);
  Value count = getCount(b, op.getParameter());
  if (Value at = op.getAt()) {
    perturbRange(p, *data, *out,
                 arith::IndexCastOp::create(b, b.getI64Type(), at), count);
  } else if (Value rows = op.getRows()) {
    perturbRows(p, rows, *data, *out, count);
  } else {
    storeWord(b, *data, p.row, kData);
    storeWord(b, *out, p.row, kOut);
    storeWord(b, count, p.row, kCount);
    call(p);
  }
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// es.perturb_factors
//===----------------------------------------------------------------------===//

/// Noise of the purpose of a factor on zeros.
LogicalResult ConvertESToVectorPass::lowerFactor(PerturbFactorsOp op,
                                                 Value memref,
                                                 uint32_t purpose) {
  if (failed(checkBuffer(op, memref)))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Config config;
  config.kind = Config::Perturb;
  config.element = getElementTypeOrSelf(memref.getType());
  config.noise = op.getNoise();
  config.purpose = purpose;
  setTile(config);
  bool isLeft = purpose == noise::kFactorA;
  Perturbation p(b, config, op.getParam(), op.getKey(), op.getMember(),
                 op.getAntithetic() && !isLeft);
  // The sign is in the right factor, the pair in both.
  if (isLeft && op.getAntithetic())
    storeWord(b, p.s.shr(p.pair, 1), p.step, kPair);
  FloatAttr own = op.getParam().getSigma();
  double sigma = own ? own.getValueAsDouble() : op.getSigma().convertToDouble();
  double rank = cast<MemRefType>(memref.getType()).getDimSize(0);
  p.setScale(isLeft ? 1.0f : float(sigma / std::sqrt(rank)));
  Value data = getPointer(b, memref), count = getCount(b, memref);
  Value zero = p.s.real(0.0, config.element);
  loop(b, i64Constant(b, 0), count, 1,
       [&](Value i) { p.s.store(zero, data, i); });
  storeWord(b, data, p.row, kData);
  storeWord(b, data, p.row, kOut);
  storeWord(b, count, p.row, kCount);
  call(p);
  return success();
}

LogicalResult ConvertESToVectorPass::lower(PerturbFactorsOp op) {
  if (failed(lowerFactor(op, op.getLeft(), noise::kFactorA)) ||
      failed(lowerFactor(op, op.getRight(), noise::kFactorB)))
    return failure();
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
  if (failed(lowerStepOps(
          getOperation(), [&](UpdateOp op) { return lower(op); },
          [&](Operation *op) {
            if (auto perturb = dyn_cast<PerturbOp>(op))
              return lower(perturb);
            return lower(cast<PerturbFactorsOp>(op));
          })))
    signalPassFailure();
}
