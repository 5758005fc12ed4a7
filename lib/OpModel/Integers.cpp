//===- Integers.cpp - Integers that sizes are computed from ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates the arithmetic that StableHLO programs with dynamic shapes do on
// sizes: scalars and short vectors of integers.
//
//===----------------------------------------------------------------------===//

#include "AtenShapes.h"

#include "es/OpModel/Attributes.h"
#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"
#include "es/OpModel/Shapes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::es;

/// More than this is data, not sizes.
static constexpr int64_t kMostElements = 64;

static int64_t divide(int64_t a, int64_t b) { return b ? a / b : 0; }
static int64_t remainder(int64_t a, int64_t b) { return b ? a % b : 0; }
static int64_t add(int64_t a, int64_t b) { return uint64_t(a) + uint64_t(b); }
static int64_t subtract(int64_t a, int64_t b) {
  return uint64_t(a) - uint64_t(b);
}
static int64_t multiply(int64_t a, int64_t b) {
  return uint64_t(a) * uint64_t(b);
}

using Binary = int64_t (*)(int64_t, int64_t);

static Binary getBinary(StringRef name) {
  return llvm::StringSwitch<Binary>(name)
      .Case("add", add)
      .Case("subtract", subtract)
      .Case("multiply", multiply)
      .Case("divide", divide)
      .Case("remainder", remainder)
      .Case("maximum", [](int64_t a, int64_t b) { return std::max(a, b); })
      .Case("minimum", [](int64_t a, int64_t b) { return std::min(a, b); })
      .Case("and", [](int64_t a, int64_t b) { return a & b; })
      .Case("or", [](int64_t a, int64_t b) { return a | b; })
      .Default(nullptr);
}

static Binary getComparison(Attribute direction) {
  std::string text;
  llvm::raw_string_ostream(text) << direction;
  StringRef name(text);
  static constexpr std::pair<StringRef, Binary> table[] = {
      {"EQ", [](int64_t a, int64_t b) { return int64_t(a == b); }},
      {"NE", [](int64_t a, int64_t b) { return int64_t(a != b); }},
      {"GE", [](int64_t a, int64_t b) { return int64_t(a >= b); }},
      {"GT", [](int64_t a, int64_t b) { return int64_t(a > b); }},
      {"LE", [](int64_t a, int64_t b) { return int64_t(a <= b); }},
      {"LT", [](int64_t a, int64_t b) { return int64_t(a < b); }}};
  for (auto [key, compare] : table)
    if (name.contains(key))
      return compare;
  return nullptr;
}

static std::optional<Integers> combine(ArrayRef<Integers> operands,
                                       Binary function) {
  if (!function || operands.size() != 2 ||
      operands[0].size() != operands[1].size())
    return std::nullopt;
  Integers result;
  for (auto [a, b] : llvm::zip(operands[0], operands[1]))
    result.push_back(function(a, b));
  return result;
}

static std::optional<Integers> getDimensionSize(Operation *op) {
  std::optional<Integers> dimension = getIntegers(op->getAttr("dimension"));
  ShapedType shape = getCarriedShape(op->getOperand(0).getType());
  if (!dimension || dimension->size() != 1 || !shape || !shape.hasRank() ||
      uint64_t(dimension->front()) >= uint64_t(shape.getRank()) ||
      shape.isDynamicDim(dimension->front()))
    return std::nullopt;
  return Integers{shape.getDimSize(dimension->front())};
}

static std::optional<Integers> evaluateSlice(Operation *op,
                                             const Integers &operand) {
  std::optional<Integers> start = getIntegers(op->getAttr("start_indices"));
  std::optional<Integers> limit = getIntegers(op->getAttr("limit_indices"));
  std::optional<Integers> stride = getIntegers(op->getAttr("strides"));
  if (!start || !limit || start->size() != 1 || limit->size() != 1 ||
      (*start)[0] < 0 || uint64_t((*limit)[0]) > operand.size())
    return std::nullopt;
  int64_t step = stride && stride->size() == 1 ? (*stride)[0] : 1;
  if (step < 1)
    return std::nullopt;
  Integers result;
  for (int64_t i = (*start)[0]; i < (*limit)[0]; i += step)
    result.push_back(operand[i]);
  return result;
}

static std::optional<Integers> evaluateKnown(Operation *op,
                                             ArrayRef<Integers> operands) {
  StringRef name = op->getName().stripDialect();
  if (name == "convert" || name == "reshape")
    return operands.front();
  if (name == "broadcast_in_dim" && operands.front().size() == 1) {
    ShapedType type = getCarriedShape(op->getResult(0).getType());
    return Integers(type.getNumElements(), operands.front().front());
  }
  if (name == "concatenate") {
    Integers result;
    for (const Integers &part : operands)
      result.append(part);
    return result;
  }
  if (name == "slice")
    return evaluateSlice(op, operands.front());
  if (name == "negate" || name == "sign" || name == "abs" || name == "not") {
    Integers result = operands.front();
    for (int64_t &value : result)
      value = name == "negate" ? -value
              : name == "abs"  ? std::abs(value)
              : name == "not"  ? int64_t(value == 0)
                               : int64_t(value > 0) - int64_t(value < 0);
    return result;
  }
  if (name == "select" && operands.size() == 3 && operands[0].size() == 1)
    return operands[0].front() ? operands[1] : operands[2];
  if (name == "compare")
    return combine(operands,
                   getComparison(op->getAttr("comparison_direction")));
  return combine(operands, getBinary(name));
}

std::optional<Integers> mlir::es::evaluateIntegers(Operation *op,
                                                   const KnownIntegers &known) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "torch" && op->getNumResults() == 1 && !op->getNumRegions() &&
      !isMemoryType(op->getResult(0).getType())) {
    std::optional<int64_t> value = evaluateTorchInteger(op, known);
    return value ? std::optional(Integers{*value}) : std::nullopt;
  }
  if (op->getNumResults() != 1 || op->getNumRegions() ||
      (dialect != "stablehlo" && dialect != "mhlo"))
    return std::nullopt;
  ShapedType type = getCarriedShape(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || type.getRank() > 1 ||
      type.getNumElements() > kMostElements ||
      !type.getElementType().isIntOrIndex())
    return std::nullopt;
  StringRef name = op->getName().stripDialect();
  if (name == "constant")
    return getIntegers(op->getAttr("value"));
  if (name == "get_dimension_size")
    return getDimensionSize(op);
  SmallVector<Integers> operands;
  for (Value operand : op->getOperands()) {
    auto it = known.find(operand);
    if (it == known.end())
      return std::nullopt;
    operands.push_back(it->second);
  }
  if (operands.empty())
    return std::nullopt;
  return evaluateKnown(op, operands);
}
