//===- EmitSums.cpp - Noise summed over pairs -----------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tile, then pairs, then blocks: the sums of a tile stay in the first cache
// while all pairs pass over them.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "es/Reference/NoiseVersion1.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;
using namespace mlir::es::noise;

namespace {
/// How the samples of a pair enter the sums.
enum class Mode { Set, Add };

struct SumEmitter {
  ImplicitLocOpBuilder &b;
  const Config &config;
  const Tile &tile;
  RoundKeys keys;
  Value id, firstRun, runs;

  SumEmitter(ImplicitLocOpBuilder &b, const Config &config, const Tile &tile);
  Lanes lanes() { return Lanes(b, config.width); }
  bool isExact() const {
    return config.kind == Config::Update && config.order == SumOrder::exact;
  }

  Value getEnd();
  void fill(Value base);
  void addInto(Value total);
  void forEachBlock(llvm::function_ref<void(Value, Value)> body);
  void forEachBlock(uint32_t purpose, Value pair,
                    llvm::function_ref<void(Value, ArrayRef<Value>)> body);
  void emitPair(Mode mode, Value coefficient, Value pair);
  void emitPairs(Value from, Value to);
  void addSamples(Mode mode, Value coefficient, Value at,
                  ArrayRef<Value> words);
  void addSigns(Value coefficients, Value first, unsigned count);
  void addExactly(Value coefficient, Value at, ArrayRef<Value> words);
};
} // namespace

Type mlir::es::kernel::getSumType(ImplicitLocOpBuilder &b,
                                  const Config &config) {
  if (config.kind == Config::Perturb || config.order != SumOrder::exact)
    return b.getF32Type();
  return config.accumulator == Accumulator::s32 ? b.getI32Type()
                                                : b.getI64Type();
}

SumEmitter::SumEmitter(ImplicitLocOpBuilder &b, const Config &config,
                       const Tile &tile)
    : b(b), config(config), tile(tile),
      keys(b, loadWord(b, b.getI64Type(), tile.step, kKey)) {
  Lanes s(b, 1);
  id = loadWord(b, b.getI64Type(), tile.row, kId);
  int64_t run = config.getRunElements();
  if (!tile.first)
    return;
  firstRun = s.shr(tile.first, llvm::Log2_64(run));
  runs = s.shr(s.add(tile.count, s.whole(run - 1, 64)), llvm::Log2_64(run));
}

/// Behind the last sum: of the last run, or of the last stripe of rows.
Value SumEmitter::getEnd() {
  Lanes s(b, 1);
  if (!config.rank)
    return s.mul(runs, s.whole(config.getRunElements(), 64));
  Value rows = arith::MinSIOp::create(b, s.add(tile.rows, s.whole(8, 64)),
                                      s.whole(kBlockRows, 64));
  return s.mul(rows, s.whole(kBlockColumns, 64));
}

/// Zero in all lanes of every run.
void SumEmitter::fill(Value base) {
  Lanes l = lanes(), s(b, 1);
  Type type = getSumType(b, config);
  Value zero = isa<FloatType>(type) ? l.real(0.0)
                                    : l.whole(0, type.getIntOrFloatBitWidth());
  loop(b, i64Constant(b, 0), getEnd(), config.width,
       [&](Value i) { l.store(zero, base, i); });
}

/// total += sums, the order of chunks.
void SumEmitter::addInto(Value total) {
  Lanes l = lanes(), s(b, 1);
  loop(b, i64Constant(b, 0), getEnd(), config.width, [&](Value i) {
    Value sum = l.add(l.load(l.f32(), total, i), l.load(l.f32(), tile.sums, i));
    l.store(sum, total, i);
  });
}

/// Calls `body` with the place of the first sample in `sums` and the block.
void SumEmitter::forEachBlock(llvm::function_ref<void(Value, Value)> body) {
  Lanes s(b, 1);
  loop(b, i64Constant(b, 0), runs, 1, [&](Value run) {
    Value place = s.mul(run, s.whole(config.getRunElements(), 64));
    Value block = s.shl(s.add(firstRun, run), 4);
    auto group = [&](Value lane) {
      body(s.add(place, lane), s.add(block, lane));
    };
    if (config.width == 16)
      group(i64Constant(b, 0));
    else
      loop(b, i64Constant(b, 0), i64Constant(b, 16), config.width, group);
  });
}

/// The words of a pair.
void SumEmitter::forEachBlock(
    uint32_t purpose, Value pair,
    llvm::function_ref<void(Value, ArrayRef<Value>)> body) {
  StreamValues stream{keys, id, pair, purpose};
  forEachBlock([&](Value at, Value block) {
    body(at, emitBlocks(lanes(), stream, block));
  });
}

void SumEmitter::addExactly(Value coefficient, Value at,
                            ArrayRef<Value> words) {
  Lanes l = lanes(), s(b, 1);
  unsigned bits = getSumType(b, config).getIntOrFloatBitWidth();
  Value c = l.splat(s.toInt(coefficient, bits));
  emitIntegerSamples(l, config.noise, words, [&](unsigned k, Value entry) {
    Value index = s.add(at, s.whole(16 * k, 64));
    Value sum = l.load(getSumType(b, config), tile.sums, index);
    Value wide = bits == 64 ? l.sext(entry, 64) : entry;
    l.store(l.add(sum, l.mul(c, wide)), tile.sums, index);
  });
}

void SumEmitter::addSamples(Mode mode, Value coefficient, Value at,
                            ArrayRef<Value> words) {
  Lanes l = lanes(), s(b, 1);
  auto place = [&](unsigned k) { return s.add(at, s.whole(16 * k, 64)); };
  Value c = coefficient ? l.splat(coefficient) : Value();
  emitSamples(l, config.noise, words, [&](unsigned k, Value sample) {
    if (mode == Mode::Add)
      sample = l.fma(c, sample, l.load(l.f32(), tile.sums, place(k)));
    l.store(sample, tile.sums, place(k));
  });
}

/// Rademacher noise of pairs that follow each other. c times 1 or -1 is exact,
/// so that the fma is a sum, and c == 0 changes none: no sum is -0.
void SumEmitter::addSigns(Value coefficients, Value first, unsigned count) {
  Lanes l = lanes(), s(b, 1);
  SmallVector<Value> pairs, signs;
  for (unsigned i = 0; i < count; ++i) {
    pairs.push_back(s.add(first, s.whole(i, 64)));
    Value c = s.load(s.f32(), coefficients, pairs.back());
    signs.push_back(l.bitcast(l.splat(c), l.i(32)));
  }
  forEachBlock([&](Value at, Value block) {
    SmallVector<SmallVector<Value, 4>> words;
    for (Value pair : pairs)
      words.push_back(emitBlocks(l, {keys, id, pair, kFullRank}, block));
    for (unsigned k = 0; k < 128; ++k) {
      Value place = s.add(at, s.whole(16 * k, 64));
      Value sum = l.load(l.f32(), tile.sums, place);
      for (unsigned i = 0; i < count; ++i)
        sum =
            l.add(sum, l.bitcast(l.bxor(signs[i], emitSignBit(l, words[i], k)),
                                 l.f32()));
      l.store(sum, tile.sums, place);
    }
  });
}

void SumEmitter::emitPair(Mode mode, Value coefficient, Value pair) {
  forEachBlock(config.purpose, pair, [&](Value at, ArrayRef<Value> words) {
    if (isExact())
      addExactly(coefficient, at, words);
    else
      addSamples(mode, coefficient, at, words);
  });
}

/// The pairs of [from, to) whose coefficient is not 0.
void SumEmitter::emitPairs(Value from, Value to) {
  if (config.rank)
    return addLowRankPairs(b, config, tile, from, to);
  Lanes s(b, 1);
  Type pointer = tile.step.getType();
  Value coefficients = loadWord(b, pointer, tile.step, kCoefficients);
  if (config.noise == NoiseKind::rademacher && !isExact()) {
    // A sum is read and written once for so many pairs.
    constexpr unsigned kTogether = 2;
    Value whole = s.band(s.sub(to, from), s.whole(-int64_t(kTogether), 64));
    Value rest = s.add(from, whole);
    loop(b, from, rest, kTogether,
         [&](Value pair) { addSigns(coefficients, pair, kTogether); });
    loop(b, rest, to, 1, [&](Value pair) { addSigns(coefficients, pair, 1); });
    return;
  }
  loop(b, from, to, 1, [&](Value pair) {
    Value c = s.load(s.f32(), coefficients, pair);
    Value counts = s.cmp(arith::CmpFPredicate::UNE, c, s.real(0.0));
    auto branch = scf::IfOp::create(b, counts, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    emitPair(Mode::Add, c, pair);
  });
}

void mlir::es::kernel::emitSums(ImplicitLocOpBuilder &b, const Config &config,
                                const Tile &tile) {
  SumEmitter emitter(b, config, tile);
  if (config.kind == Config::Perturb) {
    Value pair = loadWord(b, b.getI64Type(), tile.step, kPair);
    if (!config.rank)
      return emitter.emitPair(Mode::Set, Value(), pair);
    emitter.fill(tile.sums);
    return addLowRankPairs(b, config, tile, pair, Value());
  }
  Value zero = i64Constant(b, 0);
  Value pairs = loadWord(b, b.getI64Type(), tile.step, kPairs);
  if (config.order != SumOrder::chunk) {
    emitter.fill(tile.sums);
    emitter.emitPairs(zero, pairs);
    return;
  }
  Lanes s(b, 1);
  Value total = createScratch(b, b.getF32Type(), config.getTileElements());
  auto chunk = [&](Value from) {
    Value next = s.add(from, s.whole(config.chunk, 64));
    Value to = arith::MinSIOp::create(b, next, pairs);
    emitter.fill(tile.sums);
    emitter.emitPairs(from, to);
  };
  // The first partial sum is the total so far, with its sign of zero.
  chunk(zero);
  Lanes l = emitter.lanes();
  Value end = i64Constant(b, config.getTileElements());
  loop(b, zero, end, config.width,
       [&](Value i) { l.store(l.load(l.f32(), tile.sums, i), total, i); });
  loop(b, s.whole(config.chunk, 64), pairs, config.chunk, [&](Value from) {
    chunk(from);
    emitter.addInto(total);
  });
  loop(b, zero, end, config.width,
       [&](Value i) { l.store(l.load(l.f32(), total, i), tile.sums, i); });
}

void mlir::es::kernel::emitRandomBits(ImplicitLocOpBuilder &b,
                                      const Config &config, const Tile &tile) {
  // In the layout of normal16, whatever the noise is: runs of 128 elements.
  Config layout = config;
  layout.noise = NoiseKind::normal16;
  SumEmitter emitter(b, layout, tile);
  Lanes l = emitter.lanes(), s(b, 1);
  for (auto [purpose, out] :
       llvm::zip_equal(config.getRandomPurposes(), tile.random))
    emitter.forEachBlock(
        purpose, i64Constant(b, kNoPair),
        [&, out = out](Value at, ArrayRef<Value> words) {
          emitRoundingBits(l, words, [&](unsigned k, Value bits) {
            l.store(bits, out, s.add(at, s.whole(16 * k, 64)));
          });
        });
}
