//===- ProfileTotals.h - Totals of a memory profile -------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums that compilers report of a function besides its peak: what its arguments
// and results take, what of that is shared, and how much is temporary at most.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_ANALYSIS_PROFILETOTALS_H
#define ES_LIB_ANALYSIS_PROFILETOTALS_H

#include "es/Analysis/MemoryProfile.h"

namespace mlir::es {

SignatureBytes getSignatureBytes(const MemoryProfile &profile,
                                 const SizeOptions &options);

uint64_t getTemporaryPeak(const MemoryProfile &profile);

/// Tells gradients and saved activations of a training step from temporaries.
void assignTrainingRoles(MemoryProfile &profile);

} // namespace mlir::es

#endif // ES_LIB_ANALYSIS_PROFILETOTALS_H
