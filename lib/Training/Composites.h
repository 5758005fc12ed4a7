//===- Composites.h - Kernels for what several ops compute ------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_TRAINING_COMPOSITES_H
#define ES_LIB_TRAINING_COMPOSITES_H

#include "es/Training/TrainingGraph.h"

namespace mlir::es {

/// Replaces what attention, cross entropy, layer norm and GELU are written out
/// as by one es.composite each, and counts those that the file has as one op.
CompositeSummary formComposites(FunctionOpInterface func);

/// Makes each relu return where its operand was positive.
void maskRelus(FunctionOpInterface func);

} // namespace mlir::es

#endif // ES_LIB_TRAINING_COMPOSITES_H
