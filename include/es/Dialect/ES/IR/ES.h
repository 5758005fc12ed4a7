//===- ES.h - The es dialect ------------------------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_DIALECT_ES_IR_ES_H
#define ES_DIALECT_ES_IR_ES_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "es/Dialect/ES/IR/ESEnums.h.inc"

#include "es/Dialect/ES/IR/ESDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "es/Dialect/ES/IR/ESAttributes.h.inc"

#define GET_OP_CLASSES
#include "es/Dialect/ES/IR/ESOps.h.inc"

namespace mlir::es {

/// FNV-1a, 32 bits: the id of a parameter that states none.
uint32_t hashParameterName(llvm::StringRef name);

/// The module attribute that annotates constants and globals: an array of
/// dictionaries {param = #es.param, type, symbol}; `symbol` for globals only.
constexpr llvm::StringLiteral kParametersAttrName = "es.parameters";

/// The attribute of an argument that holds a state of the optimizer.
constexpr llvm::StringLiteral kOptimizerStateAttrName = "es.optimizer_state";

/// The attribute of an es.vjp that names the parameter whose gradient it makes.
constexpr llvm::StringLiteral kGradientOfAttrName = "es.gradient_of";

/// What one of `devices` devices keeps of a tensor: rank 1, rounded up.
RankedTensorType getShardType(RankedTensorType whole, int64_t devices);

/// True if the rule depends on how many steps were made.
bool readsStep(OptimizerKind kind);

/// The shapes of the states that a rule keeps of a parameter of shape `shape`.
llvm::SmallVector<llvm::SmallVector<int64_t>, 2>
getStateShapes(OptimizerKind kind, llvm::ArrayRef<int64_t> shape);

} // namespace mlir::es

#endif // ES_DIALECT_ES_IR_ES_H
