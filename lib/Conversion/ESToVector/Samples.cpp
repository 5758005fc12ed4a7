//===- Samples.cpp - One element at a time --------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Samples.h"
#include "Shaping.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;
using namespace mlir::es::noise;

//===----------------------------------------------------------------------===//
// Noise
//===----------------------------------------------------------------------===//

/// words[index], of as many words as there are.
static Value pick(const Lanes &s, ArrayRef<Value> words, Value index) {
  Value picked = words[0];
  for (unsigned i = 1; i < words.size(); ++i)
    picked = s.select(s.cmp(arith::CmpIPredicate::eq, index, s.whole(i)),
                      words[i], picked);
  return picked;
}

namespace {
/// The block of an element, and the number of its sample there, i32.
struct PlaceValues {
  PlaceValues(const Lanes &s, unsigned samples, const StreamValues &stream,
              Value element) {
    unsigned shift = 4 + llvm::Log2_32(samples);
    Value lane = s.band(element, s.whole(15, 64));
    Value block = s.bor(s.shl(s.shr(element, shift), 4), lane);
    words = emitBlocks(s, stream, block);
    sample = s.trunc(s.band(s.shr(element, 4), s.whole(samples - 1, 64)), 32);
  }
  SmallVector<Value, 4> words;
  Value sample;
};
} // namespace

/// Of the samples that `words` hold, the one with this number.
static Value pickSample(const Lanes &s, NoiseKind noise, ArrayRef<Value> words,
                        Value number) {
  SmallVector<Value> samples;
  emitSamples(s, noise, words,
              [&](unsigned k, Value value) { samples.push_back(value); });
  return pick(s, samples, number);
}

Value mlir::es::kernel::emitSampleAt(const Lanes &s, NoiseKind noise,
                                     bool whole, const StreamValues &stream,
                                     Value element,
                                     llvm::function_ref<Value(Value)> entryAt) {
  unsigned count = getSamplesPerBlock(noise);
  PlaceValues place(s, count, stream, element);
  unsigned shift = llvm::Log2_32(count / 4);
  Value word = pick(s, place.words, s.shr(place.sample, shift));
  Value rest = s.band(place.sample, s.whole(count / 4 - 1));
  auto shifted = [&](Value by) -> Value {
    return arith::ShRUIOp::create(s.b, word, by);
  };
  switch (noise) {
  case NoiseKind::rademacher: {
    Value sign = s.sub(s.shl(s.band(shifted(rest), s.whole(1)), 1), s.whole(1));
    return whole ? sign : s.toFloat(sign);
  }
  case NoiseKind::int8: {
    Value entry = entryAt(s.band(shifted(s.shl(rest, 3)), s.whole(255)));
    return whole ? entry : s.mul(s.toFloat(entry), s.real(kInt8Scale));
  }
  case NoiseKind::normal32:
    // Two words a pair of samples: all of them are there already.
    return pickSample(s, noise, place.words, place.sample);
  case NoiseKind::normal16:
  case NoiseKind::uniform:
    break;
  }
  // Two samples a word: of four times the same word the first two.
  SmallVector<Value> samples;
  emitSamples(s, noise, {word, word, word, word},
              [&](unsigned k, Value value) { samples.push_back(value); });
  return pick(s, {samples[0], samples[1]}, rest);
}

Value mlir::es::kernel::emitRandomAt(const Lanes &s, const StreamValues &stream,
                                     Value element) {
  PlaceValues place(s, 8, stream, element);
  Value word = pick(s, place.words, s.shr(place.sample, 1));
  return pick(s, {s.band(word, s.whole(0xffff)), s.shr(word, 16)},
              s.band(place.sample, s.whole(1)));
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static Type getAccumulatorType(const Lanes &s, const Config &config) {
  return getSumType(s.b, config);
}

static bool isExact(const Lanes &s, const Config &config) {
  return isa<IntegerType>(getAccumulatorType(s, config));
}

Value mlir::es::kernel::emitPairAt(const Lanes &s, const Config &config,
                                   const ElementNoise &noise, Value coefficient,
                                   Value pair, Value sum) {
  bool exact = isExact(s, config);
  unsigned bits = exact ? sum.getType().getIntOrFloatBitWidth() : 32;
  auto sampleAt = [&](Purpose purpose, Value element) {
    StreamValues stream{noise.keys, noise.id, pair, purpose};
    Value value =
        emitSampleAt(s, config.noise, exact, stream, element, noise.entryAt);
    return exact && bits == 64 ? s.sext(value, 64) : value;
  };
  auto accumulate = [&](Value scale, Value value, Value to) {
    return exact ? s.add(to, s.mul(scale, value)) : s.fma(scale, value, to);
  };
  if (exact)
    coefficient = s.toInt(coefficient, bits);
  if (!config.rank) {
    Value value = sampleAt(kFullRank, noise.element);
    return coefficient ? accumulate(coefficient, value, sum) : value;
  }
  Value row = arith::DivUIOp::create(s.b, noise.element, noise.columns);
  Value column = arith::RemUIOp::create(s.b, noise.element, noise.columns);
  return fold(s.b, i64Constant(s.b, 0), i64Constant(s.b, config.rank), sum,
              [&](Value k, ValueRange before) {
                Value left =
                    sampleAt(kFactorA, s.add(s.mul(k, noise.rows), row));
                Value right =
                    sampleAt(kFactorB, s.add(s.mul(k, noise.columns), column));
                if (coefficient)
                  left = s.mul(coefficient, left);
                return SmallVector<Value>{accumulate(left, right, before[0])};
              })[0];
}

SmallVector<Value> mlir::es::kernel::emitSumsOver(
    const Lanes &s, const Config &config, Value pairs, unsigned count,
    llvm::function_ref<Value(Value)> coefficientAt,
    llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange)> addPair) {
  ImplicitLocOpBuilder &b = s.b;
  Type type = getAccumulatorType(s, config);
  Value nothing = isExact(s, config) ? s.whole(0, type.getIntOrFloatBitWidth())
                                     : s.real(0.0);
  SmallVector<Value> zeros(count, nothing);
  auto sumOf = [&](Value from, Value to) {
    ValueRange sums =
        fold(b, from, to, zeros, [&](Value pair, ValueRange before) {
          Value c = coefficientAt(pair);
          Value counts = s.cmp(arith::CmpFPredicate::UNE, c, s.real(0.0));
          auto branch = scf::IfOp::create(b, TypeRange(before), counts,
                                          /*withElse=*/true);
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(branch.thenBlock());
          scf::YieldOp::create(b, addPair(c, pair, before));
          b.setInsertionPointToStart(branch.elseBlock());
          scf::YieldOp::create(b, before);
          return SmallVector<Value>(branch.getResults());
        });
    return SmallVector<Value>(sums);
  };
  Value zero = i64Constant(b, 0);
  if (config.order != SumOrder::chunk)
    return sumOf(zero, pairs);
  Value size = i64Constant(b, config.chunk);
  auto end = [&](Value from) {
    return arith::MinSIOp::create(b, s.add(from, size), pairs);
  };
  Value chunks = arith::CeilDivSIOp::create(b, pairs, size);
  // The first partial sum is the total so far, with its sign of zero.
  return SmallVector<Value>(
      fold(b, i64Constant(b, 1), chunks, sumOf(zero, end(zero)),
           [&](Value chunk, ValueRange total) {
             Value from = s.mul(chunk, size);
             SmallVector<Value> next;
             for (auto [before, sum] :
                  llvm::zip_equal(total, sumOf(from, end(from))))
               next.push_back(s.add(before, sum));
             return next;
           }));
}
