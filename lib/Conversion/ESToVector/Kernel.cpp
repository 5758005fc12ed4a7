//===- Kernel.cpp - One outlined kernel and its tables --------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Shaping.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;

Value mlir::es::kernel::createScratch(ImplicitLocOpBuilder &b, Type element,
                                      int64_t count) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  // In the entry block: a frame grows once a call.
  OpBuilder::InsertionGuard guard(b);
  Operation *parent = b.getInsertionBlock()->getParentOp();
  while (!isa<func::FuncOp>(parent))
    parent = parent->getParentOp();
  b.setInsertionPointToStart(&cast<func::FuncOp>(parent).getBody().front());
  return LLVM::AllocaOp::create(b, pointer, element, i64Constant(b, count),
                                /*alignment=*/64);
}

static func::FuncOp createFunction(ImplicitLocOpBuilder &b, StringRef name,
                                   ArrayRef<Type> arguments) {
  auto func = func::FuncOp::create(b, name, b.getFunctionType(arguments, {}));
  func.setPrivate();
  func->setAttr("llvm.linkage", LLVM::LinkageAttr::get(
                                    b.getContext(), LLVM::Linkage::Internal));
  func.addEntryBlock();
  return func;
}

SmallVector<noise::Purpose> Config::getRandomPurposes() const {
  SmallVector<noise::Purpose> purposes;
  if (kind != Update)
    return purposes;
  if ((isHalf() && rounding == Rounding::stochastic) ||
      (isInteger() && fixed == FixedRounding::stochastic))
    purposes.push_back(noise::kRoundParameter);
  if (!hasHalfMoments())
    return purposes;
  purposes.push_back(noise::kRoundMoment1);
  if (optimizer != OptimizerKind::momentum)
    purposes.push_back(noise::kRoundMoment2);
  return purposes;
}

namespace {
/// Elements of tensors in memory from `element` on; their sums and random bits
/// are in the tile's arrays.
struct MemoryAccess final : Access {
  MemoryAccess(const Lanes &l, const Config &config, const Tile &tile,
               Value sumIndex, Value element, Value randomIndex)
      : l(l), config(config), tile(tile), sumIndex(sumIndex), element(element),
        randomIndex(randomIndex) {}

  Value rowScalar(RowWord word) override {
    Value value = loadWord(l.b, l.f32(), tile.row, word);
    bool scaled = word == (config.kind == Config::Update ? kStep : kScale);
    if (!config.perAxis || !scaled)
      return value;
    Lanes s(l.b, 1);
    Value stride = loadWord(l.b, l.b.getI64Type(), tile.row, kAxisStride);
    Value size = loadWord(l.b, l.b.getI64Type(), tile.row, kAxisSize);
    Value index = arith::RemUIOp::create(
        l.b, arith::DivUIOp::create(l.b, element, stride), size);
    return s.div(value, s.load(s.f32(), pointer(kAxisScales), index));
  }
  Value stepScalar(StepWord word) override {
    return loadWord(l.b, l.f32(), tile.step, word);
  }
  Value load(RowWord tensor, Type type) override {
    return l.load(type, pointer(tensor), element);
  }
  void store(RowWord tensor, Value value) override {
    l.store(value, pointer(tensor), element);
  }
  Value sum() override {
    return l.load(getSumType(l.b, config), tile.sums, sumIndex);
  }
  Value random(noise::Purpose purpose) override {
    SmallVector<noise::Purpose> purposes = config.getRandomPurposes();
    size_t place = llvm::find(purposes, purpose) - purposes.begin();
    return l.load(l.i(32), tile.random[place], randomIndex);
  }

private:
  Value pointer(RowWord word) {
    return loadWord(l.b, tile.row.getType(), tile.row, word);
  }

  const Lanes &l;
  const Config &config;
  const Tile &tile;
  Value sumIndex, element, randomIndex;
};
} // namespace

static void applyAt(const Lanes &l, const Config &config, const Tile &tile,
                    Value sumIndex, Value element, Value randomIndex) {
  MemoryAccess access(l, config, tile, sumIndex, element, randomIndex);
  emitApply(l, config, access);
}

/// Lanes from \p first to \p count, then one at a time.
static void forLanes(ImplicitLocOpBuilder &b, const Config &config, Value first,
                     Value count,
                     llvm::function_ref<void(const Lanes &, Value)> body) {
  // Scales of an axis differ from element to element.
  unsigned width = config.perAxis ? 1 : config.width;
  Lanes s(b, 1), l(b, width);
  Value lanes = s.band(s.sub(count, first), s.whole(-int64_t(width), 64));
  Value whole = s.add(first, lanes);
  loop(b, first, whole, width, [&](Value i) { body(l, i); });
  if (width > 1)
    loop(b, whole, count, 1, [&](Value i) { body(s, i); });
}

static void createRandom(ImplicitLocOpBuilder &b, const Config &config,
                         Tile &tile, int64_t count) {
  for (size_t i = 0; i < config.getRandomPurposes().size(); ++i)
    tile.random.push_back(createScratch(b, b.getI32Type(), count));
}

/// Tiles before the first that a range is in.
static Value getFirstTile(ImplicitLocOpBuilder &b, const Config &config,
                          Value row) {
  if (!config.isRange)
    return i64Constant(b, 0);
  return arith::DivUIOp::create(b, loadWord(b, b.getI64Type(), row, kFirst),
                                i64Constant(b, config.getTileElements()));
}

/// Consecutive elements.
static void emitLinearTile(ImplicitLocOpBuilder &b, const Config &config,
                           Tile &tile, Value index) {
  Lanes s(b, 1);
  int64_t elements = config.getTileElements();
  index = s.add(index, getFirstTile(b, config, tile.row));
  tile.first = s.mul(index, s.whole(elements, 64));
  Value count = loadWord(b, b.getI64Type(), tile.row, kCount);
  tile.count = arith::MinSIOp::create(b, s.sub(count, tile.first),
                                      s.whole(elements, 64));
  // Random bits come in runs of 128 elements.
  int64_t padded = llvm::alignTo(elements, 128);
  tile.sums = createScratch(b, getSumType(b, config), padded);
  emitSums(b, config, tile);
  createRandom(b, config, tile, padded);
  emitRandomBits(b, config, tile);
  Value first = i64Constant(b, 0);
  if (config.isRange)
    first = arith::MaxSIOp::create(
        b, s.sub(loadWord(b, b.getI64Type(), tile.row, kFirst), tile.first),
        first);
  forLanes(b, config, first, tile.count, [&](const Lanes &l, Value i) {
    applyAt(l, config, tile, i, s.add(tile.first, i), i);
  });
}

/// A block of a matrix; blocks are numbered along the rows.
static void emitBlockTile(ImplicitLocOpBuilder &b, const Config &config,
                          Tile &tile, Value index) {
  Lanes s(b, 1);
  Value rows = loadWord(b, b.getI64Type(), tile.row, kRows);
  Value columns = loadWord(b, b.getI64Type(), tile.row, kColumns);
  Value height = s.whole(kBlockRows, 64), width = s.whole(kBlockColumns, 64);
  Value across = arith::DivUIOp::create(
      b, s.add(columns, s.whole(kBlockColumns - 1, 64)), width);
  tile.firstRow = s.mul(arith::DivUIOp::create(b, index, across), height);
  tile.firstColumn = s.mul(arith::RemUIOp::create(b, index, across), width);
  tile.rows = arith::MinSIOp::create(b, s.sub(rows, tile.firstRow), height);
  tile.columns =
      arith::MinSIOp::create(b, s.sub(columns, tile.firstColumn), width);
  tile.sums = createScratch(b, getSumType(b, config), config.getTileElements());
  emitSums(b, config, tile);
  createRandom(b, config, tile, kBlockColumns + 256);
  loop(b, i64Constant(b, 0), tile.rows, 1, [&](Value i) {
    Value first =
        s.add(s.mul(s.add(tile.firstRow, i), columns), tile.firstColumn);
    Value offset = i64Constant(b, 0);
    if (!tile.random.empty()) {
      // The runs that the row's elements are in.
      Tile row = tile;
      offset = s.band(first, s.whole(127, 64));
      row.first = s.sub(first, offset);
      row.count = s.add(offset, tile.columns);
      emitRandomBits(b, config, row);
    }
    Value sums = s.mul(i, width);
    forLanes(b, config, i64Constant(b, 0), tile.columns,
             [&](const Lanes &l, Value j) {
               applyAt(l, config, tile, s.add(sums, j), s.add(first, j),
                       s.add(offset, j));
             });
  });
}

func::FuncOp mlir::es::kernel::createTileFunction(ImplicitLocOpBuilder &b,
                                                  const Config &config) {
  OpBuilder::InsertionGuard guard(b);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  func::FuncOp func =
      createFunction(b, config.name, {pointer, pointer, b.getI64Type()});
  // Seen as a symbol of its own by profilers, and by the test of its calls:
  // loops that fill or copy stay loops.
  func->setAttr("passthrough", b.getStrArrayAttr({"noinline", "no-builtins"}));
  b.setInsertionPointToStart(&func.getBody().front());
  Tile tile;
  tile.row = func.getArgument(0);
  tile.step = func.getArgument(1);
  if (config.rank)
    emitBlockTile(b, config, tile, func.getArgument(2));
  else
    emitLinearTile(b, config, tile, func.getArgument(2));
  func::ReturnOp::create(b);
  return func;
}

void mlir::es::kernel::storeWords(ImplicitLocOpBuilder &b,
                                  const WordValues &values, Value block) {
  for (auto [word, value] : values)
    storeWord(b, value, block, word);
}

/// func @name_row(row, values...).
static func::FuncOp createRowFunction(ImplicitLocOpBuilder &b,
                                      const Config &config,
                                      const WordValues &row) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(cast<ModuleOp>(getModule(b)).getBody());
  SmallVector<Type> types = {LLVM::LLVMPointerType::get(b.getContext())};
  for (auto [word, value] : row)
    types.push_back(value.getType());
  func::FuncOp func = createFunction(b, config.name + "_row", types);
  func->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
  b.setInsertionPointToStart(&func.getBody().front());
  WordValues arguments;
  for (auto [index, entry] : llvm::enumerate(row))
    arguments.push_back({entry.first, func.getArgument(index + 1)});
  storeWords(b, arguments, func.getArgument(0));
  func::ReturnOp::create(b);
  return func;
}

func::FuncOp mlir::es::kernel::callRowFunction(ImplicitLocOpBuilder &b,
                                               const Config &config, Value rows,
                                               int64_t place,
                                               const WordValues &row,
                                               func::FuncOp fill) {
  if (!fill)
    fill = createRowFunction(b, config, row);
  SmallVector<Value> arguments = {
      elementPtr(b, b.getI64Type(), rows, i64Constant(b, place * kRowWords))};
  for (auto [word, value] : row)
    arguments.push_back(value);
  func::CallOp::create(b, fill, arguments);
  return fill;
}

/// The tiles of the parameter of `row`.
static Value countTiles(ImplicitLocOpBuilder &b, const Config &config,
                        Value row) {
  Lanes s(b, 1);
  auto divide = [&](RowWord word, int64_t by) -> Value {
    Value count = loadWord(b, b.getI64Type(), row, word);
    return arith::DivUIOp::create(b, s.add(count, s.whole(by - 1, 64)),
                                  s.whole(by, 64));
  };
  if (config.rank)
    return s.mul(divide(kRows, kBlockRows), divide(kColumns, kBlockColumns));
  return s.sub(divide(kCount, config.getTileElements()),
               getFirstTile(b, config, row));
}

/// func @name_range(rows, count, step, from, to): tiles are numbered through
/// all rows, and those from `from` to `to` run.
static func::FuncOp createRangeFunction(ImplicitLocOpBuilder &b,
                                        const Config &config,
                                        func::FuncOp tileFunction) {
  OpBuilder::InsertionGuard guard(b);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  func::FuncOp func = createFunction(b, config.name + "_range",
                                     {pointer, i64, pointer, i64, i64});
  b.setInsertionPointToStart(&func.getBody().front());
  Lanes s(b, 1);
  Value rows = func.getArgument(0), step = func.getArgument(2);
  Value from = func.getArgument(3), to = func.getArgument(4);
  Value zero = i64Constant(b, 0);
  fold(b, zero, func.getArgument(1), zero, [&](Value index, ValueRange before) {
    Value row = elementPtr(b, i64, rows, s.mul(index, s.whole(kRowWords, 64)));
    Value tiles = countTiles(b, config, row);
    Value first = arith::MaxSIOp::create(b, s.sub(from, before[0]), zero);
    Value end = arith::MinSIOp::create(b, s.sub(to, before[0]), tiles);
    loop(b, first, end, 1, [&](Value tile) {
      func::CallOp::create(b, tileFunction, ValueRange{row, step, tile});
    });
    return SmallVector<Value>{s.add(before[0], tiles)};
  });
  func::ReturnOp::create(b);
  return func;
}

/// A function of the OpenMP runtime that says a number.
static Value callRuntime(ImplicitLocOpBuilder &b, StringRef name) {
  Operation *module = getModule(b);
  if (!SymbolTable::lookupSymbolIn(module, name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&module->getRegion(0).front());
    func::FuncOp::create(b, name, b.getFunctionType({}, b.getI32Type()))
        .setPrivate();
  }
  Value number =
      func::CallOp::create(b, name, TypeRange{b.getI32Type()}).getResult(0);
  return Lanes(b, 1).zext(number, 64);
}

/// An equal share of the tiles for each thread of a team.
static void emitTeam(ImplicitLocOpBuilder &b, func::FuncOp range,
                     ValueRange arguments, Value total, unsigned threads) {
  omp::ParallelOperands clauses;
  clauses.numThreads =
      arith::ConstantOp::create(b, b.getI32IntegerAttr(threads));
  auto team = omp::ParallelOp::create(b, clauses);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&team.getRegion());
  Lanes s(b, 1);
  // As many as there are, whatever was asked for.
  Value number = callRuntime(b, "omp_get_thread_num");
  Value count = callRuntime(b, "omp_get_num_threads");
  auto share = [&](Value thread) -> Value {
    return arith::DivUIOp::create(b, s.mul(total, thread), count);
  };
  SmallVector<Value> all(arguments);
  all.push_back(share(number));
  all.push_back(share(s.add(number, i64Constant(b, 1))));
  func::CallOp::create(b, range, all);
  omp::TerminatorOp::create(b);
}

func::FuncOp mlir::es::kernel::createLoopFunction(ImplicitLocOpBuilder &b,
                                                  const Config &config,
                                                  func::FuncOp tileFunction) {
  func::FuncOp range = createRangeFunction(b, config, tileFunction);
  OpBuilder::InsertionGuard guard(b);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  func::FuncOp func = createFunction(b, config.name + "_all",
                                     {pointer, b.getI64Type(), pointer});
  b.setInsertionPointToStart(&func.getBody().front());
  Lanes s(b, 1);
  Value zero = i64Constant(b, 0), rows = func.getArgument(0);
  Value total = fold(
      b, zero, func.getArgument(1), zero, [&](Value index, ValueRange sum) {
        Value row = elementPtr(b, b.getI64Type(), rows,
                               s.mul(index, s.whole(kRowWords, 64)));
        return SmallVector<Value>{s.add(sum[0], countTiles(b, config, row))};
      })[0];
  SmallVector<Value> all(func.getArguments());
  auto runAlone = [&] {
    func::CallOp::create(b, range,
                         llvm::to_vector(llvm::concat<Value>(
                             all, SmallVector<Value>{zero, total})));
  };
  if (config.threads > 1) {
    // A team is not worth its start for one tile.
    Value some = s.cmp(arith::CmpIPredicate::sgt, total, i64Constant(b, 1));
    auto branch = scf::IfOp::create(b, some, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    emitTeam(b, range, all, total, config.threads);
    b.setInsertionPointToStart(branch.elseBlock());
    runAlone();
  } else {
    runAlone();
  }
  func::ReturnOp::create(b);
  return func;
}
