//===- CompareOneShot.cpp - Our in-place decisions against upstream's -----===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every destination of every op: is it written in place? Asks our buffers
// and One-Shot analysis, counts the answers, and leads each difference back to
// a rule of docs/Design/MemoryModel.md ("Against One-Shot analysis"). A
// difference that no rule explains is an error.
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "Verdict.h"

#include "es/OpModel/Donations.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::es;

namespace {
struct CompareOneShotPass
    : PassWrapper<CompareOneShotPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CompareOneShotPass)

  StringRef getArgument() const override { return "test-es-compare-one-shot"; }
  StringRef getDescription() const override {
    return "compare in-place decisions with upstream's One-Shot analysis";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<bufferization::BufferizationDialect>();
  }
  CompareOneShotPass() = default;
  CompareOneShotPass(const CompareOneShotPass &other) : PassWrapper(other) {}
  void runOnOperation() override;

  Option<unsigned> minInPlace{
      *this, "min-in-place", llvm::cl::init(0),
      llvm::cl::desc("fail below this many agreements to write in place")};
  Option<unsigned> minCopy{
      *this, "min-copy", llvm::cl::init(0),
      llvm::cl::desc("fail below this many agreements to copy")};

private:
  void compare(func::FuncOp func, bufferization::OneShotAnalysisState &state);

  unsigned counts[std::size(kVerdicts)] = {};
};
} // namespace

void CompareOneShotPass::compare(func::FuncOp func,
                                 bufferization::OneShotAnalysisState &state) {
  BufferAssignment ours = BufferAssignment::compute(func, {});
  Comparison comparison(func, ours, state);
  func.walk(
      [&](DestinationStyleOpInterface op) {
        OpFacts facts = getOpFacts(op);
        for (OpOperand &init : op.getDpsInitsMutable()) {
          if (!isa<TensorType>(init.get().getType()))
            continue;
          bool readsOld =
              facts.operands[init.getOperandNumber()] == OperandUse::ReadWrite;
          Verdict verdict =
              comparison.judge(init, op.getTiedOpResult(&init), readsOld);
          ++counts[unsigned(verdict)];
          if (verdict == Verdict::Unclassified)
            op->emitError()
                << "expects "
                << (state.isInPlace(init) ? "a write in place" : "a copy")
                << " as One-Shot analysis decides, and no rule explains "
                   "the difference";
        }
      });
}

void CompareOneShotPass::runOnOperation() {
  // Both analyses look at the same ops, and agree on what may be written.
  OwningOpRef<ModuleOp> copy = getOperation().clone();
  Builder builder(&getContext());
  for (auto func : copy->getOps<func::FuncOp>())
    for (BlockArgument argument : func.getArguments())
      if (isa<TensorType>(argument.getType()))
        func.setArgAttr(argument.getArgNumber(), "bufferization.writable",
                        builder.getBoolAttr(isDonatedArgument(argument)));
  bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.allowReturnAllocsFromLoops = true;
  bufferization::OneShotAnalysisState state(*copy, options);
  if (failed(bufferization::analyzeModuleOp(*copy, state)))
    return signalPassFailure();
  for (auto func : copy->getOps<func::FuncOp>())
    compare(func, state);
  for (auto [name, count] : llvm::zip(kVerdicts, counts))
    llvm::outs() << name << ": " << count << "\n";
  if (counts[unsigned(Verdict::BothInPlace)] < minInPlace ||
      counts[unsigned(Verdict::BothCopy)] < minCopy) {
    getOperation().emitError("expects more agreements: too little is compared");
    return signalPassFailure();
  }
  if (counts[unsigned(Verdict::Unclassified)])
    signalPassFailure();
}

void mlir::es::registerTestPasses() { PassRegistration<CompareOneShotPass>(); }
