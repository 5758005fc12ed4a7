//===- CompositeMatcher.cpp - Ops that one kernel computes ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The patterns, written on elements (es/OpModel/Expressions.h):
//
//   attention      o[i,d] = sum j: p[i,j] v[j,d],  p = softmax over j of
//                  s[i,j] = sum c: q[i,c] k[j,c], scaled, masked
//   log-softmax    z - log(sum exp(z)), z the logits, perhaps less their
//   maximum cross entropy  sum j: y[j] log-softmax(x)[j] layer norm     (x -
//   mean(x)) rsqrt(f(x)) scale + offset, scale and offset
//                  perhaps absent
//   GELU           a product of x and an elementwise function of x that holds
//   an
//                  error function or a tanh
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

/// Masks and statistics are computed by no more ops than this.
static constexpr unsigned kMostInSlice = 32;
/// An error function written out takes about 60.
static constexpr unsigned kMostInActivation = 128;
static constexpr unsigned kMostMoves = 16;
static constexpr unsigned kMostFactors = 8;

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

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static bool hasAny(const Element &element, ArrayRef<unsigned> axes) {
  return llvm::any_of(axes,
                      [&](unsigned axis) { return element.hasAxis(axis); });
}

static bool hasAll(const Element &element, ArrayRef<unsigned> axes) {
  return llvm::all_of(axes,
                      [&](unsigned axis) { return element.hasAxis(axis); });
}

/// False if all elements along `rows` are equal: the value is broadcast, or
/// computed from what is.
bool CompositeMatcher::variesAlong(const Element &element,
                                   ArrayRef<unsigned> rows) {
  SmallVector<Element> worklist = {element};
  for (unsigned i = 0; i < kMostInSlice && !worklist.empty(); ++i) {
    Element next = worklist.pop_back_val();
    if (!hasAny(next, rows) || isConstant(next))
      continue;
    ElementStep step = walk.step(next);
    if (step.fn == ElementFn::Leaf)
      return true;
    llvm::append_range(worklist, step.operands);
  }
  return !worklist.empty();
}

/// True if `sum` adds up `exp` over `rows`, and over nothing else.
bool CompositeMatcher::isRowSum(const Element &sum, const Element &exp,
                                ArrayRef<unsigned> rows) {
  ElementStep step = take(skipMoves(sum));
  if (step.fn != ElementFn::Sum || step.rows.size() != rows.size())
    return false;
  Element summed = skipMoves(step.operands[0]);
  if (summed.value != exp.value || summed.axes.size() != exp.axes.size())
    return false;
  for (auto [a, b] : llvm::zip(summed.axes, exp.axes)) {
    if (a.size() != b.size())
      return false;
    for (auto [x, y] : llvm::zip(a, b))
      if (llvm::is_contained(rows, y) != llvm::is_contained(step.rows, x) ||
          (!llvm::is_contained(rows, y) && x != y))
        return false;
  }
  return true;
}

/// What the softmax along `rows` is taken of, if `element` is one.
std::optional<Element> CompositeMatcher::matchSoftmax(Element element,
                                                      ArrayRef<unsigned> rows) {
  for (unsigned i = 0; i < kMostMoves; ++i) {
    element = skipMoves(element);
    ElementStep step = walk.step(element);
    if (step.fn == ElementFn::Dropout) {
      ops.insert(step.op);
      element = step.operands[0];
    } else if (step.fn == ElementFn::Select && step.operands.size() == 3 &&
               (isZero(step.operands[1]) || isZero(step.operands[2]))) {
      // Rows of which everything is masked.
      ops.insert(step.op);
      element = step.operands[isZero(step.operands[1]) ? 2 : 1];
    } else {
      break;
    }
  }
  ElementStep step = take(element);
  if (step.fn == ElementFn::Softmax) {
    bool isSame = step.rows.size() == rows.size() &&
                  llvm::all_of(step.rows, [&](unsigned axis) {
                    return llvm::is_contained(rows, axis);
                  });
    return isSame ? std::optional(step.operands[0]) : std::nullopt;
  }
  std::optional<Element> exp, sum;
  if (step.fn == ElementFn::Divide && step.operands.size() == 2) {
    exp = skipMoves(step.operands[0]);
    sum = step.operands[1];
  } else if (step.fn == ElementFn::Multiply && step.operands.size() == 2) {
    for (unsigned i = 0; i < 2 && !sum; ++i) {
      Element other = skipMoves(step.operands[1 - i]);
      ElementStep inverse = walk.step(other);
      bool isInverse =
          inverse.fn == ElementFn::Reciprocal ||
          (inverse.fn == ElementFn::Divide && inverse.operands.size() == 2 &&
           isConstant(inverse.operands[0]));
      if (!isInverse)
        continue;
      ops.insert(inverse.op);
      sum = inverse.operands.back();
      exp = skipMoves(step.operands[i]);
    }
  }
  if (!exp || !sum)
    return std::nullopt;
  ElementStep power = take(*exp);
  if (power.fn != ElementFn::Exp || !isRowSum(*sum, *exp, rows))
    return std::nullopt;
  // Whatever is subtracted from a whole row changes nothing.
  Element scores = skipMoves(power.operands[0]);
  ElementStep shifted = walk.step(scores);
  if (shifted.fn == ElementFn::Subtract && shifted.operands.size() == 2) {
    if (!variesAlong(shifted.operands[1], rows)) {
      ops.insert(shifted.op);
      return shifted.operands[0];
    }
  }
  return scores;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The product that scores are, below scales and masks.
std::optional<ElementStep> CompositeMatcher::findScores(Element element,
                                                        unsigned depth) {
  if (depth == 0)
    return std::nullopt;
  element = skipMoves(element);
  ElementStep step = take(element);
  auto follow = [&](unsigned index) -> std::optional<ElementStep> {
    llvm::SetVector<Operation *> before = ops;
    std::optional<ElementStep> found =
        findScores(step.operands[index], depth - 1);
    if (!found)
      ops = before;
    return found;
  };
  switch (step.fn) {
  case ElementFn::Product:
    return step;
  case ElementFn::Add:
    for (unsigned i = 0, e = step.operands.size(); i < e; ++i)
      if (std::optional<ElementStep> found = follow(i)) {
        if (e == 2)
          findInput(step.operands[1 - i], false, /*anyUse=*/true);
        return found;
      }
    return std::nullopt;
  case ElementFn::Select:
    for (unsigned i = 1, e = step.operands.size(); i < e; ++i)
      if (std::optional<ElementStep> found = follow(i))
        return found;
    return std::nullopt;
  case ElementFn::Multiply:
    for (unsigned i = 0, e = step.operands.size(); i < e; ++i)
      if (e == 1 || isConstant(step.operands[1 - i]))
        return follow(i);
    return std::nullopt;
  case ElementFn::Divide:
    if (step.operands.size() == 1 || isConstant(step.operands[1]))
      return follow(0);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

bool CompositeMatcher::matchAttention(const ElementStep &product,
                                      unsigned side) {
  Element weights = toTensor(product.operands[side]);
  Element values = toTensor(product.operands[1 - side]);
  std::optional<Element> masked = matchSoftmax(weights, product.rows);
  if (!masked)
    return false;
  std::optional<ElementStep> scores = findScores(*masked, kMostMoves);
  if (!scores) {
    reasonLeft = "its scores are not a product of two operands";
    return false;
  }
  Element left = toTensor(scores->operands[0]);
  Element right = toTensor(scores->operands[1]);
  bool isKeyFirst = hasAny(left, product.rows);
  Element keys = isKeyFirst ? left : right;
  Element queries = isKeyFirst ? right : left;
  if (!hasAll(keys, product.rows) || hasAny(queries, product.rows) ||
      !hasAll(values, product.rows) || hasAny(values, scores->rows)) {
    reasonLeft = "its scores are not those of queries and keys";
    return false;
  }
  kind = CompositeKind::attention;
  ops.insert(root);
  roles = {findInput(queries, true, false).value,
           findInput(keys, true, false).value,
           findInput(values, false, false).value};
  statistics = {makeStatistic(weights.axes, product.rows)};
  // A mask and a bias of positions.
  if (!close(/*mostFurther=*/2)) {
    reasonLeft = "its scores depend on more than queries, keys and masks";
    return false;
  }
  if (isReadElsewhere()) {
    reasonLeft = "its weights are read elsewhere";
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Cross entropy
//===----------------------------------------------------------------------===//

/// Finds log-softmax in `result`; says along which axes.
bool CompositeMatcher::matchLogSoftmax(const Element &result,
                                       SmallVector<unsigned, 2> *rows) {
  ElementStep step = take(result);
  if (step.fn == ElementFn::LogSoftmax) {
    rows->assign(step.rows.begin(), step.rows.end());
    roles = {findInput(step.operands[0], false, false).value};
    return true;
  }
  if (step.fn != ElementFn::Subtract || step.operands.size() != 2)
    return false;
  Element shifted = toTensor(step.operands[0]);
  Element logarithm = skipMoves(step.operands[1]);
  ElementStep log = walk.step(logarithm);
  // The maximum may be added to the logarithm instead.
  if (log.fn == ElementFn::Add && log.operands.size() == 2) {
    ops.insert(log.op);
    for (unsigned i = 0; i < 2; ++i) {
      Element side = skipMoves(log.operands[i]);
      ElementStep inner = walk.step(side);
      if (inner.fn != ElementFn::Log)
        continue;
      log = inner;
      break;
    }
  }
  if (log.fn != ElementFn::Log)
    return false;
  ops.insert(log.op);
  ElementStep sum = take(skipMoves(log.operands[0]));
  if (sum.fn != ElementFn::Sum)
    return false;
  ElementStep power = take(skipMoves(sum.operands[0]));
  if (power.fn != ElementFn::Exp)
    return false;
  Element inner = toTensor(power.operands[0]);
  // The logits: what is subtracted from, or that less the maximum.
  auto unshift = [&](Element element) {
    Element at = element;
    for (unsigned i = 0; i < kMostMoves; ++i) {
      ElementStep move = walk.step(at);
      if (move.fn == ElementFn::Subtract && move.operands.size() == 2) {
        ops.insert(move.op);
        return toTensor(move.operands[0]);
      }
      if (move.fn != ElementFn::Move ||
          isMemoryType(move.operands[0].value.getType()))
        break;
      at = move.operands[0];
    }
    return element;
  };
  Element logits = shifted;
  if (inner.value == shifted.value) {
    logits = unshift(shifted);
  } else {
    Element unshifted = unshift(inner);
    if (unshifted.value != shifted.value)
      return false;
  }
  // The axes that were summed over, as the result has them.
  for (auto [a, b] : llvm::zip(inner.axes, result.axes)) {
    if (a == b)
      continue;
    if (a.size() != b.size() || !llvm::all_of(a, [&](unsigned axis) {
          return llvm::is_contained(sum.rows, axis);
        }))
      return false;
    rows->append(b.begin(), b.end());
  }
  if (rows->size() != sum.rows.size())
    return false;
  ops.insert(root);
  roles = {findInput(logits, false, false).value};
  return true;
}

bool CompositeMatcher::matchCrossEntropy(const ElementStep &sum) {
  SmallVector<Element, 2> factors(sum.operands.begin(), sum.operands.end());
  ops.insert(root);
  if (sum.fn == ElementFn::Sum) {
    ElementStep product = take(skipMoves(sum.operands[0]));
    if (product.fn != ElementFn::Multiply || product.operands.size() != 2)
      return false;
    factors.assign(product.operands.begin(), product.operands.end());
  }
  llvm::SetVector<Operation *> before = ops;
  for (unsigned i = 0; i < 2; ++i) {
    ops = before;
    Element labels = toTensor(factors[1 - i]);
    Element at = toTensor(factors[i]);
    for (unsigned j = 0; j < kMostMoves; ++j) {
      ElementStep negated = walk.step(at);
      if (negated.fn != ElementFn::Negate && negated.fn != ElementFn::Move)
        break;
      ops.insert(negated.op);
      at = negated.operands[0];
    }
    SmallVector<unsigned, 2> rows;
    Element logs = at;
    if (!matchLogSoftmax(at, &rows) ||
        !llvm::all_of(
            sum.rows,
            [&](unsigned axis) { return llvm::is_contained(rows, axis); }) ||
        rows.size() != sum.rows.size())
      continue;
    findInput(labels, false, true);
    kind = CompositeKind::cross_entropy;
    statistics = {makeStatistic(logs.axes, {})};
    if (close(/*mostFurther=*/1) && !isReadElsewhere())
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Layer norm and GELU
//===----------------------------------------------------------------------===//

/// The factors of a product, and what it is divided by.
bool CompositeMatcher::collectFactors(const Element &product,
                                      SmallVectorImpl<Element> &factors,
                                      SmallVectorImpl<Element> &divisors) {
  SmallVector<Element> worklist = {product};
  while (!worklist.empty()) {
    if (factors.size() + worklist.size() > kMostFactors)
      return false;
    Element next = worklist.pop_back_val();
    Element at = next;
    llvm::SetVector<Operation *> before = ops;
    ElementStep step = walk.step(at);
    for (unsigned i = 0; i < kMostMoves && step.fn == ElementFn::Move; ++i) {
      ops.insert(step.op);
      at = step.operands[0];
      step = walk.step(at);
    }
    if (step.fn == ElementFn::Multiply) {
      ops.insert(step.op);
      llvm::append_range(worklist, step.operands);
    } else if (step.fn == ElementFn::Divide) {
      ops.insert(step.op);
      worklist.push_back(step.operands[0]);
      divisors.append(step.operands.begin() + 1, step.operands.end());
    } else if (step.fn == ElementFn::Subtract || step.fn == ElementFn::Rsqrt) {
      factors.push_back(at);
    } else {
      // A scale, which is an input as it is.
      ops = before;
      factors.push_back(next);
    }
  }
  return true;
}

/// If `mean` is the mean of `operand`, the axes over which.
bool CompositeMatcher::isMeanOf(const Element &mean, const Element &operand,
                                SmallVectorImpl<unsigned> &rows) {
  Element reduced = skipMoves(mean);
  ElementStep step = take(reduced);
  if ((step.fn == ElementFn::Divide || step.fn == ElementFn::Multiply) &&
      step.operands.size() == 2) {
    unsigned sum =
        step.fn == ElementFn::Multiply && isConstant(step.operands[0]) ? 1 : 0;
    if (!isConstant(step.operands[1 - sum]))
      return false;
    reduced = skipMoves(step.operands[sum]);
    step = take(reduced);
    if (step.fn != ElementFn::Sum)
      return false;
  } else if (step.fn != ElementFn::Mean) {
    return false;
  }
  Element read = toTensor(step.operands[0]);
  for (unsigned i = 0; i < kMostMoves && read.value != operand.value; ++i) {
    ElementStep move = walk.step(read);
    if (move.fn != ElementFn::Move)
      return false;
    ops.insert(move.op);
    read = toTensor(move.operands[0]);
  }
  for (const auto &dimension : operand.axes)
    for (unsigned axis : dimension)
      if (!reduced.hasAxis(axis))
        rows.push_back(axis);
  return read.value == operand.value && rows.size() == step.rows.size() &&
         !rows.empty();
}

bool CompositeMatcher::matchLayerNorm(const ElementStep &last) {
  ops.insert(root);
  Element product = walk.start(root->getResult(0));
  std::optional<Element> offset;
  llvm::SetVector<Operation *> before = ops;
  for (unsigned side = 0; side < 2; ++side) {
    ops = before;
    roles.clear();
    if (last.fn == ElementFn::Add) {
      if (last.operands.size() != 2)
        return false;
      product = last.operands[side];
      offset = last.operands[1 - side];
    }
    SmallVector<Element> factors, divisors;
    if (!collectFactors(product, factors, divisors))
      continue;
    std::optional<Element> centered, scale, deviation;
    bool isOther = false;
    for (const Element &factor : factors) {
      ElementFn fn = walk.step(factor).fn;
      if (fn == ElementFn::Subtract && !centered)
        centered = factor;
      else if (fn == ElementFn::Rsqrt && !deviation)
        deviation = factor;
      else if (!scale)
        scale = factor;
      else
        isOther = true;
    }
    for (const Element &divisor : divisors) {
      Element at = skipMoves(divisor);
      if (walk.step(at).fn == ElementFn::Sqrt && !deviation)
        deviation = at;
      else
        isOther = true;
    }
    if (isOther || !centered || !deviation)
      continue;
    ElementStep difference = take(*centered);
    take(*deviation);
    if (difference.operands.size() != 2)
      continue;
    Element operand = toTensor(difference.operands[0]);
    SmallVector<unsigned> rows;
    if (!isMeanOf(difference.operands[1], operand, rows))
      continue;
    // The reciprocal deviation is one for each row, the scale one for each
    // column.
    if (variesAlong(*deviation, rows))
      continue;
    auto isVector = [&](const Element &element) {
      return llvm::all_of(element.axes, [&](const auto &dimension) {
        return llvm::all_of(dimension, [&](unsigned axis) {
          return llvm::is_contained(rows, axis);
        });
      });
    };
    if (scale)
      scale = findInput(*scale, false, true);
    if (offset)
      offset = findInput(*offset, false, true);
    if ((scale && !isVector(*scale)) || (offset && !isVector(*offset)) ||
        (offset && !scale))
      continue;
    statistics = {makeStatistic(operand.axes, rows),
                  makeStatistic(operand.axes, rows)};
    operand = findInput(operand, false, false);
    roles = {operand.value};
    if (scale)
      roles.push_back(scale->value);
    if (offset)
      roles.push_back(offset->value);
    kind = CompositeKind::layer_norm;
    if (close(/*mostFurther=*/0) && !isReadElsewhere())
      return true;
    if (last.fn != ElementFn::Add)
      return false;
  }
  return false;
}

/// True if the op, or its body, computes one of these.
static bool computes(Operation *op, ArrayRef<StringRef> names) {
  bool found = false;
  op->walk([&](Operation *inner) {
    StringRef name = inner->getName().stripDialect();
    found |= llvm::is_contained(names, name);
  });
  return found;
}

bool CompositeMatcher::matchGelu(const ElementStep &last) {
  SmallVector<Element> factors, divisors;
  auto before = ops;
  if (!collectFactors(walk.start(root->getResult(0)), factors, divisors))
    return false;
  ops = before;
  Type type = root->getResult(0).getType();
  for (const Element &factor : factors) {
    Element candidate = toTensor(factor);
    if (!isMemoryType(candidate.value.getType()) || isConstant(candidate) ||
        getCarriedShape(candidate.value.getType()).getShape() !=
            getCarriedShape(type).getShape())
      continue;
    llvm::SetVector<Operation *> slice;
    roles = {candidate.value};
    ops.clear();
    if (!collectSlice(root->getResult(0), kMostInActivation, true, slice) ||
        slice.empty())
      continue;
    bool isErf = llvm::any_of(slice, [](Operation *op) {
      return computes(op, {"erf", "erfc", "tanh"});
    });
    // An error function that is written out selects between two series.
    bool isSeries = llvm::any_of(slice,
                                 [](Operation *op) {
                                   return computes(op, {"exponential", "exp"});
                                 }) &&
                    llvm::any_of(slice, [](Operation *op) {
                      return computes(op, {"select"});
                    });
    if (!isErf && !isSeries)
      continue;
    ops.insert(slice.begin(), slice.end());
    kind = CompositeKind::gelu;
    statistics.clear();
    if (close(/*mostFurther=*/0) && !isReadElsewhere())
      return true;
  }
  return false;
}

bool CompositeMatcher::matchRelu() {
  ElementStep step = resolveRoot();
  std::optional<Element> operand;
  if (step.fn == ElementFn::Relu)
    operand = step.operands[0];
  else if (step.fn == ElementFn::Maximum && step.operands.size() == 2)
    for (unsigned i = 0; i < 2; ++i)
      if (isZero(step.operands[i]))
        operand = step.operands[1 - i];
  if (!operand)
    return false;
  operand = toTensor(*operand);
  ShapedType type = getCarriedShape(root->getResult(0).getType());
  if (!isMemoryType(operand->value.getType()) ||
      getCarriedShape(operand->value.getType()).getShape() != type.getShape())
    return false;
  kind = CompositeKind::relu;
  ops.clear();
  roles = {operand->value};
  statistics = {RankedTensorType::get(type.getShape(),
                                      IntegerType::get(root->getContext(), 1))};
  return close(/*mostFurther=*/0);
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

bool CompositeMatcher::attempt(function_ref<bool()> pattern) {
  ops.clear();
  roles.clear();
  inputs.clear();
  statistics.clear();
  return pattern();
}

bool CompositeMatcher::matchAny() {
  ElementStep last = resolveRoot();
  switch (last.fn) {
  case ElementFn::Product:
    for (unsigned side = 0; side < 2; ++side)
      if (attempt([&] { return matchAttention(last, side); }))
        return true;
    return attempt([&] { return matchCrossEntropy(last); });
  case ElementFn::Sum:
    return attempt([&] { return matchCrossEntropy(last); });
  case ElementFn::Add:
    return attempt([&] { return matchLayerNorm(last); });
  case ElementFn::Multiply:
  case ElementFn::Divide:
    return attempt([&] { return matchLayerNorm(last); }) ||
           attempt([&] { return matchGelu(last); });
  case ElementFn::Subtract:
  case ElementFn::LogSoftmax:
    return attempt([&] {
      SmallVector<unsigned, 2> rows;
      kind = CompositeKind::log_softmax;
      return matchLogSoftmax(walk.start(root->getResult(0)), &rows) &&
             close(/*mostFurther=*/0) && !isReadElsewhere();
    });
  default:
    return false;
  }
}
