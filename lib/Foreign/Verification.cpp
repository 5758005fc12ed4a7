//===- Verification.cpp - Ops that do not verify --------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes and live ranges need types and uses, and neither depends on whether an
// op has the attributes that this version of its dialect asks for.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::es;

void mlir::es::upgradeOps(ModuleOp module) {
  if (!module.getContext()->getLoadedDialect<tosa::TosaDialect>())
    return;
  module.walk([](tosa::ConstOp op) {
    // The attribute `values` was `value` before 2025.
    auto value = op->getDiscardableAttr("value");
    if (auto elements = dyn_cast_or_null<ElementsAttr>(value);
        elements && !op.getProperties().values) {
      op.getProperties().values = elements;
      op->removeDiscardableAttr("value");
    }
  });
}

namespace {
/// The first error while it lives; nothing is printed.
class Listener {
public:
  Listener(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (first.empty())
            first = diagnostic.str();
        }) {}
  std::string first;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

/// Of an op with operands and no body types and uses tell enough. Constants,
/// functions, what has regions and what ends them are more than that.
static bool mayBeOfAnotherVersion(Operation *op) {
  return op->getNumOperands() && !op->getNumRegions() &&
         !op->hasTrait<OpTrait::IsTerminator>() && !isa<SymbolOpInterface>(op);
}

namespace {
/// Asks ops one by one, each after what its verifier may look into: the op
/// around it, constants, and, for what concerns regions, these.
class LenientVerifier {
public:
  LenientVerifier(ReadSummary &summary) : summary(summary) {}
  /// Fails, with the error, at an op that has to be right.
  LogicalResult run(ModuleOp module);
  void warn() const;

private:
  using Check = LogicalResult (RegisteredOperationName::*)(Operation *) const;
  LogicalResult check(Operation *op, Check invariants);

  ReadSummary &summary;
  llvm::DenseSet<Operation *> broken;
  llvm::MapVector<StringRef, Location> places;
};
} // namespace

LogicalResult LenientVerifier::check(Operation *op, Check invariants) {
  std::optional<RegisteredOperationName> info = op->getRegisteredInfo();
  if (!info || broken.contains(op))
    return success();
  std::string complaint;
  {
    Listener listener(op->getContext());
    if (succeeded(((*info).*invariants)(op)))
      return success();
    complaint = listener.first;
  }
  if (complaint.empty())
    complaint = ("'" + op->getName().getStringRef() + "' is not valid").str();
  if (!mayBeOfAnotherVersion(op))
    return emitError(op->getLoc()) << complaint;
  broken.insert(op);
  StringRef name = op->getName().getStringRef();
  places.insert({name, op->getLoc()});
  ReadSummary::Invalid &entry = summary.invalidOps[name.str()];
  if (entry.count++ == 0)
    entry.complaint = std::move(complaint);
  return success();
}

LogicalResult LenientVerifier::run(ModuleOp module) {
  WalkResult result =
      module->walk([&](Operation *op, const WalkStage &stage) -> WalkResult {
        if (stage.isBeforeAllRegions() &&
            failed(check(op, &RegisteredOperationName::verifyInvariants)))
          return WalkResult::interrupt();
        if (stage.isAfterAllRegions() &&
            failed(check(op, &RegisteredOperationName::verifyRegionInvariants)))
          return WalkResult::interrupt();
        return WalkResult::advance();
      });
  return failure(result.wasInterrupted());
}

void LenientVerifier::warn() const {
  for (auto [name, place] : places) {
    const ReadSummary::Invalid &invalid = summary.invalidOps[name.str()];
    emitWarning(place) << invalid.complaint << " (" << invalid.count << " of '"
                       << name << "'; taken as they are)";
  }
}

LogicalResult mlir::es::verifyDominance(ModuleOp module) {
  DominanceInfo dominance(module);
  WalkResult result = module.walk([&](Operation *op) {
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      if (!dominance.properlyDominates(operand, op) &&
          dominance.isReachableFromEntry(op->getBlock())) {
        op->emitError() << "operand #" << index << " of '" << op->getName()
                        << "' is used where it is not defined";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult mlir::es::verifyLeniently(ModuleOp module, ReadSummary &summary) {
  {
    Listener listener(module.getContext());
    if (succeeded(verify(module)))
      return success();
  }
  LenientVerifier verifier(summary);
  if (failed(verifier.run(module)))
    return failure();
  // What no single op complains of is wrong with the module as a whole.
  if (summary.invalidOps.empty())
    return verify(module);
  verifier.warn();
  return verifyDominance(module);
}
