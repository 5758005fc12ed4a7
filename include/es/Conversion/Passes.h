//===- Passes.h - Conversions of the es dialect -----------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_CONVERSION_PASSES_H
#define ES_CONVERSION_PASSES_H

#include "es/Dialect/ES/IR/ES.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::es {

#define GEN_PASS_DECL
#include "es/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "es/Conversion/Passes.h.inc"

struct ToLLVMOptions : PassPipelineOptions<ToLLVMOptions> {
  Option<unsigned> vectorWidth{
      *this, "vector-width",
      llvm::cl::desc("lanes of a vector in kernels: 1, 4, 8 or 16"),
      llvm::cl::init(16)};
  Option<int64_t> tileSize{*this, "tile",
                           llvm::cl::desc("elements of a tile in kernels"),
                           llvm::cl::init(2048)};
  Option<unsigned> threads{
      *this, "es-threads",
      llvm::cl::desc("threads of the kernels; above 1 they call libomp"),
      llvm::cl::init(1)};
};

/// es-to-llvm: memrefs in, LLVM dialect out.
void buildToLLVMPipeline(OpPassManager &manager, const ToLLVMOptions &options);

struct ToNVVMOptions : PassPipelineOptions<ToNVVMOptions> {
  Option<std::string> chip{*this, "chip", llvm::cl::desc("compute capability"),
                           llvm::cl::init("sm_80")};
  Option<std::string> features{*this, "features",
                               llvm::cl::desc("version of PTX"),
                               llvm::cl::init("+ptx80")};
  Option<unsigned> level{*this, "opt-level",
                         llvm::cl::desc("level of optimization, 0 to 3"),
                         llvm::cl::init(3)};
  Option<std::string> format{
      *this, "format",
      llvm::cl::desc("isa for PTX, llvm for the bitcode before it"),
      llvm::cl::init("isa")};
};

/// es-to-nvvm: memrefs in, launches of kernels out whose binary is PTX.
void buildToNVVMPipeline(OpPassManager &manager, const ToNVVMOptions &options);

void registerESConversionPipelines();

} // namespace mlir::es

#endif // ES_CONVERSION_PASSES_H
