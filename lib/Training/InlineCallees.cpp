//===- InlineCallees.cpp - Private callees become part of their callers ---===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces calls of private functions by their bodies, callees first, also
// inside ops of dialects that are not linked in. (The stock inliner asks every
// dialect for leave, and takes an unknown op with a region for a symbol table,
// whose calls it does not see.) Public callees stay calls: they are compiled on
// their own. Recursive ones stay too, and are refused later.
//
//===----------------------------------------------------------------------===//

#include "es/Training/InlineCallees.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace mlir::es;

namespace {
class CalleeInliner {
public:
  explicit CalleeInliner(ModuleOp module) : module(module) {}
  void run();

private:
  FunctionOpInterface getCallee(CallOpInterface call);
  SmallVector<CallOpInterface> getCalls(FunctionOpInterface func);
  void sortCalleesFirst();
  void inlineInto(FunctionOpInterface func);
  void eraseUnused();

  ModuleOp module;
  SymbolTableCollection symbols;
  SmallVector<FunctionOpInterface> order;
  /// Those that call private functions.
  llvm::DenseSet<Operation *> callers;
  /// Private functions that call themselves, directly or not.
  llvm::SmallPtrSet<Operation *, 4> recursive;
  llvm::SmallSetVector<Operation *, 8> inlined;
};
} // namespace

/// The private function of one block that is called, or null.
FunctionOpInterface CalleeInliner::getCallee(CallOpInterface call) {
  auto func = dyn_cast_if_present<FunctionOpInterface>(
      call.resolveCallableInTable(&symbols));
  if (!func || func.isExternal() || !func.isPrivate() ||
      !func.getFunctionBody().hasOneBlock() ||
      func.getFunctionBody().front().empty())
    return nullptr;
  return func;
}

SmallVector<CallOpInterface> CalleeInliner::getCalls(FunctionOpInterface func) {
  SmallVector<CallOpInterface> calls;
  func.getFunctionBody().walk([&](CallOpInterface call) {
    if (getCallee(call))
      calls.push_back(call);
  });
  return calls;
}

/// Post-order over the calls, with an explicit stack.
void CalleeInliner::sortCalleesFirst() {
  struct Frame {
    FunctionOpInterface func;
    SmallVector<CallOpInterface> calls;
  };
  llvm::SmallPtrSet<Operation *, 16> seen, active;
  SmallVector<Frame> stack;
  auto enter = [&](FunctionOpInterface func) {
    if (active.contains(func))
      recursive.insert(func);
    if (!seen.insert(func).second)
      return;
    active.insert(func);
    stack.push_back({func, getCalls(func)});
    if (!stack.back().calls.empty())
      callers.insert(func);
  };
  module.walk<WalkOrder::PreOrder>([&](FunctionOpInterface root) {
    enter(root);
    while (!stack.empty()) {
      if (!stack.back().calls.empty()) {
        enter(getCallee(stack.back().calls.pop_back_val()));
        continue;
      }
      active.erase(stack.back().func);
      order.push_back(stack.back().func);
      stack.pop_back();
    }
    return WalkResult::skip();
  });
}

/// Clones the callee's one block in place of the call. A call that does not fit
/// its callee stays.
static bool inlineBody(CallOpInterface call, FunctionOpInterface callee) {
  Block &body = callee.getFunctionBody().front();
  Operation *terminator = body.getTerminator();
  OperandRange arguments = call.getArgOperands();
  if (TypeRange(arguments) != TypeRange(body.getArgumentTypes()) ||
      terminator->getOperandTypes() != call->getResultTypes())
    return false;
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  OpBuilder builder(call);
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  for (auto [result, returned] :
       llvm::zip(call->getResults(), terminator->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
  call->erase();
  return true;
}

void CalleeInliner::inlineInto(FunctionOpInterface func) {
  for (CallOpInterface call : getCalls(func)) {
    FunctionOpInterface callee = getCallee(call);
    if (recursive.contains(callee))
      continue;
    if (inlineBody(call, callee))
      inlined.insert(callee);
  }
}

/// Callees that nothing else names. One that is named twice, as a call and as
/// an attribute, stays; the report leaves private functions out.
void CalleeInliner::eraseUnused() {
  if (inlined.empty())
    return;
  llvm::DenseSet<StringAttr> named;
  module.walk([&](Operation *op) {
    auto note = [&](Attribute attr) {
      attr.walk([&](SymbolRefAttr symbol) {
        named.insert(symbol.getRootReference());
        named.insert(symbol.getLeafReference());
      });
    };
    note(op->getAttrDictionary());
  });
  for (Operation *callee : inlined)
    if (!named.contains(SymbolTable::getSymbolName(callee)))
      callee->erase();
}

void CalleeInliner::run() {
  sortCalleesFirst();
  for (FunctionOpInterface func : order)
    if (callers.contains(func))
      inlineInto(func);
  eraseUnused();
}

void mlir::es::inlinePrivateCallees(ModuleOp module) {
  CalleeInliner(module).run();
}
