//===- ESToGPU.cpp - Steps as kernels of a GPU ----------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ESToVector/Shaping.h"
#include "DeviceKernel.h"
#include "es/Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

namespace mlir::es {
#define GEN_PASS_DEF_CONVERTESTOGPU
#include "es/Conversion/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;

namespace {
struct ConvertESToGPUPass : es::impl::ConvertESToGPUBase<ConvertESToGPUPass> {
  using Base = es::impl::ConvertESToGPUBase<ConvertESToGPUPass>;
  using Base::Base;

  /// Kernels are compiled without help from the tool.
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
    NVVM::registerNVVMTargetInterfaceExternalModels(registry);
  }
  void runOnOperation() override;
  LogicalResult lower(UpdateOp op);
  LogicalResult lower(PerturbOp op);
  gpu::GPUFuncOp getKernel(ImplicitLocOpBuilder &b, const Config &config,
                           UpdateOp op, const Quantum &quantum);
  void launch(ImplicitLocOpBuilder &b, const Config &config, UpdateOp op,
              const Quantum &quantum, Value memref, ParamAttr param,
              LaunchValues &values);

  unsigned count = 0, scaleCount = 0;
};
} // namespace

static constexpr StringLiteral kModule = "es_kernels";

/// The kernel of this name, made where it is not there yet. Scales of an axis
/// are constants on the device, and so in a kernel of their own.
gpu::GPUFuncOp ConvertESToGPUPass::getKernel(ImplicitLocOpBuilder &b,
                                             const Config &base, UpdateOp op,
                                             const Quantum &quantum) {
  Config config = base;
  DeviceScales scales{quantum, scaleCount};
  if (config.perAxis)
    config.name += std::to_string(scaleCount++);
  auto module = cast<ModuleOp>(getModule(b));
  OpBuilder::InsertionGuard guard(b);
  auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(kModule);
  if (!kernels) {
    b.setInsertionPointToEnd(module.getBody());
    kernels = gpu::GPUModuleOp::create(b, kModule);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    b.getUnitAttr());
  }
  if (auto kernel = kernels.lookupSymbol<gpu::GPUFuncOp>(config.name))
    return kernel;
  b.setInsertionPointToEnd(kernels.getBody());
  return createDeviceKernel(b, config, op, scales);
}

/// Fills in what every kernel reads, and launches one.
void ConvertESToGPUPass::launch(ImplicitLocOpBuilder &b, const Config &config,
                                UpdateOp op, const Quantum &quantum,
                                Value memref, ParamAttr param,
                                LaunchValues &values) {
  gpu::GPUFuncOp kernel = getKernel(b, config, op, quantum);
  Lanes s(b, 1);
  Value elements = getCount(b, memref), threads = elements;
  values.row[kData] = getPointer(b, memref);
  values.row[kCount] = elements;
  values.row[kId] = i64Constant(b, param.getEffectiveId());
  if (config.rank) {
    auto size = [&](int64_t i) -> Value {
      return arith::IndexCastOp::create(b, b.getI64Type(),
                                        memref::DimOp::create(b, memref, i));
    };
    values.row[kRows] = size(0);
    values.row[kColumns] = size(1);
  } else {
    // Sixteen lanes for each part of a run.
    int64_t samples = getSamplesPerBlock(config.noise);
    int64_t parts = samples / getElementsOfThread(config);
    Value runs =
        arith::CeilDivSIOp::create(b, elements, i64Constant(b, 16 * samples));
    threads = s.mul(runs, i64Constant(b, 16 * parts));
  }
  Value size = i64Constant(b, blockSize), one = i64Constant(b, 1);
  Value blocks = arith::MaxSIOp::create(
      b, arith::CeilDivSIOp::create(b, threads, size), one);
  auto index = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
  };
  gpu::KernelDim3 grid{index(blocks), index(one), index(one)};
  gpu::KernelDim3 block{index(size), index(one), index(one)};
  gpu::LaunchFuncOp::create(b, kernel, grid, block,
                            /*dynamicSharedMemory=*/Value(),
                            getLaunchOperands(b, values));
}

LogicalResult ConvertESToGPUPass::lower(UpdateOp op) {
  for (Value operand : op->getOperands())
    if (isa<ShapedType>(operand.getType()) && failed(checkBuffer(op, operand)))
      return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value coefficients = getPointer(b, op.getCoefficients());
  Value pairs = getCount(b, op.getCoefficients());
  // Only kernels read coefficients.
  UpdateScalars scalars(b, op, pairs, nullptr);
  unsigned nextState = 0;
  std::string prefix = "es_update" + std::to_string(count++) + "_";
  for (auto [index, value] : llvm::enumerate(op.getParameters())) {
    FailureOr<Quantum> quantum =
        getQuantum(op, op.getParam(index), cast<ShapedType>(value.getType()));
    if (failed(quantum))
      return failure();
    Config config = makeConfig(op, index, nextState, *quantum);
    config.name = prefix + config.name;
    LaunchValues values;
    for (auto [word, scalar] : scalars.getRow(config, index, *quantum))
      values.row[word] = scalar;
    for (auto [word, scalar] : scalars.getStep())
      values.step[word] = scalar;
    for (auto [word, state] : getStatesOf(op, index, nextState))
      values.row[word] = getPointer(b, state);
    values.step[kKey] = op.getKey();
    values.step[kCoefficients] = coefficients;
    values.step[kPairs] = pairs;
    launch(b, config, op, *quantum, value, op.getParam(index), values);
    nextState += op.getNumStatesOf(index);
  }
  op.erase();
  return success();
}

LogicalResult ConvertESToGPUPass::lower(PerturbOp op) {
  if (failed(checkWhole(op, "GPU kernels")) ||
      failed(checkBuffer(op, op.getParameter())) ||
      failed(checkBuffer(op, op.getDestination())))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  FailureOr<Quantum> quantum = getQuantum(
      op, op.getParam(), cast<ShapedType>(op.getParameter().getType()));
  if (failed(quantum))
    return failure();
  Config config = makeConfig(op, *quantum);
  MemberValues member = getMember(b, op, config, *quantum);
  LaunchValues values;
  values.row[kOut] = getPointer(b, op.getDestination());
  values.row[kScale] = member.scale;
  values.step[kKey] = op.getKey();
  values.step[kPair] = member.pair;
  launch(b, config, UpdateOp(), *quantum, op.getParameter(), op.getParam(),
         values);
  op.erase();
  return success();
}

void ConvertESToGPUPass::runOnOperation() {
  if (blockSize < 1 || blockSize > 1024) {
    getOperation().emitError()
        << "expects a block of 1 to 1024 threads, got " << int64_t(blockSize);
    return signalPassFailure();
  }
  if (failed(lowerStepOps(
          getOperation(), [&](UpdateOp op) { return lower(op); },
          [&](Operation *op) -> LogicalResult {
            if (auto perturb = dyn_cast<PerturbOp>(op))
              return lower(perturb);
            return op->emitOpError("cannot be lowered to GPU kernels");
          })))
    signalPassFailure();
}
