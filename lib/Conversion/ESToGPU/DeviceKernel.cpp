//===- DeviceKernel.cpp - A kernel whose sums are registers ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceKernel.h"
#include "../ESToVector/Access.h"
#include "../ESToVector/Samples.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;
using namespace mlir::es::noise;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {
enum class Kind { Pointer, Whole, Real };
struct Argument {
  bool ofStep;
  int64_t word;
  Kind kind;
};
} // namespace

static constexpr Argument kArguments[] = {
    {false, kData, Kind::Pointer},    {false, kCount, Kind::Whole},
    {false, kId, Kind::Whole},        {false, kMoment1, Kind::Pointer},
    {false, kMoment2, Kind::Pointer}, {false, kCompanion, Kind::Pointer},
    {false, kScale, Kind::Real},      {false, kAlpha, Kind::Real},
    {false, kLr, Kind::Real},         {false, kLrDecay, Kind::Real},
    {false, kStep, Kind::Real},       {false, kRows, Kind::Whole},
    {false, kColumns, Kind::Whole},   {false, kOut, Kind::Pointer},
    {true, kKey, Kind::Whole},        {true, kCoefficients, Kind::Pointer},
    {true, kPairs, Kind::Whole},      {true, kCorrection1, Kind::Real},
    {true, kCorrection2, Kind::Real}, {true, kPair, Kind::Whole}};

static Type getArgumentType(ImplicitLocOpBuilder &b, Kind kind) {
  switch (kind) {
  case Kind::Pointer:
    return LLVM::LLVMPointerType::get(b.getContext());
  case Kind::Whole:
    return b.getI64Type();
  case Kind::Real:
    return b.getF32Type();
  }
  llvm_unreachable("every argument has a kind");
}

SmallVector<Value>
mlir::es::kernel::getLaunchOperands(ImplicitLocOpBuilder &b,
                                    const LaunchValues &values) {
  SmallVector<Value> operands;
  for (const Argument &argument : kArguments) {
    Value value =
        (argument.ofStep ? values.step : values.row).lookup(argument.word);
    if (!value)
      value = LLVM::ZeroOp::create(b, getArgumentType(b, argument.kind));
    operands.push_back(value);
  }
  return operands;
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

namespace {
struct DeviceEmitter {
  ImplicitLocOpBuilder &b;
  const Config &config;
  UpdateOp op;
  const DeviceScales &scales;
  gpu::GPUFuncOp func;
  Lanes s = Lanes(b, 1);
  Value threshold = {};

  Value get(bool ofStep, int64_t word) {
    for (auto [index, argument] : llvm::enumerate(kArguments))
      if (argument.ofStep == ofStep && argument.word == word)
        return func.getArgument(index);
    llvm_unreachable("no such argument");
  }
  Value row(RowWord word) { return get(false, word); }
  Value step(StepWord word) { return get(true, word); }
  Value coefficientAt(Value pair) {
    return s.load(s.f32(), step(kCoefficients), pair);
  }
  Value getThread();
  Value getScale(Value element);
  void when(Value condition, llvm::function_ref<void()> body);
  void apply(const RoundKeys &keys, Value element, Value sum);
  SmallVector<Value> addBlock(const StreamValues &stream, Value block,
                              Value part, Value coefficient, ValueRange before);
  void emitBlockThread(const RoundKeys &keys);
  void emitElementThread(const RoundKeys &keys);
  void emitThread();
};

/// The element of a thread.
struct DeviceAccess final : Access {
  DeviceAccess(DeviceEmitter &emitter, const RoundKeys &keys, Value element,
               Value total)
      : emitter(emitter), keys(keys), element(element), total(total) {}

  Value rowScalar(RowWord word) override {
    if (word == kStep && emitter.threshold)
      return emitter.threshold;
    Value value = emitter.row(word);
    const Config &config = emitter.config;
    bool scaled = word == (config.kind == Config::Update ? kStep : kScale);
    if (!config.perAxis || !scaled)
      return value;
    return emitter.s.div(value, emitter.getScale(element));
  }
  Value stepScalar(StepWord word) override { return emitter.step(word); }
  Value load(RowWord tensor, Type type) override {
    return emitter.s.load(type, emitter.row(tensor), element);
  }
  void store(RowWord tensor, Value value) override {
    emitter.s.store(value, emitter.row(tensor), element);
  }
  Value sum() override { return total; }
  Value random(Purpose purpose) override {
    StreamValues stream{keys, emitter.row(kId), i64Constant(emitter.b, kNoPair),
                        purpose};
    return emitRandomAt(emitter.s, stream, element);
  }

  DeviceEmitter &emitter;
  const RoundKeys &keys;
  Value element, total;
};
} // namespace

Value DeviceEmitter::getThread() {
  Type i64 = b.getI64Type();
  auto number = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, i64, index);
  };
  Value block = number(gpu::BlockIdOp::create(b, gpu::Dimension::x));
  Value size = number(gpu::BlockDimOp::create(b, gpu::Dimension::x));
  Value thread = number(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  return s.add(s.mul(block, size), thread);
}

/// Of the element's index along the axis.
Value DeviceEmitter::getScale(Value element) {
  const Quantum &quantum = scales.quantum;
  Value table = LLVM::AddressOfOp::create(
      b, getScales(getModule(b), b, quantum, scales.number));
  Value index = arith::RemUIOp::create(
      b, arith::DivUIOp::create(b, element, s.whole(quantum.stride, 64)),
      s.whole(quantum.scales.size(), 64));
  return s.load(s.f32(), table, index);
}

void DeviceEmitter::when(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

void DeviceEmitter::apply(const RoundKeys &keys, Value element, Value sum) {
  DeviceAccess access(*this, keys, element, sum);
  emitApply(s, config, access);
}

/// The samples of a pair, added to sums, or alone without a coefficient.
SmallVector<Value> DeviceEmitter::addBlock(const StreamValues &stream,
                                           Value block, Value part,
                                           Value coefficient,
                                           ValueRange before) {
  SmallVector<Value, 4> words = emitBlocks(s, stream, block);
  SmallVector<Value> next(getElementsOfThread(config));
  bool exact = isa<IntegerType>(getSumType(b, config));
  if (config.noise == NoiseKind::rademacher) {
    Value word = words[0];
    for (unsigned i = 1; i < 4; ++i)
      word = s.select(s.cmp(arith::CmpIPredicate::eq, part, i64Constant(b, i)),
                      words[i], word);
    words = {word, word, word, word};
  }
  auto add = [&](unsigned k, Value sample) {
    if (k >= next.size())
      return;
    if (!coefficient) {
      next[k] = sample;
    } else if (!exact) {
      next[k] = s.fma(coefficient, sample, before[k]);
    } else {
      unsigned bits = before[k].getType().getIntOrFloatBitWidth();
      Value wide = bits == 64 ? s.sext(sample, 64) : sample;
      next[k] = s.add(before[k], s.mul(s.toInt(coefficient, bits), wide));
    }
  };
  if (exact)
    emitIntegerSamples(s, config.noise, words, add);
  else
    emitSamples(s, config.noise, words, add);
  return next;
}

void DeviceEmitter::emitBlockThread(const RoundKeys &keys) {
  unsigned count = getElementsOfThread(config);
  unsigned samples = getSamplesPerBlock(config.noise), parts = samples / count;
  unsigned shift = llvm::Log2_32(parts);
  Value thread = getThread(), lane = s.band(thread, s.whole(15, 64));
  Value part = s.band(s.shr(thread, 4), s.whole(parts - 1, 64));
  Value run = s.shr(thread, 4 + shift);
  Value block = s.bor(s.shl(run, 4), lane);
  Value first = s.add(s.mul(run, s.whole(16 * samples, 64)),
                      s.add(s.mul(part, s.whole(16 * count, 64)), lane));
  auto inside = [&](Value element) {
    return s.cmp(arith::CmpIPredicate::slt, element, row(kCount));
  };
  when(inside(first), [&] {
    auto add = [&](Value c, Value pair, ValueRange before) {
      return addBlock({keys, row(kId), pair, kFullRank}, block, part, c,
                      before);
    };
    SmallVector<Value> sums =
        op ? emitSumsOver(
                 s, config, step(kPairs), count,
                 [&](Value pair) { return coefficientAt(pair); }, add)
           : add(Value(), step(kPair), {});
    for (unsigned k = 0; k < count; ++k) {
      Value element = s.add(first, s.whole(16 * k, 64));
      when(inside(element), [&] { apply(keys, element, sums[k]); });
    }
  });
}

void DeviceEmitter::emitElementThread(const RoundKeys &keys) {
  Value element = getThread();
  Value inside = s.cmp(arith::CmpIPredicate::slt, element, row(kCount));
  when(inside, [&] {
    auto entryAt = [&](Value byte) -> Value {
      Value table = LLVM::AddressOfOp::create(b, getInt8Table(getModule(b), b));
      return s.sext(s.load(s.i(8), table, s.zext(byte, 64)), 32);
    };
    ElementNoise noise{keys,       row(kId),      element,
                       row(kRows), row(kColumns), entryAt};
    auto add = [&](Value c, Value pair, ValueRange before) {
      return SmallVector<Value>{
          emitPairAt(s, config, noise, c, pair, before[0])};
    };
    Value zero = s.real(0.0);
    SmallVector<Value> sums =
        op ? emitSumsOver(
                 s, config, step(kPairs), 1,
                 [&](Value pair) { return coefficientAt(pair); }, add)
           : add(Value(), step(kPair), zero);
    apply(keys, element, sums[0]);
  });
}

void DeviceEmitter::emitThread() {
  RoundKeys keys(b, step(kKey));
  auto emit = [&] {
    if (config.rank)
      emitElementThread(keys);
    else
      emitBlockThread(keys);
  };
  if (!op)
    return emit();
  auto at = [&](Value pair) { return coefficientAt(pair); };
  UpdateScalars scalars(b, op, step(kPairs), at);
  when(scalars.anyCoefficient(), [&] {
    if (config.isInteger() && config.fixed == FixedRounding::threshold)
      threshold = scalars.getThreshold(config.rank);
    emit();
  });
}

/// LLVM's own intrinsics, which are rounded correctly, in place of functions
/// that the conversion of gpu would look for in libdevice.
static void useIntrinsics(gpu::GPUFuncOp func) {
  func.walk([](Operation *op) {
    StringRef name =
        llvm::TypeSwitch<Operation *, StringRef>(op)
            .Case([](math::SqrtOp) { return "llvm.sqrt"; })
            .Case([](math::FloorOp) { return "llvm.floor"; })
            .Case([](math::AbsFOp) { return "llvm.fabs"; })
            .Case([](math::RoundEvenOp) { return "llvm.roundeven"; })
            .Case([](math::FmaOp) { return "llvm.fma"; })
            .Default(StringRef());
    if (name.empty())
      return;
    Type type = op->getResult(0).getType();
    OpBuilder b(op);
    std::string intrinsic =
        (name + ".f" + Twine(type.getIntOrFloatBitWidth())).str();
    auto call = LLVM::CallIntrinsicOp::create(
        b, op->getLoc(), type, b.getStringAttr(intrinsic), op->getOperands());
    op->replaceAllUsesWith(call);
    op->erase();
  });
}

unsigned mlir::es::kernel::getElementsOfThread(const Config &config) {
  if (config.rank)
    return 1;
  return std::min(getSamplesPerBlock(config.noise), 32u);
}

gpu::GPUFuncOp
mlir::es::kernel::createDeviceKernel(ImplicitLocOpBuilder &b,
                                     const Config &config, UpdateOp op,
                                     const DeviceScales &scales) {
  SmallVector<Type> types;
  for (const Argument &argument : kArguments)
    types.push_back(getArgumentType(b, argument.kind));
  auto func =
      gpu::GPUFuncOp::create(b, config.name, b.getFunctionType(types, {}));
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&func.getBody().front());
  DeviceEmitter{b, config, op, scales, func}.emitThread();
  gpu::ReturnOp::create(b);
  useIntrinsics(func);
  return func;
}
