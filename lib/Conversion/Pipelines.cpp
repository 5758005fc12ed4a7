//===- Pipelines.cpp - From es ops to LLVM --------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Conversion/Passes.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::es;

void mlir::es::buildToLLVMPipeline(OpPassManager &manager,
                                   const ToLLVMOptions &options) {
  ConvertESToVectorOptions kernels;
  kernels.vectorWidth = options.vectorWidth;
  kernels.tileSize = options.tileSize;
  kernels.threads = options.threads;
  manager.addPass(createConvertESToVector(kernels));
  manager.addPass(createOrderLoops());
  manager.addPass(createConvertLinalgToLoopsPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createConvertVectorToSCFPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  // No conversion to calls of libm: a function of the kernels that is none of
  // their own must not slip through.
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(arith::createArithExpandOpsPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertOpenMPToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void mlir::es::buildToNVVMPipeline(OpPassManager &manager,
                                   const ToNVVMOptions &options) {
  manager.addPass(createConvertESToGPU());
  GpuNVVMAttachTargetOptions target;
  target.chip = options.chip;
  target.features = options.features;
  target.optLevel = options.level;
  manager.addPass(createGpuNVVMAttachTarget(target));
  OpPassManager &kernels = manager.nest<gpu::GPUModuleOp>();
  kernels.addPass(createSCFToControlFlowPass());
  // Before the conversion of gpu, which would call libdevice.
  kernels.addPass(createConvertMathToLLVMPass());
  kernels.addPass(arith::createArithExpandOpsPass());
  kernels.addPass(createConvertGpuOpsToNVVMOps());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  GpuModuleToBinaryPassOptions binary;
  binary.compilationTarget = options.format;
  manager.addPass(createGpuModuleToBinaryPass(binary));
}

void mlir::es::registerESConversionPipelines() {
  PassPipelineRegistration<ToNVVMOptions>(
      "es-to-nvvm",
      "lower memref programs with ops of Evolution Strategies to launches of "
      "PTX kernels",
      buildToNVVMPipeline);
  PassPipelineRegistration<ToLLVMOptions>(
      "es-to-llvm",
      "lower memref programs with ops of Evolution Strategies to LLVM",
      buildToLLVMPipeline);
}
