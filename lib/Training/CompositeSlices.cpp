//===- CompositeSlices.cpp - What belongs to a composite ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompositeMatcher.h"

#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// A step that becomes part of the composite.
ElementStep CompositeMatcher::take(const Element &element) {
  ElementStep step = walk.step(element);
  if (step.fn != ElementFn::Leaf && step.op)
    ops.insert(step.op);
  return step;
}

/// What the root computes: of a structured op what its body yields.
ElementStep CompositeMatcher::resolveRoot() {
  Element element = walk.start(root->getResult(0));
  ElementStep step = walk.step(element);
  for (unsigned i = 0;
       i < kMostMoves && step.fn == ElementFn::Move && step.op == root &&
       !isMemoryType(step.operands[0].value.getType());
       ++i)
    step = walk.step(step.operands[0]);
  return step;
}

Element CompositeMatcher::skipMoves(Element element) {
  for (unsigned i = 0; i < kMostMoves; ++i) {
    ElementStep step = walk.step(element);
    if (step.fn != ElementFn::Move)
      break;
    ops.insert(step.op);
    element = step.operands[0];
  }
  return element;
}

/// From a scalar in a body to the operand that it is an element of.
Element CompositeMatcher::toTensor(Element element) {
  for (unsigned i = 0; i < kMostMoves && !isMemoryType(element.value.getType());
       ++i) {
    ElementStep step = walk.step(element);
    if (step.fn != ElementFn::Move)
      break;
    element = step.operands[0];
  }
  return element;
}

/// The input that the composite reads where it now reads `element`: conversions
/// and moves become part of it, unless others read what they give (`anyUse`:
/// even so, each then computes its own).
Element CompositeMatcher::findInput(Element element, bool throughScales,
                                    bool anyUse) {
  element = toTensor(element);
  for (unsigned i = 0; i < kMostMoves; ++i) {
    Operation *def = element.value.getDefiningOp();
    if (!def || def->getNumResults() != 1 ||
        !(anyUse || llvm::all_of(def->getUsers(), [&](Operation *user) {
            while (user && user->getBlock() != root->getBlock())
              user = user->getParentOp();
            return user && isInside(user);
          })))
      break;
    // To the operand of this op.
    Element next = element;
    bool isPassed = false;
    for (unsigned j = 0; j < kMostMoves && !isPassed; ++j) {
      ElementStep step = walk.step(next);
      if (step.fn == ElementFn::Move) {
        next = step.operands[0];
      } else if (throughScales && (step.fn == ElementFn::Multiply ||
                                   step.fn == ElementFn::Divide)) {
        if (step.operands.size() == 1 || isConstant(step.operands[1]))
          next = step.operands[0];
        else if (step.fn == ElementFn::Multiply && isConstant(step.operands[0]))
          next = step.operands[1];
        else
          break;
      } else {
        break;
      }
      isPassed = isMemoryType(next.value.getType());
    }
    if (!isPassed)
      break;
    ops.insert(def);
    element = next;
  }
  return element;
}

/// A splat, or something that follows from constants alone.
bool CompositeMatcher::isConstant(const Element &element) {
  Element tensor = toTensor(element);
  Value value = tensor.value;
  if (!isMemoryType(value.getType())) {
    Operation *def = value.getDefiningOp();
    return matchPattern(value, m_Constant()) ||
           (def && def->getNumOperands() == 0 &&
            def->getName().stripDialect().starts_with("constant."));
  }
  llvm::SetVector<Operation *> slice;
  auto saved = std::exchange(roles, {});
  auto savedOps = std::exchange(ops, {});
  bool found = collectSlice(value, kMostMoves, false, slice);
  roles = saved;
  ops = savedOps;
  if (!found)
    return false;
  // Numbers that are read from somewhere are inputs.
  for (Operation *op : slice)
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp() || !slice.contains(operand.getDefiningOp()))
        return false;
  return value.getDefiningOp() && slice.contains(value.getDefiningOp());
}

bool CompositeMatcher::isZero(const Element &element) {
  Element at = element;
  for (unsigned i = 0; i < kMostMoves; ++i) {
    ElementStep step = walk.step(at);
    if (step.fn != ElementFn::Move)
      break;
    at = step.operands[0];
  }
  if (matchPattern(at.value, m_AnyZeroFloat()) ||
      matchPattern(at.value, m_PosZeroFloat()))
    return true;
  Operation *def = at.value.getDefiningOp();
  if (!def)
    return false;
  auto elements =
      dyn_cast_if_present<DenseElementsAttr>(getConstantContents(def));
  return elements && elements.isSplat() &&
         isa<FloatType>(elements.getElementType()) &&
         elements.getSplatValue<APFloat>().isZero();
}

//===----------------------------------------------------------------------===//
// What belongs to a composite
//===----------------------------------------------------------------------===//

/// Operands, and what regions read of outside.
static SmallVector<Value> getAllOperands(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  if (op->getNumRegions())
    getUsedValuesDefinedAbove(op->getRegions(), values);
  return values.takeVector();
}

static bool isCheapClass(OpClass opClass, bool onlyElementwise) {
  switch (opClass) {
  case OpClass::Elementwise:
  case OpClass::ElementwiseCostly:
  case OpClass::DataMovement:
  case OpClass::Generator:
    return true;
  case OpClass::Reduction:
    return !onlyElementwise;
  default:
    return false;
  }
}

static bool isView(const OpFacts &facts) {
  return facts.results.size() == 1 && facts.results[0].kind == ResultKind::View;
}

/// Data, as opposed to a number.
static bool isDenseConstant(Operation *op) {
  OpFacts facts = getOpFacts(op);
  if (facts.results.size() != 1 ||
      facts.results[0].kind != ResultKind::Constant)
    return false;
  ShapedType type = getCarriedShape(op->getResult(0).getType());
  return !type || !type.hasStaticShape() || type.getNumElements() > 1;
}

/// The cheap ops between `value` and what is inside, the roles, constants and
/// integers. Fails if anything else is read.
bool CompositeMatcher::collectSlice(Value value, unsigned most,
                                    bool onlyElementwise,
                                    llvm::SetVector<Operation *> &slice) {
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *def = next.getDefiningOp();
    if (llvm::is_contained(roles, next) ||
        (def && (slice.contains(def) || isInside(def))))
      continue;
    OpFacts facts = def ? getOpFacts(def) : OpFacts();
    bool isCheap = def && def->getBlock() == root->getBlock() && facts.known &&
                   def->getNumResults() == 1 && !drawsRandomNumbers(def) &&
                   !isTableLookup(def) && !isDenseConstant(def) &&
                   !isa<CompositeOp>(def) &&
                   (isCheapClass(facts.opClass, onlyElementwise) ||
                    isView(facts) || def->hasTrait<OpTrait::ConstantLike>() ||
                    facts.results[0].kind == ResultKind::None ||
                    facts.results[0].kind == ResultKind::Undefined ||
                    facts.results[0].kind == ResultKind::Constant ||
                    facts.results[0].kind == ResultKind::Splat);
    if (!isCheap || slice.size() >= most) {
      // Labels, lengths: small, and nothing flows to them.
      ShapedType type = getCarriedShape(next.getType());
      if (!isMemoryType(next.getType()) ||
          (type && type.getElementType().isIntOrIndex() &&
           slice.size() < most && !onlyElementwise))
        continue;
      return false;
    }
    slice.insert(def);
    llvm::append_range(worklist, getAllOperands(def));
  }
  return true;
}

/// Takes in what computes masks, numbers and destinations; what else is read is
/// a further input, of which there may be `mostFurther`.
bool CompositeMatcher::close(unsigned mostFurther) {
  ops.insert(root);
  inputs.clear();
  for (Value role : roles)
    if (!llvm::is_contained(inputs, role))
      inputs.push_back(role);
  SmallVector<Operation *> before(ops.begin(), ops.end());
  for (Operation *op : before)
    for (Value operand : getAllOperands(op)) {
      llvm::SetVector<Operation *> slice;
      if (collectSlice(operand, kMostInSlice, false, slice))
        ops.insert(slice.begin(), slice.end());
    }
  unsigned further = 0;
  SmallVector<Operation *> all(ops.begin(), ops.end());
  llvm::sort(all,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : all)
    for (Value operand : getAllOperands(op)) {
      Operation *def = operand.getDefiningOp();
      if ((def && isInside(def)) || llvm::is_contained(inputs, operand))
        continue;
      ShapedType type = getCarriedShape(operand.getType());
      further += type && isa<FloatType>(type.getElementType());
      inputs.push_back(operand);
    }
  ops.clear();
  ops.insert(all.begin(), all.end());
  return further <= mostFurther;
}

/// True if something between the inputs and the result has other readers. What
/// only moves an input is computed again for them.
bool CompositeMatcher::isReadElsewhere() const {
  llvm::DenseMap<Operation *, unsigned> depth;
  for (Operation *op : ops) {
    unsigned reach = 0;
    for (Value operand : getAllOperands(op)) {
      if (llvm::is_contained(roles, operand))
        reach = std::max(reach, 1u);
      else if (Operation *def = operand.getDefiningOp())
        reach = std::max(reach, depth.lookup(def));
    }
    OpFacts facts = getOpFacts(op);
    bool moves = isView(facts) || facts.opClass == OpClass::DataMovement;
    if (reach == 1 && !moves)
      reach = 2;
    depth[op] = reach;
    if (reach < 2 || op == root)
      continue;
    for (Operation *user : op->getUsers()) {
      while (user && user->getBlock() != root->getBlock())
        user = user->getParentOp();
      if (!user || !isInside(user))
        return true;
    }
  }
  return false;
}

/// One number for each row.
Type CompositeMatcher::makeStatistic(const ElementAxes &axes,
                                     ArrayRef<unsigned> without) {
  SmallVector<int64_t> shape;
  for (const auto &dimension : axes)
    for (unsigned axis : dimension)
      if (!llvm::is_contained(without, axis))
        shape.push_back(walk.getSize(axis));
  // At full precision, whatever the operands have.
  Type element = getCarriedShape(root->getResult(0).getType()).getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(root->getContext());
  return RankedTensorType::get(shape, element);
}
