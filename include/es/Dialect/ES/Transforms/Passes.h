//===- Passes.h - Passes of the es dialect ----------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_DIALECT_ES_TRANSFORMS_PASSES_H
#define ES_DIALECT_ES_TRANSFORMS_PASSES_H

#include "es/Dialect/ES/IR/ES.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace mlir::es {

#define GEN_PASS_DECL
#include "es/Dialect/ES/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "es/Dialect/ES/Transforms/Passes.h.inc"

/// es-bufferize: from tensors to memrefs with allocations and deallocations
/// exactly as the memory report counts them.
void buildBufferizePipeline(OpPassManager &manager);

void registerESPipelines();

} // namespace mlir::es

#endif // ES_DIALECT_ES_TRANSFORMS_PASSES_H
