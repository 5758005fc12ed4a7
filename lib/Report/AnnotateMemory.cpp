//===- AnnotateMemory.cpp - The analysis as attributes --------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/MemoryProfile.h"
#include "es/Report/Passes.h"

namespace mlir::es {
#define GEN_PASS_DEF_ANNOTATEMEMORY
#include "es/Report/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {
struct AnnotateMemoryPass : es::impl::AnnotateMemoryBase<AnnotateMemoryPass> {
  void runOnOperation() override;
};
} // namespace

static void annotate(const MemoryProfile &profile) {
  FunctionOpInterface func = profile.assignment.getFunction();
  Builder builder(func.getContext());
  const ProgramOrder &order = profile.assignment.getOrder();
  SmallVector<NamedAttribute> entries = {
      builder.getNamedAttr("arena_bytes",
                           builder.getI64IntegerAttr(profile.arenaBytes)),
      builder.getNamedAttr("peak_bytes",
                           builder.getI64IntegerAttr(profile.peakBytes))};
  if (order.size()) {
    Operation *peak = order.getOp(profile.peakPoint);
    entries.push_back(builder.getNamedAttr(
        "peak_op", builder.getStringAttr(peak->getName().getStringRef())));
    peak->setAttr("es.peak", builder.getUnitAttr());
  }
  func->setAttr("es.memory", builder.getDictionaryAttr(entries));
  ArrayRef<Buffer> table = profile.assignment.getBuffers();
  for (auto [id, buffer] : llvm::enumerate(table)) {
    auto root = dyn_cast_if_present<OpResult>(buffer.root);
    if (!root || root.getResultNumber() != 0 || !profile.buffers[id].isLive)
      continue;
    LiveSegment hull = profile.buffers[id].hull;
    root.getOwner()->setAttr(
        "es.live_range", builder.getDenseI64ArrayAttr({hull.first, hull.last}));
    root.getOwner()->setAttr(
        "es.bytes", builder.getI64IntegerAttr(profile.buffers[id].bytes));
  }
}

void AnnotateMemoryPass::runOnOperation() {
  ModuleProfiler profiler((ProfileOptions()));
  for (auto func : getOperation().getOps<FunctionOpInterface>()) {
    auto symbol = dyn_cast<SymbolOpInterface>(func.getOperation());
    if (func.isExternal() || (symbol && !symbol.isPublic()))
      continue;
    FailureOr<MemoryProfile> profile = profiler.profile(func);
    if (failed(profile))
      return signalPassFailure();
    annotate(*profile);
  }
}
