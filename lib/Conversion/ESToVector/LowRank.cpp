//===- LowRank.cpp - Sums of low-rank noise -------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is a block of a matrix. The factors of many pairs are generated into
// panels, those of the rows scaled by the coefficients; then a product of the
// panels adds them, column of the factors after column, six rows of lanes at a
// time in registers.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "es/Reference/NoiseVersion1.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;
using namespace mlir::es::noise;

/// Rows that one pass of the product keeps in registers.
static constexpr int64_t kStripe = 6;
/// Columns of factors in the panels.
static constexpr int64_t kPanel = 64;

static_assert(kBlockRows % kStripe == 0);

namespace {
struct PanelEmitter {
  ImplicitLocOpBuilder &b;
  const Config &config;
  const Tile &tile;
  Lanes s;
  RoundKeys keys;
  Value id, left, right, raw, filled;

  PanelEmitter(ImplicitLocOpBuilder &b, const Config &config, const Tile &tile);
  Type type() { return getSumType(b, config); }
  bool isExact() { return !isa<FloatType>(type()); }

  /// Generates `count` factors from element `from` on; returns where they are
  /// in `raw`.
  Value generate(uint32_t purpose, Value pair, Value from, Value count);
  void addColumn(Value coefficient, Value pair, Value k);
  void flush();
  void addPair(Value coefficient, Value pair);
};
} // namespace

PanelEmitter::PanelEmitter(ImplicitLocOpBuilder &b, const Config &config,
                           const Tile &tile)
    : b(b), config(config), tile(tile), s(b, 1),
      keys(b, loadWord(b, b.getI64Type(), tile.step, kKey)) {
  id = loadWord(b, b.getI64Type(), tile.row, kId);
  left = createScratch(b, type(), kPanel * kBlockRows);
  right = createScratch(b, type(), kPanel * kBlockColumns);
  raw = createScratch(b, type(), kBlockColumns + 2 * config.getRunElements());
  filled = createScratch(b, b.getI64Type(), 1);
  storeWord(b, i64Constant(b, 0), filled, 0);
}

Value PanelEmitter::generate(uint32_t purpose, Value pair, Value from,
                             Value count) {
  Lanes l(b, config.width);
  int64_t run = config.getRunElements();
  unsigned shift = llvm::Log2_64(run);
  Value firstRun = s.shr(from, shift);
  Value offset = s.sub(from, s.shl(firstRun, shift));
  Value runs = s.shr(s.add(s.add(offset, count), s.whole(run - 1, 64)), shift);
  StreamValues stream{keys, id, pair, purpose};
  loop(b, i64Constant(b, 0), runs, 1, [&](Value index) {
    loop(b, i64Constant(b, 0), i64Constant(b, 16), config.width,
         [&](Value lane) {
           Value block = s.add(s.shl(s.add(firstRun, index), 4), lane);
           Value at = s.add(s.shl(index, shift), lane);
           SmallVector<Value, 4> words = emitBlocks(l, stream, block);
           auto put = [&](unsigned k, Value value) {
             if (type().isInteger(64))
               value = l.sext(value, 64);
             l.store(value, raw, s.add(at, s.whole(16 * k, 64)));
           };
           if (isExact())
             emitIntegerSamples(l, config.noise, words, put);
           else
             emitSamples(l, config.noise, words, put);
         });
  });
  return offset;
}

/// One column of the factors of a pair into the panels.
void PanelEmitter::addColumn(Value coefficient, Value pair, Value k) {
  Value rows = loadWord(b, b.getI64Type(), tile.row, kRows);
  Value columns = loadWord(b, b.getI64Type(), tile.row, kColumns);
  Value place = loadWord(b, b.getI64Type(), filled, 0);
  Value offset =
      generate(kFactorA, pair, s.add(s.mul(k, rows), tile.firstRow), tile.rows);
  Value leftAt = s.mul(place, s.whole(kBlockRows, 64));
  Value c = coefficient;
  if (isExact())
    c = s.toInt(coefficient, type().getIntOrFloatBitWidth());
  loop(b, i64Constant(b, 0), tile.rows, 1, [&](Value i) {
    Value a = s.load(type(), raw, s.add(offset, i));
    s.store(s.mul(c, a), left, s.add(leftAt, i));
  });
  offset = generate(kFactorB, pair, s.add(s.mul(k, columns), tile.firstColumn),
                    tile.columns);
  Value rightAt = s.mul(place, s.whole(kBlockColumns, 64));
  loop(b, i64Constant(b, 0), tile.columns, 1, [&](Value j) {
    s.store(s.load(type(), raw, s.add(offset, j)), right, s.add(rightAt, j));
  });
  Value next = s.add(place, i64Constant(b, 1));
  storeWord(b, next, filled, 0);
  Value full = s.cmp(arith::CmpIPredicate::eq, next, s.whole(kPanel, 64));
  auto branch = scf::IfOp::create(b, full, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  flush();
}

/// Adds the product of the panels to the sums. Lanes and rows beyond the block
/// hold anything and are not read again.
void PanelEmitter::flush() {
  Lanes l(b, config.width);
  Value zero = i64Constant(b, 0), one = i64Constant(b, 1);
  Value depth = loadWord(b, b.getI64Type(), filled, 0);
  loop(b, zero, tile.rows, kStripe, [&](Value i) {
    loop(b, zero, tile.columns, config.width, [&](Value j) {
      SmallVector<Value> places, sums;
      for (int64_t r = 0; r < kStripe; ++r) {
        Value row = s.add(i, s.whole(r, 64));
        places.push_back(s.add(s.mul(row, s.whole(kBlockColumns, 64)), j));
        sums.push_back(l.load(type(), tile.sums, places.back()));
      }
      auto product = scf::ForOp::create(b, zero, depth, one, sums);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(product.getBody());
        Value q = product.getInductionVar();
        Value bs = l.load(type(), right,
                          s.add(s.mul(q, s.whole(kBlockColumns, 64)), j));
        Value at = s.add(s.mul(q, s.whole(kBlockRows, 64)), i);
        SmallVector<Value> next;
        for (int64_t r = 0; r < kStripe; ++r) {
          Value a = l.splat(s.load(type(), left, s.add(at, s.whole(r, 64))));
          Value sum = product.getRegionIterArgs()[r];
          next.push_back(isExact() ? l.add(sum, l.mul(a, bs))
                                   : l.fma(a, bs, sum));
        }
        scf::YieldOp::create(b, next);
      }
      for (int64_t r = 0; r < kStripe; ++r)
        l.store(product.getResult(r), tile.sums, places[r]);
    });
  });
  storeWord(b, zero, filled, 0);
}

void PanelEmitter::addPair(Value coefficient, Value pair) {
  loop(b, i64Constant(b, 0), i64Constant(b, config.rank), 1,
       [&](Value k) { addColumn(coefficient, pair, k); });
}

void mlir::es::kernel::addLowRankPairs(ImplicitLocOpBuilder &b,
                                       const Config &config, const Tile &tile,
                                       Value from, Value to) {
  PanelEmitter emitter(b, config, tile);
  Lanes &s = emitter.s;
  if (config.kind == Config::Perturb) {
    emitter.addPair(s.real(1.0), from);
    emitter.flush();
    return;
  }
  Value coefficients =
      loadWord(b, tile.step.getType(), tile.step, kCoefficients);
  loop(b, from, to, 1, [&](Value pair) {
    Value c = s.load(s.f32(), coefficients, pair);
    Value counts = s.cmp(arith::CmpFPredicate::UNE, c, s.real(0.0));
    auto branch = scf::IfOp::create(b, counts, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    emitter.addPair(c, pair);
  });
  emitter.flush();
}
