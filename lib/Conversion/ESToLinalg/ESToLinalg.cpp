//===- ESToLinalg.cpp - Steps as linalg on tensors ------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One linalg.generic a parameter. Its body computes the noise of its element,
// so that there is no tensor of noise, and any backend that takes linalg takes
// it.
//
//===----------------------------------------------------------------------===//

#include "../ESToVector/Access.h"
#include "../ESToVector/Samples.h"
#include "../ESToVector/Scalars.h"
#include "es/Conversion/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::es {
#define GEN_PASS_DEF_CONVERTESTOLINALG
#include "es/Conversion/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;
using namespace mlir::es::noise;

namespace {
struct ConvertESToLinalgPass
    : es::impl::ConvertESToLinalgBase<ConvertESToLinalgPass> {
  using Base = es::impl::ConvertESToLinalgBase<ConvertESToLinalgPass>;
  using Base::Base;
  void runOnOperation() override;
};

/// Values of one element, as the body of a linalg.generic has them.
struct ElementAccess final : Access {
  Value rowScalar(RowWord word) override {
    Value value = rowScalars.lookup(word);
    return quantum && word == scaled
               ? Value(arith::DivFOp::create(s->b, value, quantum))
               : value;
  }
  Value stepScalar(StepWord word) override { return stepScalars.lookup(word); }
  Value load(RowWord tensor, Type element) override {
    Value value = tensors.lookup(tensor);
    return value.getType() == element ? value : s->bitcast(value, element);
  }
  void store(RowWord tensor, Value value) override {
    Type type = tensors.lookup(tensor).getType();
    results[tensor] = value.getType() == type ? value : s->bitcast(value, type);
  }
  Value sum() override { return total; }
  Value random(Purpose purpose) override {
    StreamValues stream{*noise.keys, noise.id, i64Constant(s->b, kNoPair),
                        purpose};
    return emitRandomAt(*s, stream, noise.element);
  }

  const Lanes *s = nullptr;
  llvm::SmallDenseMap<int64_t, Value> rowScalars, stepScalars, tensors;
  llvm::SmallMapVector<int64_t, Value, 4> results;
  Value total, quantum;
  RowWord scaled = kStep;
  struct {
    const RoundKeys *keys = nullptr;
    Value id, element;
  } noise;
};

/// One parameter of one op.
struct ElementEmitter {
  ImplicitLocOpBuilder &b;
  Config config;
  Quantum quantum;
  ParamAttr param;
  const RoundKeys &keys;
  /// What the body reads and writes, the parameter first.
  SmallVector<std::pair<RowWord, Value>> tensors;
  /// The table of int8 noise.
  Value table = {};

  Lanes s = Lanes(b, 1);

  Value getIndex(RankedTensorType type, ArrayRef<Value> sizes);
  SmallVector<Value> getSizes();
  Value emitEntry(Value byte);
  void locate(ElementAccess &access);
  SmallVector<Value>
  emit(ArrayRef<RowWord> written,
       llvm::function_ref<void(ElementAccess &, const ElementNoise &)> prepare,
       Value unless);
};
} // namespace

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// The sizes of the parameter, i64.
SmallVector<Value> ElementEmitter::getSizes() {
  SmallVector<Value> sizes;
  Value tensor = tensors.front().second;
  for (int64_t i = 0; i < cast<RankedTensorType>(tensor.getType()).getRank();
       ++i)
    sizes.push_back(arith::IndexCastOp::create(
        b, b.getI64Type(), tensor::DimOp::create(b, tensor, i)));
  return sizes;
}

/// The row-major index of the element of the body.
Value ElementEmitter::getIndex(RankedTensorType type, ArrayRef<Value> sizes) {
  Value index = i64Constant(b, 0);
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Value at = arith::IndexCastOp::create(b, b.getI64Type(),
                                          linalg::IndexOp::create(b, i));
    index = s.add(s.mul(index, sizes[i]), at);
  }
  return index;
}

Value ElementEmitter::emitEntry(Value byte) {
  Value at = arith::IndexCastUIOp::create(b, b.getIndexType(), byte);
  return s.sext(tensor::ExtractOp::create(b, table, at), 32);
}

/// The scale of the element's index along its axis.
void ElementEmitter::locate(ElementAccess &access) {
  if (!config.perAxis)
    return;
  auto type =
      RankedTensorType::get({int64_t(quantum.scales.size())}, b.getF32Type());
  Value scales = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<float>(quantum.scales)));
  Value at = linalg::IndexOp::create(b, *quantum.axis);
  access.quantum = tensor::ExtractOp::create(b, scales, at);
  access.scaled = config.kind == Config::Update ? kStep : kScale;
}

/// The generic op over the written tensors; nothing changes with `unless`.
SmallVector<Value> ElementEmitter::emit(
    ArrayRef<RowWord> written,
    llvm::function_ref<void(ElementAccess &, const ElementNoise &)> prepare,
    Value unless) {
  auto type = cast<RankedTensorType>(tensors.front().second.getType());
  SmallVector<Value> sizes = getSizes(), inputs, outputs;
  if (config.noise == NoiseKind::int8)
    table = arith::ConstantOp::create(b, getInt8Entries(b));
  for (auto [word, tensor] : tensors)
    (llvm::is_contained(written, word) ? outputs : inputs).push_back(tensor);
  SmallVector<AffineMap> maps(tensors.size(),
                              b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto body = [&](OpBuilder &nested, Location loc, ValueRange arguments) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(nested.getInsertionBlock(), nested.getInsertionPoint());
    ElementAccess access;
    access.s = &s;
    for (auto [entry, value] : llvm::zip_equal(tensors, arguments))
      access.tensors[entry.first] = value;
    auto entryAt = [&](Value byte) { return emitEntry(byte); };
    ElementNoise noise{keys,
                       i64Constant(b, param.getEffectiveId()),
                       getIndex(type, sizes),
                       Value(),
                       Value(),
                       entryAt};
    if (config.rank) {
      noise.rows = sizes[0];
      noise.columns = sizes[1];
    }
    access.noise.keys = &keys;
    access.noise.id = noise.id;
    access.noise.element = noise.element;
    locate(access);
    prepare(access, noise);
    emitApply(s, config, access);
    SmallVector<Value> results;
    for (RowWord word : written) {
      Value value = access.results.lookup(word);
      Value before = access.tensors.lookup(word);
      results.push_back(unless ? s.select(unless, before, value) : value);
    }
    linalg::YieldOp::create(b, results);
  };
  return linalg::GenericOp::create(b, ValueRange(outputs).getTypes(), inputs,
                                   outputs, maps, loops, body)
      .getResults();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static LogicalResult checkTensors(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (isa<MemRefType, UnrankedMemRefType>(type))
      return op->emitOpError()
             << "cannot be lowered to linalg: expects tensors, got " << type;
  return success();
}

static LogicalResult lower(PerturbOp op) {
  if (failed(checkWhole(op, "linalg")) || failed(checkTensors(op)))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  FailureOr<Quantum> quantum = getQuantum(
      op, op.getParam(), cast<ShapedType>(op.getParameter().getType()));
  if (failed(quantum))
    return failure();
  Config config = makeConfig(op, *quantum);
  MemberValues member = getMember(b, op, config, *quantum);
  RoundKeys keys(b, op.getKey());
  ElementEmitter emitter{
      b,        config,
      *quantum, op.getParam(),
      keys,     {{kData, op.getParameter()}, {kOut, op.getDestination()}}};
  auto prepare = [&](ElementAccess &access, const ElementNoise &noise) {
    access.rowScalars[kScale] = member.scale;
    access.total = emitPairAt(emitter.s, config, noise, Value(), member.pair,
                              emitter.s.real(0.0));
  };
  op->replaceAllUsesWith(emitter.emit({kOut}, prepare, Value()));
  op.erase();
  return success();
}

static LogicalResult lower(UpdateOp op) {
  if (failed(checkTensors(op)))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Lanes s(b, 1);
  Value pairs = arith::IndexCastOp::create(
      b, b.getI64Type(), tensor::DimOp::create(b, op.getCoefficients(), 0));
  auto coefficientAt = [&](Value pair) -> Value {
    Value at = arith::IndexCastOp::create(b, b.getIndexType(), pair);
    return tensor::ExtractOp::create(b, op.getCoefficients(), at);
  };
  UpdateScalars scalars(b, op, pairs, coefficientAt);
  Value none = s.bxor(scalars.anyCoefficient(), s.whole(1, 1));
  RoundKeys keys(b, op.getKey());
  unsigned nextState = 0;
  SmallVector<Value> parameters, states;
  for (auto [index, value] : llvm::enumerate(op.getParameters())) {
    FailureOr<Quantum> quantum =
        getQuantum(op, op.getParam(index), cast<ShapedType>(value.getType()));
    if (failed(quantum))
      return failure();
    Config config = makeConfig(op, index, nextState, *quantum);
    ElementEmitter emitter{b,    config,          *quantum, op.getParam(index),
                           keys, {{kData, value}}};
    llvm::append_range(emitter.tensors, getStatesOf(op, index, nextState));
    WordValues row = scalars.getRow(config, index, *quantum);
    WordValues step = scalars.getStep();
    auto prepare = [&](ElementAccess &access, const ElementNoise &noise) {
      for (auto [word, scalar] : row)
        access.rowScalars[word] = scalar;
      for (auto [word, scalar] : step)
        access.stepScalars[word] = scalar;
      access.total = emitSumsOver(s, config, pairs, 1, coefficientAt,
                                  [&](Value c, Value pair, ValueRange before) {
                                    return SmallVector<Value>{emitPairAt(
                                        s, config, noise, c, pair, before[0])};
                                  })[0];
    };
    SmallVector<RowWord> written;
    for (auto [word, tensor] : emitter.tensors)
      written.push_back(word);
    SmallVector<Value> results = emitter.emit(written, prepare, none);
    parameters.push_back(results.front());
    llvm::append_range(states, ArrayRef<Value>(results).drop_front());
    nextState += op.getNumStatesOf(index);
  }
  llvm::append_range(parameters, states);
  op->replaceAllUsesWith(parameters);
  op.erase();
  return success();
}

void ConvertESToLinalgPass::runOnOperation() {
  WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
    if (isa<PerturbFactorsOp>(op))
      return op->emitOpError("cannot be lowered to linalg");
    if (auto update = dyn_cast<UpdateOp>(op)) {
      remarkOnNearest(update);
      return lower(update);
    }
    if (auto perturb = dyn_cast<PerturbOp>(op))
      return lower(perturb);
    if (auto key = dyn_cast<StepKeyOp>(op)) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      key.replaceAllUsesWith(emitStepKey(b, key.getSeed(), key.getStep()));
      key.erase();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
