//===- ControlFlow.cpp - Loops, branches, calls ---------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops whose regions run as part of the program, as opposed to regions that
// describe one element (linalg.generic, stablehlo.reduce).
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::es;

/// Unregistered ops that run at most one of their regions, once.
static bool isForeignBranch(StringRef name) {
  static const llvm::StringSet<> names = {
      "stablehlo.if", "stablehlo.case", "mhlo.if",       "mhlo.case",
      "onnx.If",      "torch.prim.If",  "torch.onnx.If", "tosa.cond_if",
      "tf.IfRegion",  "tf.CaseRegion"};
  return names.contains(name);
}

static bool isForeignLoop(StringRef name) {
  static const llvm::StringSet<> names = {
      "stablehlo.while", "mhlo.while",      "onnx.Loop",     "onnx.Scan",
      "torch.prim.Loop", "tosa.while_loop", "tf.WhileRegion"};
  return names.contains(name);
}

bool mlir::es::isBranchOp(Operation *op) {
  if (isa<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(op))
    return true;
  return isForeignBranch(op->getName().getStringRef());
}

bool mlir::es::isForeignIf(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (name == "operator")
    if (auto wrapped = op->getAttrOfType<StringAttr>("name"))
      return wrapped.getValue() == "onnx.If";
  return name == "if" || name == "case" || name == "prim.If" || name == "If";
}

static bool isControlFlow(Operation *op) {
  if (op->getNumRegions() == 0)
    return false;
  if (isa<linalg::LinalgOp, tensor::PadOp, tensor::GenerateOp>(op))
    return false;
  if (isa<RegionBranchOpInterface, LoopLikeOpInterface>(op))
    return true;
  StringRef name = op->getName().getStringRef();
  return isForeignBranch(name) || isForeignLoop(name);
}

std::optional<OpFacts> mlir::es::getControlFlowFacts(Operation *op) {
  OpClass opClass;
  if (isControlFlow(op))
    opClass = OpClass::ControlFlow;
  else if (isa<CallOpInterface>(op))
    opClass = OpClass::Call;
  else if (isa<BranchOpInterface, RegionBranchTerminatorOpInterface>(op) ||
           (op->hasTrait<OpTrait::IsTerminator>() &&
            op->hasTrait<OpTrait::ReturnLike>()))
    opClass = OpClass::Terminator;
  else
    return std::nullopt;
  OpFacts facts = getDefaultFacts(op);
  facts.opClass = opClass;
  return facts;
}
