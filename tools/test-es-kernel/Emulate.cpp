//===- Emulate.cpp - GPU kernels as loops of the host ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels without barriers and shared memory mean the same as a loop over their
// threads. So their bits can be checked where there is no GPU.
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::es;

/// A function of the kernel's arguments and of block, block size and thread.
static void moveToHost(ModuleOp module, gpu::GPUFuncOp kernel) {
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types(kernel.getArgumentTypes());
  types.append(3, b.getIndexType());
  auto func = func::FuncOp::create(b, kernel.getLoc(), kernel.getName(),
                                   b.getFunctionType(types, {}));
  func.setPrivate();
  func.getBody().takeBody(kernel.getBody());
  Block &entry = func.getBody().front();
  SmallVector<Value, 3> numbers;
  for (int i = 0; i < 3; ++i)
    numbers.push_back(entry.addArgument(b.getIndexType(), kernel.getLoc()));
  func.walk([&](Operation *op) {
    Value number = isa<gpu::BlockIdOp>(op)    ? numbers[0]
                   : isa<gpu::BlockDimOp>(op) ? numbers[1]
                   : isa<gpu::ThreadIdOp>(op) ? numbers[2]
                                              : Value();
    if (number) {
      op->getResult(0).replaceAllUsesWith(number);
      op->erase();
    } else if (isa<gpu::ReturnOp>(op)) {
      b.setInsertionPoint(op);
      func::ReturnOp::create(b, op->getLoc());
      op->erase();
    }
  });
}

static void launchAsLoops(gpu::LaunchFuncOp launch) {
  ImplicitLocOpBuilder b(launch.getLoc(), launch);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto blocks = scf::ForOp::create(b, zero, launch.getGridSizeX(), one);
  b.setInsertionPointToStart(blocks.getBody());
  auto threads = scf::ForOp::create(b, zero, launch.getBlockSizeX(), one);
  b.setInsertionPointToStart(threads.getBody());
  SmallVector<Value> arguments(launch.getKernelOperands());
  arguments.append({blocks.getInductionVar(), launch.getBlockSizeX(),
                    threads.getInductionVar()});
  func::CallOp::create(b, launch.getKernelName().getValue(), TypeRange{},
                       arguments);
  launch.erase();
}

void mlir::es::emulateKernels(ModuleOp module) {
  module.walk([](gpu::LaunchFuncOp launch) { launchAsLoops(launch); });
  for (auto kernels :
       llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>())) {
    for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
      moveToHost(module, kernel);
    for (auto global :
         llvm::make_early_inc_range(kernels.getOps<LLVM::GlobalOp>()))
      global->moveBefore(module.getBody(), module.getBody()->begin());
    kernels.erase();
  }
}
