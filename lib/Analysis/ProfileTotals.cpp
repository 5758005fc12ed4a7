//===- ProfileTotals.cpp - Totals of a memory profile ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProfileTotals.h"
#include "es/OpModel/Donations.h"

using namespace mlir;
using namespace mlir::es;

/// The results that a donated argument is declared to become.
static llvm::SmallDenseSet<unsigned> getDeclaredAliases(FunctionOpInterface f) {
  llvm::SmallDenseSet<unsigned> declared;
  for (unsigned i = 0, e = f.getNumArguments(); i < e; ++i)
    if (std::optional<uint64_t> result = getDeclaredResult(f, i);
        result && *result < f.getNumResults())
      declared.insert(*result);
  return declared;
}

SignatureBytes mlir::es::getSignatureBytes(const MemoryProfile &profile,
                                           const SizeOptions &options) {
  SignatureBytes bytes;
  const BufferAssignment &assignment = profile.assignment;
  FunctionOpInterface func = assignment.getFunction();
  for (BlockArgument argument : func.getArguments())
    if (BufferId id = assignment.getBuffer(argument); id != kNoBuffer)
      bytes.arguments += profile.buffers[id].bytes;
  llvm::SmallDenseSet<unsigned> declared = getDeclaredAliases(func);
  ReturnedArguments returned = assignment.getReturnedArguments();
  for (auto [index, type] : llvm::enumerate(func.getResultTypes())) {
    if (!isMemoryType(type))
      continue;
    llvm::Expected<uint64_t> size = getStorageBytes(type, options);
    if (!size) {
      llvm::consumeError(size.takeError());
      continue;
    }
    bytes.results += *size;
    bool isDonated = false;
    if (returned[index]) {
      BufferId id = assignment.getBuffer(func.getArgument(*returned[index]));
      isDonated = assignment.getBuffers()[id].owned;
    }
    if (isDonated || declared.contains(index))
      bytes.aliased += *size;
  }
  return bytes;
}

uint64_t mlir::es::getTemporaryPeak(const MemoryProfile &profile) {
  std::vector<int64_t> difference(profile.timeline.size() + 1, 0);
  for (auto [id, buffer] : llvm::enumerate(profile.buffers)) {
    if (!buffer.isLive || buffer.role != Role::Temporary)
      continue;
    for (LiveSegment segment : profile.ranges.getSegments(id)) {
      difference[segment.first] += buffer.bytes;
      difference[segment.last + 1] -= buffer.bytes;
    }
  }
  for (auto [point, bytes] : profile.transients) {
    difference[point] += bytes;
    difference[point + 1] -= bytes;
  }
  int64_t live = 0, peak = 0;
  for (int64_t change : difference) {
    live += change;
    peak = std::max(peak, live);
  }
  return peak;
}
