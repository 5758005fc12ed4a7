//===- LiveRanges.h - When buffers are live ---------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer is live from its first write to its last read, both included. Where
// control flow makes that depend on the path (a value dies in one branch and is
// read later in the other), a buffer has several segments of program points.
//
//===----------------------------------------------------------------------===//

#ifndef ES_ANALYSIS_LIVERANGES_H
#define ES_ANALYSIS_LIVERANGES_H

#include "es/Analysis/Buffers.h"

namespace mlir::es {

/// Program points `first` to `last`, both included.
struct LiveSegment {
  unsigned first;
  unsigned last;
};

class LiveRanges {
public:
  static LiveRanges compute(const BufferAssignment &assignment);

  /// Disjoint, in program order; empty if nothing ever needs the memory.
  ArrayRef<LiveSegment> getSegments(BufferId buffer) const {
    return ArrayRef(segments).slice(starts[buffer],
                                    starts[buffer + 1] - starts[buffer]);
  }
  /// The smallest range that covers all segments.
  LiveSegment getHull(BufferId buffer) const;

private:
  std::vector<LiveSegment> segments;
  std::vector<size_t> starts;
};

} // namespace mlir::es

#endif // ES_ANALYSIS_LIVERANGES_H
