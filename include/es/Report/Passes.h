//===- Passes.h - Passes that report ----------------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_REPORT_PASSES_H
#define ES_REPORT_PASSES_H

#include "es/Dialect/ES/IR/ES.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::es {

#define GEN_PASS_DECL
#include "es/Report/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "es/Report/Passes.h.inc"

} // namespace mlir::es

#endif // ES_REPORT_PASSES_H
