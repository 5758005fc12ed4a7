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
  Lanes s(b, 1), l(b, config.width);
  int64_t elements = config.getTileElements();
  Tile tile;
  tile.row = func.getArgument(0);
  tile.step = func.getArgument(1);
  tile.first = s.mul(func.getArgument(2), s.whole(elements, 64));
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
  Value zero = i64Constant(b, 0);
  Value whole = s.band(tile.count, s.whole(-int64_t(config.width), 64));
  loop(b, zero, whole, config.width,
       [&](Value i) { emitApply(l, config, tile, i); });
  if (config.width > 1)
    loop(b, whole, tile.count, 1,
         [&](Value i) { emitApply(s, config, tile, i); });
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
    Value count = loadWord(b, b.getI64Type(), row, kCount);
    Value tiles = arith::DivUIOp::create(
        b, s.add(count, s.whole(elements - 1, 64)), s.whole(elements, 64));
    loop(b, zero, tiles, 1, [&](Value tile) {
      func::CallOp::create(b, tileFunction, ValueRange{row, step, tile});
    });
  });
  func::ReturnOp::create(b);
  return func;
}
