//===- ForwardBackward.h - Two functions as one training step ---*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_REPORT_FORWARDBACKWARD_H
#define ES_LIB_REPORT_FORWARDBACKWARD_H

#include "es/Analysis/MemoryProfile.h"
#include "es/Report/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::es {

/// Adds a function to `module` that runs the forward function, then what stands
/// between the two, then the backward function:
///
///   func @"fw + bw"(arguments of fw) -> (outputs of fw, results of bw) {
///     outputs, saved = fw(arguments)
///     cotangents = border(outputs, saved)
///     return outputs, bw(saved, arguments, cotangents)
///   }
///
/// Saved activations are results of one that are arguments of the other. Fails
/// with a diagnostic if the two do not fit together.
FailureOr<FunctionOpInterface> composeStep(ModuleOp module,
                                           const ReportOptions &options);

/// The roles that a composed function gives its values; none of any other.
llvm::MapVector<Value, Role> getStepRoles(FunctionOpInterface func);

/// What there is to say of how the two fit: a sentence each.
SmallVector<std::string> getStepNotes(FunctionOpInterface func);

/// True if which saved activation is which argument of the backward function
/// had to be guessed.
bool isStepGuessed(FunctionOpInterface func);

} // namespace mlir::es

#endif // ES_LIB_REPORT_FORWARDBACKWARD_H
