//===- CheckpointBlocks.cpp - Where the forward pass may be cut -----------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cut costs what is live across it, so cuts are where that is one activation.
// Between two neighbouring ones is a piece. Layers show as a repetition of
// pieces: there a block is one layer, and of the places where it may begin the
// one that the least bytes cross. Elsewhere a block is as many pieces as it
// takes to hold a product of matrices. A heuristic: where nothing is narrow (a
// U-net) it finds no cut.
//
//===----------------------------------------------------------------------===//

#include "Checkpoints.h"

#include "es/Analysis/StorageSize.h"
#include "es/OpModel/Derivatives.h"
#include "es/OpModel/OpModel.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace mlir::es;

/// Repetitions longer than this many pieces are not found.
static constexpr unsigned kLongestPeriod = 128;
/// Stretches of repetition looked for between two given boundaries.
static constexpr unsigned kMostRepetitions = 8;

namespace {
struct Piece {
  unsigned begin;
  /// What is live across its begin.
  uint64_t bytes;
  llvm::hash_code names = 0;
  unsigned ops = 0;
  bool hasContraction = false;
  /// Nothing is merged across its begin.
  bool isGiven = false;
};

/// A stretch of pieces that repeats every `period` pieces.
struct Repetition {
  unsigned begin = 0, end = 0, period = 0, ops = 0;
};

class BlockFinder {
public:
  explicit BlockFinder(const ForwardPass &forward) : forward(forward) {}
  SmallVector<unsigned> find();

private:
  bool isStream(Value value, unsigned lastUse) const;
  void measureCrossing();
  void findPieces();
  Repetition findRepetition(unsigned begin, unsigned end) const;
  unsigned findPhase(const Repetition &found) const;
  void cutSection(unsigned begin, unsigned end);
  void mergeUnits(unsigned begin, unsigned end);

  const ForwardPass &forward;
  /// Activations and their bytes live across the begin of each op.
  std::vector<unsigned> crossing;
  std::vector<uint64_t> bytes;
  std::vector<Piece> pieces;
  /// Whether a layer, or another piece, begins with the piece.
  std::vector<bool> isUnit;
  /// The positions at which blocks begin.
  SmallVector<unsigned> blocks;
};
} // namespace

static uint64_t getBytes(Type type) {
  SizeOptions size;
  size.leadingDynamic = 1;
  llvm::Expected<uint64_t> bytes = getStorageBytes(type, size);
  if (bytes)
    return *bytes;
  llvm::consumeError(bytes.takeError());
  return 0;
}

/// What depends on no parameter counts like an activation where it may be what
/// enters the first layer. What is still read in the last third, a mask say, is
/// rather there all the time.
bool BlockFinder::isStream(Value value, unsigned lastUse) const {
  return carriesGradient(value.getType()) &&
         uint64_t(lastUse) * 3 <= uint64_t(forward.size()) * 2;
}

/// Views count as what they are views of.
void BlockFinder::measureCrossing() {
  llvm::DenseMap<Value, Value> bases;
  // The position before which a value is not there, and its last use.
  llvm::MapVector<Value, std::pair<unsigned, unsigned>> lives;
  auto getBase = [&](Value value) {
    Value base = bases.lookup(value);
    return base ? base : value;
  };
  for (unsigned position = 0, e = forward.size(); position < e; ++position) {
    Operation *op = forward.getOp(position);
    OpFacts facts = getOpFacts(op);
    for (auto [fact, result] : llvm::zip(facts.results, op->getResults())) {
      if (fact.kind == ResultKind::View)
        bases[result] = getBase(op->getOperand(fact.source));
      Repeat repeat = forward.getRepeat(position);
      unsigned last = std::max(position, forward.getLastUse(result));
      bool isActivation =
          repeat == Repeat::Activation ||
          (repeat == Repeat::Never && fact.kind == ResultKind::New) ||
          (repeat == Repeat::Inactive && isStream(result, last));
      if (!isActivation || !isMemoryType(result.getType()))
        continue;
      Value base = getBase(result);
      auto [it, inserted] = lives.insert({base, {position + 1, last}});
      it->second.second = std::max(it->second.second, last);
    }
  }
  for (Value input : forward.getInputs())
    if (unsigned last = forward.getLastUse(input); isStream(input, last))
      lives.insert({getBase(input), {0, last}});
  crossing.assign(forward.size() + 1, 0);
  bytes.assign(forward.size() + 1, 0);
  for (auto &[base, life] : lives) {
    uint64_t size = getBytes(base.getType());
    ++crossing[life.first];
    bytes[life.first] += size;
    --crossing[life.second + 1];
    bytes[life.second + 1] -= size;
  }
  for (unsigned position = 1; position < crossing.size(); ++position) {
    crossing[position] += crossing[position - 1];
    bytes[position] += bytes[position - 1];
  }
}

/// Pieces hold activations; what is around those goes with the ones behind.
void BlockFinder::findPieces() {
  pieces.push_back({0, 0});
  bool mayCut = false;
  for (unsigned position = 0, e = forward.size(); position < e; ++position) {
    Operation *op = forward.getOp(position);
    bool isGiven = isRecomputationBoundary(op);
    if (position && (isGiven || (mayCut && crossing[position] == 1))) {
      pieces.push_back({position, bytes[position]});
      pieces.back().isGiven = isGiven;
      mayCut = false;
    }
    if (forward.getRepeat(position) == Repeat::Inactive ||
        forward.getRepeat(position) == Repeat::Always)
      continue;
    OpClass opClass = getOpFacts(op).opClass;
    if (forward.getRepeat(position) == Repeat::Never &&
        opClass != OpClass::ControlFlow)
      continue;
    mayCut = true;
    Piece &piece = pieces.back();
    piece.names = llvm::hash_combine(piece.names, op->getName().getStringRef());
    ++piece.ops;
    piece.hasContraction |=
        opClass == OpClass::Contraction || opClass == OpClass::ControlFlow;
  }
  // Without any product there is nothing to wait for.
  if (llvm::none_of(pieces, [](const Piece &p) { return p.hasContraction; }))
    for (Piece &piece : pieces)
      piece.hasContraction = true;
}

/// The repetition that most ops take part in, with the shortest period.
Repetition BlockFinder::findRepetition(unsigned begin, unsigned end) const {
  Repetition best;
  auto consider = [&](unsigned first, unsigned last, unsigned period) {
    if (last - first < 2 * period)
      return;
    ArrayRef<Piece> covered = ArrayRef(pieces).slice(first, last - first);
    if (llvm::none_of(covered.take_front(period),
                      [](const Piece &p) { return p.hasContraction; }))
      return;
    unsigned ops = 0;
    for (const Piece &piece : covered)
      ops += piece.ops;
    if (ops > best.ops)
      best = {first, last, period, ops};
  };
  unsigned longest = std::min((end - begin) / 2, kLongestPeriod);
  for (unsigned period = 1; period <= longest; ++period) {
    unsigned first = begin;
    for (unsigned at = begin; at + period < end; ++at)
      if (pieces[at].names != pieces[at + period].names) {
        consider(first, at + period, period);
        first = at + 1;
      }
    consider(first, end, period);
  }
  return best;
}

/// How many pieces into the repetition blocks begin.
unsigned BlockFinder::findPhase(const Repetition &found) const {
  unsigned best = 0;
  auto cost = [&](unsigned phase) {
    return pieces[found.begin + found.period + phase].bytes;
  };
  for (unsigned phase = 1; phase < found.period; ++phase)
    if (found.begin + found.period + phase < found.end &&
        cost(phase) < cost(best))
      best = phase;
  return best;
}

/// Blocks of the pieces between two given boundaries.
void BlockFinder::cutSection(unsigned begin, unsigned end) {
  SmallVector<std::pair<unsigned, unsigned>> worklist = {{begin, end}};
  for (unsigned round = 0; !worklist.empty(); ++round) {
    auto [first, last] = worklist.pop_back_val();
    Repetition found;
    if (round < kMostRepetitions)
      found = findRepetition(first, last);
    if (!found.period)
      continue;
    unsigned at = found.begin + findPhase(found), start = at;
    for (; at + found.period <= found.end; at += found.period)
      for (unsigned inside = 1; inside < found.period; ++inside)
        isUnit[at + inside] = false;
    worklist.push_back({at, last});
    worklist.push_back({first, start});
  }
  mergeUnits(begin, end);
}

/// Between two units with a product the cut is where it costs least, and there
/// as late as possible.
void BlockFinder::mergeUnits(unsigned begin, unsigned end) {
  blocks.push_back(pieces[begin].begin);
  std::optional<unsigned> cut;
  bool seen = false;
  for (unsigned unit = begin, next; unit < end; unit = next) {
    next = unit + 1;
    while (next < end && !isUnit[next])
      ++next;
    if (seen && (!cut || pieces[unit].bytes <= pieces[*cut].bytes))
      cut = unit;
    bool hasContraction =
        llvm::any_of(ArrayRef(pieces).slice(unit, next - unit),
                     [](const Piece &piece) { return piece.hasContraction; });
    if (!hasContraction)
      continue;
    if (cut)
      blocks.push_back(pieces[*cut].begin);
    cut.reset();
    seen = true;
  }
}

SmallVector<unsigned> BlockFinder::find() {
  measureCrossing();
  findPieces();
  isUnit.assign(pieces.size(), true);
  unsigned begin = 0;
  for (unsigned piece = 1, e = pieces.size(); piece <= e; ++piece)
    if (piece == e || pieces[piece].isGiven) {
      cutSection(begin, piece);
      begin = piece;
    }
  return std::move(blocks);
}

SmallVector<unsigned>
mlir::es::findCheckpointBlocks(const ForwardPass &forward) {
  return BlockFinder(forward).find();
}
