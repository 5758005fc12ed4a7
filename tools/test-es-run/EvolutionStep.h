//===- EvolutionStep.h - A step against the reference -----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_TEST_ES_RUN_EVOLUTIONSTEP_H
#define ES_TOOLS_TEST_ES_RUN_EVOLUTIONSTEP_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::es {

/// Runs `model`.es_step, and beside it `model` on the parameters of each member
/// as lib/Reference perturbs them. Prints what was compared: the fitness of
/// every member, every bit of updated parameters and states, and that nothing
/// else was written. True if all is as it should be.
bool checkEvolutionStep(ModuleOp module, StringRef step);

} // namespace mlir::es

#endif // ES_TOOLS_TEST_ES_RUN_EVOLUTIONSTEP_H
