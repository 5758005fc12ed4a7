//===- FlattenTuples.cpp - Tuples become their elements -------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Old MHLO passes several values as one tuple: to and from functions, through
// loops, out of custom calls. A tuple has no memory, and hides what has.
//
//===----------------------------------------------------------------------===//

#include "Prepare.h"
#include "es/OpModel/Torch.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace mlir::es;

namespace {
class TupleFlattener {
public:
  explicit TupleFlattener(FunctionOpInterface func) : func(func) {}
  void run();

private:
  void visit(Block &block);
  void visit(Operation *op);
  void addElements(Value value, SmallVectorImpl<Value> &into);
  void flattenArguments(Block &block);
  void takeElement(Operation *op);
  void recreate(Operation *op);

  FunctionOpInterface func;
  /// The elements of each tuple, those of nested ones in line.
  llvm::DenseMap<Value, SmallVector<Value, 4>> elements;
  SmallVector<Operation *> erased;
};
} // namespace

static SmallVector<Type> getElementTypes(Type type) {
  SmallVector<Type> types;
  if (auto tuple = dyn_cast<TupleType>(type))
    tuple.getFlattenedTypes(types);
  else
    types.push_back(type);
  return types;
}

void TupleFlattener::addElements(Value value, SmallVectorImpl<Value> &into) {
  if (isa<TupleType>(value.getType()))
    llvm::append_range(into, elements[value]);
  else
    into.push_back(value);
}

/// The tuples themselves go when nothing names them any more.
void TupleFlattener::flattenArguments(Block &block) {
  for (BlockArgument argument : llvm::to_vector(block.getArguments()))
    if (isa<TupleType>(argument.getType()))
      for (Type type : getElementTypes(argument.getType()))
        elements[argument].push_back(block.insertArgument(
            argument.getArgNumber(), type, argument.getLoc()));
}

void TupleFlattener::takeElement(Operation *op) {
  auto tuple = cast<TupleType>(op->getOperand(0).getType());
  auto index = op->getAttrOfType<IntegerAttr>("index");
  if (!index || uint64_t(index.getInt()) >= tuple.size())
    return;
  size_t first = 0;
  for (Type type : tuple.getTypes().take_front(index.getInt()))
    first += getElementTypes(type).size();
  Value result = op->getResult(0);
  size_t count = getElementTypes(result.getType()).size();
  SmallVector<Value, 4> all = elements[op->getOperand(0)];
  if (first + count > all.size())
    return;
  auto taken = ArrayRef<Value>(all).slice(first, count);
  if (isa<TupleType>(result.getType()))
    elements[result].assign(taken.begin(), taken.end());
  else
    result.replaceAllUsesWith(taken.front());
  erased.push_back(op);
}

/// The op with elements in place of tuples.
void TupleFlattener::recreate(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    addElements(operand, operands);
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    llvm::append_range(types, getElementTypes(type));
  OperationState state(op->getLoc(), op->getName(), operands, types,
                       op->getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  OpBuilder builder(op);
  Operation *copy = builder.create(state);
  unsigned next = 0;
  for (OpResult result : op->getResults()) {
    size_t count = getElementTypes(result.getType()).size();
    ResultRange now = copy->getResults().slice(next, count);
    next += count;
    if (isa<TupleType>(result.getType()))
      elements[result].assign(now.begin(), now.end());
    else
      result.replaceAllUsesWith(now.front());
  }
  erased.push_back(op);
}

void TupleFlattener::visit(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      visit(block);
  bool takes = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TupleType>);
  bool gives = llvm::any_of(op->getResultTypes(), llvm::IsaPred<TupleType>);
  if (!takes && !gives)
    return;
  StringRef name = op->getName().stripDialect();
  if (name == "tuple" && op->getNumResults() == 1) {
    SmallVector<Value> parts;
    for (Value operand : op->getOperands())
      addElements(operand, parts);
    elements[op->getResult(0)].assign(parts.begin(), parts.end());
    erased.push_back(op);
  } else if (name == "get_tuple_element" && takes) {
    takeElement(op);
  } else {
    recreate(op);
  }
}

void TupleFlattener::visit(Block &block) {
  flattenArguments(block);
  for (Operation &op : llvm::make_early_inc_range(block))
    visit(&op);
}

void TupleFlattener::run() {
  Block &entry = func.getFunctionBody().front();
  // Arguments of the function have attributes and a place in its type.
  for (unsigned i = func.getNumArguments(); i-- > 0;) {
    BlockArgument tuple = func.getArgument(i);
    if (!isa<TupleType>(tuple.getType()))
      continue;
    SmallVector<Type> types = getElementTypes(tuple.getType());
    for (auto [index, type] : llvm::enumerate(types))
      (void)func.insertArgument(i + 1 + index, type, func.getArgAttrDict(i),
                                tuple.getLoc());
    for (size_t index = 0; index < types.size(); ++index)
      elements[tuple].push_back(func.getArgument(i + 1 + index));
  }
  for (Operation &op : llvm::make_early_inc_range(entry))
    visit(&op);
  for (Operation *op : llvm::reverse(erased)) {
    op->dropAllUses();
    op->erase();
  }
  for (unsigned i = func.getNumArguments(); i-- > 0;)
    if (isa<TupleType>(func.getArgument(i).getType()))
      (void)func.eraseArgument(i);
  func.getFunctionBody().walk([&](Block *block) {
    block->eraseArguments([](BlockArgument argument) {
      return isa<TupleType>(argument.getType()) && argument.use_empty();
    });
  });
  for (unsigned i = func.getNumResults(); i-- > 0;) {
    Type type = func.getResultTypes()[i];
    if (!isa<TupleType>(type))
      continue;
    for (auto [index, element] : llvm::enumerate(getElementTypes(type)))
      (void)func.insertResult(i + 1 + index, element,
                              func.getResultAttrDict(i));
    (void)func.eraseResult(i);
  }
}

/// Unpacking of what one op makes or lists: the op has the
/// elements as results, so that it is known which of them are views.
static void unpackLists(FunctionOpInterface func) {
  SmallVector<Operation *> unpacks;
  func.getFunctionBody().walk([&](Operation *op) {
    if (isListUnpack(op))
      unpacks.push_back(op);
  });
  for (Operation *unpack : unpacks) {
    Operation *list = unpack->getOperand(0).getDefiningOp();
    if (!list || list->isRegistered() || list->getNumResults() != 1 ||
        list->getNumRegions())
      continue;
    if (isListConstruct(list)) {
      if (!llvm::equal(list->getOperandTypes(), unpack->getResultTypes()))
        continue;
      unpack->replaceAllUsesWith(list->getOperands());
    } else {
      if (!unpack->getOperand(0).hasOneUse())
        continue;
      OpBuilder builder(list);
      OperationState state(list->getLoc(), list->getName().getStringRef(),
                           list->getOperands(), unpack->getResultTypes(),
                           list->getAttrs());
      unpack->replaceAllUsesWith(builder.create(state));
    }
    unpack->erase();
    if (list->use_empty())
      list->erase();
  }
}

void mlir::es::flattenTuples(FunctionOpInterface func) {
  unpackLists(func);
  bool found = llvm::any_of(func.getArgumentTypes(), llvm::IsaPred<TupleType>);
  bool isCalled = false;
  func->walk([&](Operation *op) {
    bool here = llvm::any_of(op->getResultTypes(), llvm::IsaPred<TupleType>) ||
                llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TupleType>);
    found |= here;
    // A callee that is not inlined keeps its type.
    isCalled |= here && isa<CallOpInterface>(op);
  });
  if (found && !isCalled && func.getFunctionBody().hasOneBlock())
    TupleFlattener(func).run();
}
