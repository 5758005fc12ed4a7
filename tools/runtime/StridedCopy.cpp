//===- StridedCopy.cpp - Copies that compiled programs call ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstring>

namespace {
/// The layout that compiled programs pass unranked memrefs in.
struct Descriptor {
  char *allocated;
  char *aligned;
  int64_t offset;
  int64_t sizesAndStrides[];
};
struct Unranked {
  int64_t rank;
  Descriptor *descriptor;
};
} // namespace

/// memref.copy between layouts that are not both contiguous, row by row of the
/// last dimension.
extern "C" void memrefCopy(int64_t bytes, void *from, void *to) {
  auto *source = static_cast<Unranked *>(from);
  auto *target = static_cast<Unranked *>(to);
  int64_t rank = source->rank, count = 1;
  const int64_t *sizes = source->descriptor->sizesAndStrides;
  for (int64_t i = 0; i < rank; ++i)
    count *= sizes[i];
  for (int64_t linear = 0; linear < count; ++linear) {
    int64_t rest = linear, read = source->descriptor->offset,
            write = target->descriptor->offset;
    for (int64_t i = rank - 1; i >= 0; --i) {
      read += rest % sizes[i] * sizes[rank + i];
      write += rest % sizes[i] * target->descriptor->sizesAndStrides[rank + i];
      rest /= sizes[i];
    }
    std::memcpy(target->descriptor->aligned + write * bytes,
                source->descriptor->aligned + read * bytes, bytes);
  }
}
