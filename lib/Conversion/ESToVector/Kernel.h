//===- Kernel.h - One outlined kernel and its tables ------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is one function for all parameters of one element type. It works on
// one tile of one parameter, which a row of a table describes; what is common
// to all rows is in a block of words.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_CONVERSION_ESTOVECTOR_KERNEL_H
#define ES_LIB_CONVERSION_ESTOVECTOR_KERNEL_H

#include "EmitNoise.h"
#include "es/Reference/NoiseVersion1.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::es::kernel {

/// A tile of a matrix with low-rank noise: a block of it.
constexpr int64_t kBlockRows = 240, kBlockColumns = 512;

/// Everything about a kernel that is known when it is compiled.
struct Config {
  enum Kind { Update, Perturb } kind = Update;
  std::string name;
  Type element;
  /// Of the moments of the rule; 16 bits are rounded at random.
  Type moment;
  /// A scale for each index along an axis, of integers.
  bool perAxis = false;
  NoiseKind noise = NoiseKind::normal16;
  /// 0 is full rank, and so is every tensor that is no matrix.
  unsigned rank = 0;
  /// What the noise of a perturbation is drawn for.
  uint32_t purpose = noise::kFullRank;
  /// A perturbation of the elements [kFirst, kCount) of a parameter; kData and
  /// kOut are where its element 0 would be.
  bool isRange = false;
  SumOrder order = SumOrder::seq;
  int64_t chunk = 1;
  Accumulator accumulator = Accumulator::s64;
  OptimizerKind optimizer = OptimizerKind::sgd;
  DecayKind decay = DecayKind::none;
  Rounding rounding = Rounding::nearest;
  FixedRounding fixed = FixedRounding::nearest;
  bool maximize = true;
  double beta1 = 0, beta2 = 0, epsilon = 0, weightDecay = 0;
  unsigned width = 16;
  /// Elements of a tile in runs of sixteen blocks.
  unsigned tileRuns = 1;
  /// Threads that share the tiles.
  unsigned threads = 1;

  bool isHalf() const { return isa<BFloat16Type, Float16Type>(element); }
  bool isInteger() const { return isa<IntegerType>(element); }
  bool hasHalfMoments() const {
    return isa_and_present<BFloat16Type, Float16Type>(moment);
  }
  /// What the store reads random bits for.
  SmallVector<noise::Purpose> getRandomPurposes() const;
  int64_t getRunElements() const { return 16 * getSamplesPerBlock(noise); }
  int64_t getTileElements() const {
    return rank ? kBlockRows * kBlockColumns : tileRuns * getRunElements();
  }
};

/// Words of a row. Floats are in the first four bytes of their word.
enum RowWord : int64_t {
  kData,
  kCount,
  kId,
  kMoment1,
  kMoment2,
  kCompanion,
  /// s S, or sign sigma for a perturbation.
  kScale,
  /// lr s S.
  kAlpha,
  kLr,
  kLrDecay,
  /// alpha over the quantum, or the threshold, of integers.
  kStep,
  kRows,
  kColumns,
  /// Where a perturbation goes.
  kOut,
  /// f32 scales, elements from one index of their axis to the next, indices.
  kAxisScales,
  kAxisStride,
  kAxisSize,
  /// The first element of a range.
  kFirst,
  kRowWords
};

/// Words of the block that all rows share.
enum StepWord : int64_t {
  kKey,
  kCoefficients,
  kPairs,
  kCorrection1,
  kCorrection2,
  /// The pair of a perturbation.
  kPair,
  kStepWords
};

/// Words of a row or a step, and their values.
using WordValues = SmallVector<std::pair<int64_t, Value>>;
void storeWords(ImplicitLocOpBuilder &b, const WordValues &values, Value block);

/// Fills a row of a table by a call of `fill`, which is made for the first row
/// and returned. One function with a store for each word of a thousand rows
/// would be a block that schedulers need quadratic time for.
func::FuncOp callRowFunction(ImplicitLocOpBuilder &b, const Config &config,
                             Value rows, int64_t place, const WordValues &row,
                             func::FuncOp fill);

/// What the body of a tile reads once.
struct Tile {
  Value row, step, first, count;
  /// Of a block of a matrix, which has rows of kBlockColumns sums.
  Value firstRow, firstColumn, rows, columns;
  /// Sums (or samples), and random bits for each purpose that the store has.
  Value sums;
  SmallVector<Value> random;
};

/// Zeroes `tile.sums` and adds the terms of all pairs, or fills it with the
/// samples of one.
void emitSums(ImplicitLocOpBuilder &b, const Config &config, const Tile &tile);
/// The type of an element of `tile.sums`.
Type getSumType(ImplicitLocOpBuilder &b, const Config &config);
/// The random bits of elements from tile.first on, tile.count of them, for each
/// purpose.
void emitRandomBits(ImplicitLocOpBuilder &b, const Config &config,
                    const Tile &tile);
/// Adds the terms of pairs [from, to), of low rank, to the sums of a block.
void addLowRankPairs(ImplicitLocOpBuilder &b, const Config &config,
                     const Tile &tile, Value from, Value to);

/// func @name(row, step, tile): one tile of one parameter.
func::FuncOp createTileFunction(ImplicitLocOpBuilder &b, const Config &config);
/// func @name_all(rows, count, step): every tile of every row, over the threads
/// of a team.
func::FuncOp createLoopFunction(ImplicitLocOpBuilder &b, const Config &config,
                                func::FuncOp tileFunction);

/// An array in the frame of the function.
Value createScratch(ImplicitLocOpBuilder &b, Type element, int64_t count);

} // namespace mlir::es::kernel

#endif // ES_LIB_CONVERSION_ESTOVECTOR_KERNEL_H
