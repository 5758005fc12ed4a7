//===- NamedOps.cpp - Facts of ops that are known by name -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What each family of named ops does with memory.
//
//===----------------------------------------------------------------------===//

#include "NamedOps.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::es;

FamilyTable mlir::es::makeFamilyTable(ArrayRef<FamilyLine> lines) {
  FamilyTable table;
  SmallVector<StringRef> names;
  for (const FamilyLine &line : lines) {
    names.clear();
    StringRef(line.names)
        .split(names, ' ', /*MaxSplit=*/-1,
               /*KeepEmpty=*/false);
    for (StringRef name : names)
      table[name] = line.family;
  }
  return table;
}

std::optional<int64_t> mlir::es::getStaticElements(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  return type.getNumElements();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static Attribute getConstantValue(Operation *op) {
  for (StringRef name : {"value", "values", "dense_value"})
    if (Attribute value = op->getAttr(name))
      return value;
  return nullptr;
}

static bool isSplatConstant(Operation *op) {
  return op->getNumOperands() == 0 &&
         isa_and_present<SplatElementsAttr>(getConstantValue(op));
}

bool mlir::es::isSplatValue(Value value) {
  // Exporters write a constant, perhaps a conversion, and a broadcast or two.
  constexpr unsigned kMaxSteps = 8;
  static const llvm::StringMap<Family> passes = makeFamilyTable(
      {{Family::View, "broadcast_in_dim broadcast reshape convert transpose "
                      "slice bitcast_convert optimization_barrier"}});
  for (unsigned step = 0; step < kMaxSteps; ++step) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (isSplatConstant(op))
      return true;
    if (op->getNumOperands() != 1 ||
        !passes.contains(op->getName().stripDialect()))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// An operand of the results' own shape is read element by element; one that is
/// broadcast is read many times.
static void markElementwiseOperands(Operation *op, OpFacts &facts) {
  if (op->getNumResults() == 0)
    return;
  auto result = dyn_cast<ShapedType>(op->getResult(0).getType());
  if (!result || !result.hasRank())
    return;
  for (auto [use, operand] : llvm::zip(facts.operands, op->getOperands())) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    if (use == OperandUse::Read && type && type.hasRank() &&
        type.getShape() == result.getShape())
      use = OperandUse::ReadElementwise;
  }
}

static void makeViews(Operation *op, OpFacts &facts) {
  for (auto [index, result] : llvm::enumerate(facts.results)) {
    unsigned source =
        op->getNumOperands() == op->getNumResults() ? unsigned(index) : 0;
    if (result.kind == ResultKind::New && source < op->getNumOperands() &&
        isMemoryType(op->getOperand(source).getType()))
      result = {ResultKind::View, source};
  }
}

static void makeConstant(Operation *op, OpFacts &facts) {
  ResultKind kind =
      isSplatConstant(op) ? ResultKind::Splat : ResultKind::Constant;
  for (ResultFact &result : facts.results)
    if (result.kind == ResultKind::New)
      result.kind = kind;
}

static OpClass getFamilyClass(Family family) {
  switch (family) {
  case Family::Elementwise:
    return OpClass::Elementwise;
  case Family::Costly:
    return OpClass::ElementwiseCostly;
  case Family::Movement:
  case Family::View:
    return OpClass::DataMovement;
  case Family::Generator:
  case Family::Constant:
  case Family::Query:
    return OpClass::Generator;
  case Family::Reduction:
    return OpClass::Reduction;
  case Family::Contraction:
    return OpClass::Contraction;
  case Family::Materializing:
  case Family::Mutation:
    return OpClass::Materializing;
  case Family::Terminator:
    return OpClass::Terminator;
  }
  llvm_unreachable("every family has a class");
}

OpFacts mlir::es::getFamilyFacts(Operation *op, Family family) {
  OpFacts facts = getDefaultFacts(op);
  facts.opClass = getFamilyClass(family);
  switch (family) {
  case Family::Elementwise:
  case Family::Costly:
    markElementwiseOperands(op, facts);
    break;
  case Family::View:
    makeViews(op, facts);
    break;
  case Family::Mutation:
    for (ResultFact &result : facts.results)
      if (result.kind == ResultKind::New && op->getNumOperands())
        result = {ResultKind::View, 0};
    break;
  case Family::Constant:
    makeConstant(op, facts);
    break;
  case Family::Query:
    llvm::fill(facts.operands, OperandUse::None);
    break;
  default:
    break;
  }
  return facts;
}

void mlir::es::makeUpdate(Operation *op, OpFacts &facts, unsigned count) {
  count = std::min({count, op->getNumResults(), op->getNumOperands()});
  for (unsigned i = 0; i < count; ++i) {
    if (facts.results[i].kind != ResultKind::New)
      continue;
    facts.results[i] = {ResultKind::Destination, i};
    facts.operands[i] = OperandUse::ReadWrite;
  }
}
