//===- Deallocations.h - Where owned buffers are freed ----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every owned buffer is, on every path, either handed over to its next owner or
// freed once, right after its last use there. This lists the places.
//
//===----------------------------------------------------------------------===//

#ifndef ES_ANALYSIS_DEALLOCATIONS_H
#define ES_ANALYSIS_DEALLOCATIONS_H

#include "es/Analysis/Buffers.h"

namespace mlir::es {

struct Deallocation {
  enum class Place {
    /// Right behind `op`.
    After,
    /// Right before the terminator `op`, behind the copies made for it.
    Before,
    /// At the start of `block`.
    BlockStart,
    /// In region `index` of `op`, which has no block yet (scf.if without else).
    EmptyRegion,
    /// On the edge from the terminator `op` to its successor `index`.
    Edge,
  };
  BufferId buffer;
  Place place;
  Operation *op = nullptr;
  Block *block = nullptr;
  unsigned index = 0;
};

/// In order of buffers. Memrefs are left alone: their program frees them.
std::vector<Deallocation>
computeDeallocations(const BufferAssignment &assignment);

} // namespace mlir::es

#endif // ES_ANALYSIS_DEALLOCATIONS_H
