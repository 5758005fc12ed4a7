//===- Logical.cpp - Bits of types beside bytes of storage ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the buffers at the peak would take if every element had just the bits of
// its type: i1 one, i24 24, f80 80. What is counted is what is stored.
//
//===----------------------------------------------------------------------===//

#include "FunctionBuilder.h"

using namespace mlir;
using namespace mlir::es;

uint64_t FunctionBuilder::getLogicalBytes(const MemoryProfile &profile,
                                          BufferId id) {
  const Buffer &buffer = profile.assignment.getBuffers()[id];
  Type type = buffer.type;
  if (buffer.root)
    if (std::optional<StepStorage> storage = lookUp(buffer.root);
        storage && storage->stored)
      type = storage->stored;
  SizeOptions size = options.size;
  size.subByte = SubByte::Packed;
  size.packI1 = true;
  size.leadingDynamic = leadingSize;
  llvm::Expected<uint64_t> bytes = getStorageBytes(type, size);
  if (bytes)
    return *bytes;
  llvm::consumeError(bytes.takeError());
  return profile.buffers[id].bytes;
}

void FunctionBuilder::addLogicalBytes(const MemoryProfile &profile,
                                      GraphReport &graph) {
  graph.logicalBytes = profile.peakBytes;
  graph.logicalBreakdown = profile.breakdown;
  for (auto [id, buffer] : llvm::enumerate(profile.buffers))
    for (LiveSegment segment : profile.ranges.getSegments(id))
      if (segment.first <= profile.peakPoint &&
          profile.peakPoint <= segment.last) {
        uint64_t difference = getLogicalBytes(profile, id) - buffer.bytes;
        graph.logicalBytes += difference;
        graph.logicalBreakdown[unsigned(buffer.role)] += difference;
      }
}
