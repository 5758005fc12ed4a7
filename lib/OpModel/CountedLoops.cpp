//===- CountedLoops.cpp - Loops whose trip count is known -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JAX writes counted loops as `while` loops: the condition compares a carried
// integer with a constant, the body adds a constant to it. scf.while may do the
// same. The loops of ONNX and torch have a number of trips and a condition to
// go on, which has to be true throughout for the number to be what it says.
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/CountedLoops.h"
#include "es/OpModel/Attributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::es;

static std::optional<int64_t> countTrips(int64_t lower, int64_t upper,
                                         int64_t step) {
  if (step <= 0)
    return std::nullopt;
  if (upper <= lower)
    return 0;
  return int64_t(llvm::divideCeil(uint64_t(upper) - uint64_t(lower), step));
}

static CarryingLoop getForLoop(scf::ForOp op) {
  CarryingLoop loop;
  loop.op = op;
  loop.body = &op.getRegion();
  loop.firstInit = op.getNumControlOperands();
  loop.firstArgument = op.getNumInductionVars();
  loop.counter = cast<BlockArgument>(op.getInductionVar());
  std::optional<int64_t> lower = getConstantIntValue(op.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(op.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(op.getStep());
  loop.bound = op.getUpperBound();
  if (!lower || !upper || !step)
    return loop;
  loop.lower = *lower;
  loop.step = *step;
  loop.trips = countTrips(*lower, *upper, *step);
  return loop;
}

static std::optional<int64_t> getConstant(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->getName().stripDialect().starts_with_insensitive("constant"))
    return std::nullopt;
  auto values = getIntegers(op->getAttr("value"));
  if (!values || values->size() != 1)
    return std::nullopt;
  return values->front();
}

/// The first number that is too large for `compare` with `bound` to hold.
static std::optional<int64_t> getEnd(Operation *compare, int64_t bound) {
  if (auto op = dyn_cast<arith::CmpIOp>(compare)) {
    if (op.getPredicate() == arith::CmpIPredicate::slt ||
        op.getPredicate() == arith::CmpIPredicate::ult)
      return bound;
    if (op.getPredicate() == arith::CmpIPredicate::sle ||
        op.getPredicate() == arith::CmpIPredicate::ule)
      return bound + 1;
    return std::nullopt;
  }
  std::string text;
  llvm::raw_string_ostream(text) << compare->getAttr("comparison_direction");
  if (StringRef(text).contains("LT"))
    return bound;
  if (StringRef(text).contains("LE"))
    return bound + 1;
  return std::nullopt;
}

static bool isCompare(Operation *op) {
  return op && op->getNumOperands() == 2 &&
         (isa<arith::CmpIOp>(op) || op->getName().stripDialect() == "compare");
}

static bool isAdd(Operation *op) {
  return op && op->getNumOperands() == 2 &&
         (isa<arith::AddIOp>(op) || op->getName().stripDialect() == "add");
}

/// True if the body of a `while` gets what its condition got: an scf.condition
/// may hand on other values.
static bool passesOnArguments(Block &condition) {
  ValueRange operands = condition.back().getOperands();
  if (!isa<scf::ConditionOp>(condition.back()))
    return operands.size() == 1;
  return llvm::equal(operands.drop_front(), condition.getArguments());
}

/// The counter of a `while`, if it has one.
static void findCounter(CarryingLoop &loop) {
  Block &condition = loop.op->getRegion(0).front();
  Block &body = loop.body->front();
  if (condition.empty() || body.empty() || !passesOnArguments(condition) ||
      body.back().getNumOperands() != loop.op->getNumOperands())
    return;
  Operation *compare = condition.back().getOperand(0).getDefiningOp();
  if (!isCompare(compare))
    return;
  auto counter = dyn_cast<BlockArgument>(compare->getOperand(0));
  if (!counter || counter.getOwner() != &condition ||
      !getElementTypeOrSelf(counter.getType()).isIntOrIndex())
    return;
  loop.bound = compare->getOperand(1);
  // The bound may be carried along unchanged.
  if (auto carried = dyn_cast<BlockArgument>(loop.bound);
      carried && carried.getOwner() == &condition) {
    unsigned index = carried.getArgNumber();
    if (body.back().getOperand(index) == body.getArgument(index))
      loop.bound = loop.op->getOperand(index);
  }
  unsigned index = counter.getArgNumber();
  loop.counter = body.getArgument(index);
  Operation *next = body.back().getOperand(index).getDefiningOp();
  std::optional<int64_t> lower = getConstant(loop.op->getOperand(index));
  std::optional<int64_t> bound = getConstant(loop.bound);
  if (!lower || !bound || !isAdd(next))
    return;
  std::optional<int64_t> step, upper = getEnd(compare, *bound);
  for (unsigned i = 0; i < 2; ++i)
    if (next->getOperand(i) == loop.counter)
      step = getConstant(next->getOperand(1 - i));
  if (!step || !upper)
    return;
  loop.lower = *lower;
  loop.step = *step;
  loop.trips = countTrips(*lower, *upper, *step);
}

/// True if nothing but the number of trips ends the loop.
static bool isAlwaysTrue(Value condition) {
  if (Operation *op = condition.getDefiningOp())
    // What ONNX leaves out is a value without a type of its own.
    if (isa<NoneType>(condition.getType()) ||
        op->getName().stripDialect() == "NoValue")
      return true;
  std::optional<int64_t> value = getConstant(condition);
  return value && *value != 0;
}

/// A loop whose operands are the number of trips, whether to go on, and what it
/// carries; its body gets the counter first and `passed` arguments with it.
static std::optional<CarryingLoop> getTripLoop(Operation *op, unsigned passed) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock() ||
      op->getNumOperands() < 2)
    return std::nullopt;
  Block &body = op->getRegion(0).front();
  CarryingLoop loop;
  loop.op = op;
  loop.body = &op->getRegion(0);
  loop.firstInit = 2;
  loop.firstArgument = passed;
  loop.firstYield = 1;
  // Further results of an ONNX loop gather a value of each trip.
  if (op->getNumResults() != loop.size() || body.empty() ||
      body.getNumArguments() != loop.size() + passed ||
      body.back().getNumOperands() != loop.size() + 1)
    return std::nullopt;
  loop.counter = body.getArgument(0);
  loop.bound = op->getOperand(0);
  Value goOn = body.back().getOperand(0);
  bool goesOn =
      (passed > 1 && goOn == body.getArgument(1)) || isAlwaysTrue(goOn);
  if (goesOn && isAlwaysTrue(op->getOperand(1)))
    if (std::optional<int64_t> trips = getConstant(op->getOperand(0)))
      loop.trips = std::max<int64_t>(*trips, 0);
  return loop;
}

std::optional<CarryingLoop> mlir::es::getCarryingLoop(Operation *op) {
  if (auto forOp = dyn_cast<scf::ForOp>(op))
    return getForLoop(forOp);
  StringRef name = op->getName().getStringRef();
  if (name == "onnx.Loop")
    return getTripLoop(op, 2);
  if (name == "torch.prim.Loop")
    return getTripLoop(op, 1);
  if ((name != "stablehlo.while" && name != "mhlo.while" &&
       name != "scf.while") ||
      op->getNumRegions() != 2 || !op->getRegion(0).hasOneBlock() ||
      !op->getRegion(1).hasOneBlock())
    return std::nullopt;
  CarryingLoop loop;
  loop.op = op;
  loop.body = &op->getRegion(1);
  findCounter(loop);
  return loop;
}
