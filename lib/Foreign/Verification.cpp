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

/// What `op` itself says, its regions aside.
static std::string verifyAlone(Operation *op) {
  std::optional<RegisteredOperationName> info = op->getRegisteredInfo();
  if (!info)
    return "";
  Listener listener(op->getContext());
  if (succeeded(info->verifyInvariants(op)) &&
      succeeded(info->verifyRegionInvariants(op)))
    return "";
  return listener.first.empty() ? "it does not verify" : listener.first;
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
  llvm::MapVector<StringRef, Location> places;
  module.walk([&](Operation *op) {
    std::string complaint = verifyAlone(op);
    if (complaint.empty())
      return;
    StringRef name = op->getName().getStringRef();
    places.insert({name, op->getLoc()});
    ReadSummary::Invalid &entry = summary.invalidOps[name.str()];
    if (entry.count++ == 0)
      entry.complaint = std::move(complaint);
  });
  // What no single op complains of is wrong with the module as a whole.
  if (summary.invalidOps.empty())
    return verify(module);
  for (auto [name, place] : places) {
    const ReadSummary::Invalid &invalid = summary.invalidOps[name.str()];
    emitWarning(place) << invalid.complaint << " (" << invalid.count << " of '"
                       << name << "'; taken as they are)";
  }
  return verifyDominance(module);
}
