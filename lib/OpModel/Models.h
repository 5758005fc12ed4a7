//===- Models.h - The per-dialect models ------------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function describes the ops of one family, or answers nullopt.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_OPMODEL_MODELS_H
#define ES_LIB_OPMODEL_MODELS_H

#include "es/OpModel/OpModel.h"

namespace mlir::es {

/// Reads every operand, allocates every result.
OpFacts getDefaultFacts(Operation *op);

/// Loops, branches, calls and terminators, whatever their dialect.
std::optional<OpFacts> getControlFlowFacts(Operation *op);

/// Elementwise ops of arith and math on whole tensors, which graphs are full
/// of: no other model describes them.
std::optional<OpFacts> getArithmeticFacts(Operation *op);

/// Ops that implement upstream interfaces: linalg, tensor, arith, math,
/// bufferization, memref, affine, vector, ml_program, es.
std::optional<OpFacts> getUpstreamFacts(Operation *op);

/// Gradients, losses and updates of the es dialect.
std::optional<OpFacts> getGradientFacts(Operation *op);

std::optional<OpFacts> getTosaFacts(Operation *op);

/// StableHLO, CHLO, MHLO, by name.
std::optional<OpFacts> getShardyFacts(Operation *op);
std::optional<OpFacts> getStableHLOFacts(Operation *op);

/// The torch dialect, by the names of ATen operators.
std::optional<OpFacts> getAtenFacts(Operation *op);

/// ONNX operators; `name` where another op stands for one.
std::optional<OpFacts> getOnnxFacts(Operation *op);
std::optional<OpFacts> getOnnxFacts(Operation *op, StringRef name);

} // namespace mlir::es

#endif // ES_LIB_OPMODEL_MODELS_H
