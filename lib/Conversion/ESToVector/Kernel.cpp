//===- Kernel.cpp - One outlined kernel and its tables --------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;

Value mlir::es::kernel::createScratch(ImplicitLocOpBuilder &b, Type element,
                                      int64_t count) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  // In the entry block: a frame grows once a call.
  OpBuilder::InsertionGuard guard(b);
  auto func =
      b.getInsertionBlock()->getParentOp()->getParentOfType<func::FuncOp>();
  if (!func)
    func = cast<func::FuncOp>(b.getInsertionBlock()->getParentOp());
  b.setInsertionPointToStart(&func.getBody().front());
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

/// Lanes from 0 to \p count, then one at a time.
static void forLanes(ImplicitLocOpBuilder &b, const Config &config, Value count,
                     llvm::function_ref<void(const Lanes &, Value)> body) {
  Lanes s(b, 1), l(b, config.width);
  Value zero = i64Constant(b, 0);
  Value whole = s.band(count, s.whole(-int64_t(config.width), 64));
  loop(b, zero, whole, config.width, [&](Value i) { body(l, i); });
  if (config.width > 1)
    loop(b, whole, count, 1, [&](Value i) { body(s, i); });
}

/// Consecutive elements.
static void emitLinearTile(ImplicitLocOpBuilder &b, const Config &config,
                           Tile &tile, Value index) {
  Lanes s(b, 1);
  int64_t elements = config.getTileElements();
  tile.first = s.mul(index, s.whole(elements, 64));
  Value count = loadWord(b, b.getI64Type(), tile.row, kCount);
  tile.count = arith::MinSIOp::create(b, s.sub(count, tile.first),
                                      s.whole(elements, 64));
  // Random bits come in runs of 128 elements.
  int64_t padded = llvm::alignTo(elements, 128);
  tile.sums = createScratch(b, getSumType(b, config), padded);
  emitSums(b, config, tile);
  if (config.isStochastic()) {
    tile.random = createScratch(b, b.getI32Type(), padded);
    emitRandomBits(b, config, tile);
  }
  forLanes(b, config, tile.count, [&](const Lanes &l, Value i) {
    emitApply(l, config, tile, {i, s.add(tile.first, i), i});
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
  if (config.isStochastic())
    tile.random = createScratch(b, b.getI32Type(), kBlockColumns + 256);
  loop(b, i64Constant(b, 0), tile.rows, 1, [&](Value i) {
    Value first =
        s.add(s.mul(s.add(tile.firstRow, i), columns), tile.firstColumn);
    Value offset = i64Constant(b, 0);
    if (config.isStochastic()) {
      // The runs that the row's elements are in.
      Tile row = tile;
      offset = s.band(first, s.whole(127, 64));
      row.first = s.sub(first, offset);
      row.count = s.add(offset, tile.columns);
      emitRandomBits(b, config, row);
    }
    Value sums = s.mul(i, width);
    forLanes(b, config, tile.columns, [&](const Lanes &l, Value j) {
      emitApply(l, config, tile,
                {s.add(sums, j), s.add(first, j), s.add(offset, j)});
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

func::FuncOp mlir::es::kernel::createLoopFunction(ImplicitLocOpBuilder &b,
                                                  const Config &config,
                                                  func::FuncOp tileFunction) {
  OpBuilder::InsertionGuard guard(b);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  func::FuncOp func = createFunction(b, config.name + "_all",
                                     {pointer, b.getI64Type(), pointer});
  b.setInsertionPointToStart(&func.getBody().front());
  Lanes s(b, 1);
  Value zero = i64Constant(b, 0), rows = func.getArgument(0);
  Value step = func.getArgument(2);
  int64_t elements = config.getTileElements();
  loop(b, zero, func.getArgument(1), 1, [&](Value index) {
    Value row = elementPtr(b, b.getI64Type(), rows,
                           s.mul(index, s.whole(kRowWords, 64)));
    auto divide = [&](RowWord word, int64_t by) -> Value {
      Value count = loadWord(b, b.getI64Type(), row, word);
      return arith::DivUIOp::create(b, s.add(count, s.whole(by - 1, 64)),
                                    s.whole(by, 64));
    };
    Value tiles = config.rank ? s.mul(divide(kRows, kBlockRows),
                                      divide(kColumns, kBlockColumns))
                              : divide(kCount, elements);
    loop(b, zero, tiles, 1, [&](Value tile) {
      func::CallOp::create(b, tileFunction, ValueRange{row, step, tile});
    });
  });
  func::ReturnOp::create(b);
  return func;
}
