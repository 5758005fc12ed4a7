//===- ReverseSweep.cpp - From the loss back to the parameters ------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear in the ops: one sweep forward for activity, one backward for the
// gradients.
//
//===----------------------------------------------------------------------===//

#include "ReverseSweep.h"

#include "Checkpoints.h"

#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::es;

ReverseSweep::ReverseSweep(OpBuilder &builder, const TrainingOptions &options,
                           const llvm::MapVector<Value, StringAttr> &parameters,
                           const llvm::DenseSet<Value> &resident)
    : builder(builder), options(options), parameters(parameters),
      resident(resident) {
  for (const auto &[value, name] : parameters)
    active.insert(value);
  scopes.emplace_back();
}

//===----------------------------------------------------------------------===//
// Activity
//===----------------------------------------------------------------------===//

/// A number, a splat, an undefined destination.
static bool isConstantLike(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->getNumOperands() == 0 &&
         getOpFacts(op).opClass == OpClass::Generator;
}

void ReverseSweep::findActive(Block &block) {
  for (Operation &op : block)
    findActive(&op);
}

void ReverseSweep::findActive(Operation *op) {
  bool isChain = op->getNumOperands() > 0 && isParameterChain(op);
  for (Value operand : op->getOperands())
    isChain &= isConstantLike(operand) || resident.contains(operand) ||
               parameterChains.contains(operand) ||
               !isMemoryType(operand.getType());
  if (isChain)
    parameterChains.insert(op->result_begin(), op->result_end());
  if (getOpFacts(op).opClass == OpClass::ControlFlow) {
    findActiveInside(op);
    return;
  }
  bool any = llvm::any_of(op->getOperands(),
                          [&](Value operand) { return isActive(operand); });
  if (!any)
    return;
  DerivativeFacts facts = getDerivativeFacts(op);
  bool flows = false;
  for (OpOperand &operand : op->getOpOperands())
    flows |= isActive(operand.get()) &&
             facts.operands[operand.getOperandNumber()].flows;
  if (!flows)
    return;
  for (Value result : op->getResults())
    if (carriesGradient(result.getType()))
      active.insert(result);
}

Operation *ReverseSweep::findCut(Value value) const {
  SmallVector<Value> worklist = {value};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(next).second)
      continue;
    for (Value operand : op->getOperands()) {
      if (isActive(operand))
        return op;
      worklist.push_back(operand);
    }
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Cotangents
//===----------------------------------------------------------------------===//

/// PyTorch multiplies tensors of more than two dimensions with a matrix as
/// matrices: their gradients are views of a product's result, and a sum does
/// not take over the memory of a view.
static bool isViewOfProduct(Value cotangent) {
  auto vjp = cotangent.getDefiningOp<VjpOp>();
  auto isOfRank = [](Type type, auto holds) {
    ShapedType shaped = getCarriedShape(type);
    return shaped && shaped.hasRank() && holds(shaped.getRank());
  };
  return vjp && vjp.getKind() == VjpKind::contraction &&
         isOfRank(cotangent.getType(), [](int64_t r) { return r > 2; }) &&
         llvm::any_of(vjp.getOriginalFunctionType().getInputs(),
                      [&](Type type) {
                        return isOfRank(type, [](int64_t r) { return r == 2; });
                      });
}

void ReverseSweep::addCotangent(Location loc, Value value, Value cotangent) {
  Value &sum = scopes.back().cotangents[value];
  if (!sum) {
    sum = cotangent;
    return;
  }
  bool apart = options.eager && isViewOfProduct(sum);
  sum = AccumulateOp::create(builder, loc, sum, cotangent, apart);
}

/// The cotangent of a sum of equal elements has equal elements.
bool ReverseSweep::foldSplat(Operation *op, const OperandGradient &gradient,
                             unsigned operand) {
  if (options.eager || op->getNumResults() != 1 || !gradient.operands.empty() ||
      !gradient.results.empty() ||
      (gradient.kind != VjpKind::view && !gradient.isSpread))
    return false;
  auto splat = getCotangent(op->getResult(0)).getDefiningOp<SplatOp>();
  if (!splat)
    return false;
  Value value = op->getOperand(operand);
  addCotangent(op->getLoc(), value,
               SplatOp::create(builder, op->getLoc(), value.getType(),
                               splat.getValueAttr()));
  return true;
}

//===----------------------------------------------------------------------===//
// Saved values
//===----------------------------------------------------------------------===//

bool ReverseSweep::isRepeatable(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || options.eager)
    return false;
  return parameterChains.contains(value) || repeated.contains(value) ||
         isCheaplyRepeated(op);
}

/// The value as the gradient reads it: kept from the forward pass, or computed
/// again where that costs next to nothing.
Value ReverseSweep::keep(Value value) {
  return keepIn(value, scopes.size() - 1);
}

Value ReverseSweep::keepIn(Value value, unsigned scope) {
  // What is outside of the region at hand is kept where it is.
  while (scope > 0 && value.getParentBlock() != scopes[scope].forward)
    --scope;
  bool isScalar =
      !isMemoryType(value.getType()) && !carriesGradient(value.getType());
  if (isRepeatable(value) || (scope > 0 && isScalar))
    return repeatInScope(value, scope);
  return scope > 0 ? saveInScope(value, scope) : value;
}

/// Clones what computes the value, down to what is kept; operands first, with a
/// stack of its own, since chains may be long.
Value ReverseSweep::repeatChain(Value value) {
  SmallVector<Value> stack = {value};
  while (!stack.empty()) {
    Value top = stack.back();
    Operation *op = top.getDefiningOp();
    if (repeatedHere.contains(top)) {
      stack.pop_back();
      continue;
    }
    bool isReady = true;
    for (Value operand : op->getOperands())
      if (isRepeatable(operand) && !repeatedHere.contains(operand) &&
          operand.getParentBlock() == op->getBlock()) {
        stack.push_back(operand);
        isReady = false;
      }
    if (!isReady)
      continue;
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      if (mapping.contains(operand))
        continue;
      Value here = repeatedHere.lookup(operand);
      mapping.map(operand, here ? here : keepIn(operand, scopes.size() - 1));
    }
    Operation *copy = builder.clone(*op, mapping);
    repeatedWork += estimateWork(op);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
      repeatedHere[from] = to;
    stack.pop_back();
  }
  return repeatedHere.lookup(value);
}

/// Computes the value again, or a number that it is.
Value ReverseSweep::repeatInScope(Value value, unsigned scope) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    // The counter of a loop.
    const std::optional<CarryingLoop> &loop = scopes[scope].loop;
    if (!loop || loop->counter != value)
      return saveInScope(value, scope);
    Location loc = value.getLoc();
    Value step = arith::ConstantIndexOp::create(builder, loc, loop->step);
    Value lower = arith::ConstantIndexOp::create(builder, loc, loop->lower);
    Value scaled =
        arith::MulIOp::create(builder, loc, scopes[scope].iteration, step);
    Value count = arith::AddIOp::create(builder, loc, scaled, lower);
    if (value.getType().isIndex())
      return count;
    if (value.getType().isInteger())
      return arith::IndexCastOp::create(builder, loc, value.getType(), count);
    return UnrealizedConversionCastOp::create(builder, loc, value.getType(),
                                              count)
        .getResult(0);
  }
  // A number that is read from memory is kept as one.
  if (!isRepeatable(value) && llvm::any_of(op->getOperandTypes(), isMemoryType))
    return scope > 0 ? saveInScope(value, scope) : value;
  if (Value here = repeatedHere.lookup(value))
    return here;
  return repeatChain(value);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// The op on the arguments of a block, for what its region says.
static void cloneInto(Operation *op, VjpOp vjp) {
  OpBuilder builder(vjp.getContext());
  Block *block = builder.createBlock(&vjp.getOriginal()[0]);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    block->addArgument(operand.getType(), op->getLoc());
  Operation *clone = builder.clone(*op);
  clone->setOperands(block->getArguments());
}

/// The parameter that `value` is, seen through views, conversions, transposes.
StringAttr ReverseSweep::findParameter(Value value) const {
  while (true) {
    if (auto it = parameters.find(value); it != parameters.end())
      return it->second;
    if (!parameterChains.contains(value))
      return nullptr;
    value = value.getDefiningOp()->getOperand(0);
  }
}

/// One gradient op for `operands`, whose needs are joined.
void ReverseSweep::emit(Operation *op, const DerivativeFacts &facts,
                        ArrayRef<unsigned> operands) {
  llvm::SmallSetVector<unsigned, 4> reads, readResults;
  SmallVector<int32_t> wrt(operands.begin(), operands.end());
  llvm::sort(wrt);
  VjpKind kind = facts.operands[operands.front()].kind;
  SmallVector<Type> types;
  for (int32_t index : wrt) {
    const OperandGradient &gradient = facts.operands[index];
    reads.insert(gradient.operands.begin(), gradient.operands.end());
    readResults.insert(gradient.results.begin(), gradient.results.end());
    types.push_back(op->getOperand(index).getType());
    if (gradient.isContraction())
      kind = VjpKind::contraction;
    else if (gradient.kind != kind && kind != VjpKind::contraction)
      kind = VjpKind::reduction;
  }
  SmallVector<int32_t> savedOperands(reads.begin(), reads.end());
  SmallVector<int32_t> savedResults(readResults.begin(), readResults.end());
  llvm::sort(savedOperands);
  llvm::sort(savedResults);
  // Each gradient computes again what it alone reads: nothing lives longer.
  repeatedHere.clear();
  SmallVector<Value> saved, arrived;
  for (int32_t index : savedOperands)
    saved.push_back(keep(op->getOperand(index)));
  for (int32_t index : savedResults)
    saved.push_back(keep(op->getResult(index)));
  SmallVector<int32_t> cotangentOf;
  // Nothing is a splat where ops run one by one.
  bool readsSplat = false;
  for (OpResult result : op->getResults())
    if (Value cotangent = getCotangent(result)) {
      cotangentOf.push_back(result.getResultNumber());
      arrived.push_back(cotangent);
      readsSplat |= cotangent.getDefiningOp<SplatOp>() != nullptr;
    }
  if (options.eager && readsSplat)
    kind = VjpKind::opaque;
  auto type = FunctionType::get(op->getContext(), op->getOperandTypes(),
                                op->getResultTypes());
  auto vjp = VjpOp::create(
      builder, op->getLoc(), types, op->getName().getStringRef(), kind, saved,
      arrived, savedOperands, savedResults, cotangentOf, wrt, type,
      op->getNumRegions() || op->getAttrs().empty() ? DictionaryAttr()
                                                    : op->getAttrDictionary(),
      op->getNumRegions() ? 1 : 0);
  if (op->getNumRegions())
    cloneInto(op, vjp);
  if (StringAttr name = findParameter(op->getOperand(operands.front())))
    vjp->setAttr(kGradientOfAttrName, name);
  for (auto [index, gradient] : llvm::zip(wrt, vjp.getGradients()))
    addCotangent(op->getLoc(), op->getOperand(index), gradient);
}

LogicalResult ReverseSweep::visit(Operation *op) {
  bool arrived = llvm::any_of(op->getResults(), [&](Value result) {
    return getCotangent(result) != nullptr;
  });
  if (!arrived)
    return success();
  OpFacts memory = getOpFacts(op);
  if (memory.opClass == OpClass::ControlFlow && isRegionActive(op)) {
    if (std::optional<CarryingLoop> loop = getCarryingLoop(op))
      return visitLoop(*loop);
    if (isBranchOp(op))
      return visitBranch(op);
  }
  if (memory.opClass == OpClass::ControlFlow)
    return op->emitError()
           << "cannot be differentiated: '" << op->getName()
           << "' on the way from the loss to a parameter; of loops, scf.for, "
              "the `while` of scf and StableHLO, and the Loop of ONNX and "
              "torch "
              "without gathered results are";
  if (memory.opClass == OpClass::Call)
    return op->emitError() << "cannot be differentiated: '" << op->getName()
                           << "' on the way from the loss to a parameter";
  DerivativeFacts facts = getDerivativeFacts(op);
  SmallVector<unsigned> wanted;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    if (isActive(operand.get()) && facts.operands[index].flows)
      wanted.push_back(index);
  }
  if (wanted.empty())
    return success();
  if (!facts.known)
    ++conservativeOps[op->getName().getStringRef()];
  // The gradient of a parameter comes first: the other one may then overwrite
  // what both of them read.
  auto isParameter = [&](unsigned index) {
    return resident.contains(op->getOperand(index)) ||
           parameterChains.contains(op->getOperand(index));
  };
  SmallVector<unsigned> ordered, together;
  llvm::copy_if(wanted, std::back_inserter(ordered), isParameter);
  llvm::copy_if(wanted, std::back_inserter(ordered), std::not_fn(isParameter));
  for (unsigned index : ordered) {
    const OperandGradient &gradient = facts.operands[index];
    if (foldSplat(op, gradient, index))
      continue;
    if ((options.eager || facts.isJoint) && gradient.kind != VjpKind::view) {
      together.push_back(index);
      continue;
    }
    emit(op, facts, {index});
  }
  if (!together.empty())
    emit(op, facts, together);
  return success();
}

Value ReverseSweep::getCurrent(Value value) const {
  auto result = dyn_cast<OpResult>(value);
  Operation *copy = result ? replaced.lookup(result.getOwner()) : nullptr;
  return copy ? copy->getResult(result.getResultNumber()) : value;
}

void ReverseSweep::eraseReplaced() {
  for (auto [op, copy] : llvm::reverse(replaced))
    op->erase();
  replaced.clear();
}

LogicalResult ReverseSweep::run(Block &block,
                                function_ref<void(Operation *)> done) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops)) {
    if (failed(visit(op)))
      return failure();
    done(op);
  }
  return success();
}
