//===- ForwardBackward.cpp - Two functions as one training step -----------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frameworks that compile the forward and the backward on their own hand saved
// activations from one to the other: as the last results of the forward and the
// first arguments of the backward, or in any order. Put into one function, live
// ranges say what is held between the two.
//
//===----------------------------------------------------------------------===//

#include "ForwardBackward.h"
#include "Dimensions.h"
#include "Prepare.h"
#include "es/Foreign/Diagnostics.h"
#include "es/Foreign/Reader.h"
#include "es/OpModel/CustomCalls.h"
#include "es/OpModel/Donations.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::es;

static constexpr StringLiteral kBorder = "es.border";
static constexpr StringLiteral kGuessed = "es.guessed";

//===----------------------------------------------------------------------===//
// Finding the two functions
//===----------------------------------------------------------------------===//

static FailureOr<FunctionOpInterface> lookup(ModuleOp module, StringRef flag,
                                             StringRef name) {
  auto func = dyn_cast_if_present<FunctionOpInterface>(
      SymbolTable::lookupSymbolIn(module, name));
  if (!func || func.isExternal())
    return module.emitError()
           << flag << " names no function with a body: '@" << name << "'";
  if (!func.getFunctionBody().hasOneBlock())
    return func.emitError() << flag << " expects a function of one block";
  return func;
}

/// The only function of a file that is public and has a body.
static FailureOr<StringRef> getOnlyFunction(ModuleOp module) {
  SmallVector<StringRef> names;
  for (auto func : module.getOps<FunctionOpInterface>()) {
    auto symbol = dyn_cast<SymbolOpInterface>(func.getOperation());
    if (!func.isExternal() && (!symbol || symbol.isPublic()))
      names.push_back(func.getName());
  }
  if (names.size() != 1)
    return module.emitError() << "--backward expects FILE:@function where a "
                                 "file has "
                              << names.size() << " public functions";
  return names.front();
}

/// Moves everything from one module to the other; symbols of a name that is
/// taken get another. `name` follows the function of that name.
static LogicalResult merge(ModuleOp from, ModuleOp into, std::string &name) {
  SymbolTable target(into), source(from);
  SmallVector<Operation *> symbols;
  for (Operation &op : *from.getBody())
    symbols.push_back(&op);
  for (Operation *op : symbols) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (!symbol || !target.lookup(symbol.getNameAttr()))
      continue;
    std::string old = symbol.getName().str();
    FailureOr<StringAttr> renamed = source.renameToUnique(op, {&target});
    if (failed(renamed))
      return op->emitError() << "'@" << old << "' cannot be renamed";
    if (name == old)
      name = renamed->str();
  }
  for (Operation *op : symbols)
    op->moveBefore(into.getBody(), into.getBody()->end());
  return success();
}

/// Reads `file` into `module`.
static LogicalResult readInto(ModuleOp module, StringRef file,
                              std::string &name) {
  std::string why;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(file, &why);
  if (!buffer)
    return module.emitError() << "--backward: " << why;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  ModelDiagnosticHandler handler(sources, module.getContext(), llvm::errs());
  ReadSummary summary;
  OwningOpRef<ModuleOp> read =
      parseModelFile(sources, module.getContext(), ReadOptions(), summary);
  if (!read)
    return failure();
  if (name.empty()) {
    FailureOr<StringRef> only = getOnlyFunction(*read);
    if (failed(only))
      return failure();
    name = only->str();
  } else if (failed(lookup(*read, "--backward", name))) {
    return failure();
  }
  return merge(*read, module, name);
}

//===----------------------------------------------------------------------===//
// Which argument is what
//===----------------------------------------------------------------------===//

namespace {
/// What each argument of the backward function is: a result of the forward
/// function, an argument of it, or else a cotangent of an output.
struct Fit {
  /// The first results of the forward function, which it does not save.
  unsigned numOutputs = 0;
  SmallVector<std::optional<unsigned>> results, arguments;
  /// Values of one type stood for each other.
  unsigned numGuessed = 0;
};

class Matcher {
public:
  Matcher(FunctionOpInterface forward, FunctionOpInterface backward)
      : forward(forward), backward(backward), results(forward.getResultTypes()),
        taken(backward.getArgumentTypes()) {}
  FailureOr<Fit> run();

private:
  bool matchInOrder(Fit &fit, unsigned numOutputs);
  bool matchByType(Fit &fit, unsigned numOutputs, bool allCotangents);
  bool matchRest(Fit &fit, bool allCotangents);
  void matchNames(Fit &fit);

  FunctionOpInterface forward, backward;
  ArrayRef<Type> results, taken;
  /// Arguments of the backward function with the name of one of the forward.
  SmallVector<std::optional<unsigned>> named;
};
} // namespace

/// A name that is more than a position.
static std::string getOwnName(FunctionOpInterface func, unsigned index) {
  std::string name = getArgumentName(func, index);
  return name == "arg" + std::to_string(index) ? "" : name;
}

void Matcher::matchNames(Fit &fit) {
  llvm::StringMap<unsigned> names;
  for (unsigned i = 0, e = forward.getNumArguments(); i < e; ++i)
    if (std::string name = getOwnName(forward, i); !name.empty())
      names.try_emplace(name, i);
  named.assign(taken.size(), std::nullopt);
  for (unsigned i = 0, e = taken.size(); i < e; ++i)
    if (std::string name = getOwnName(backward, i); !name.empty())
      if (auto it = names.find(name);
          it != names.end() &&
          forward.getArgument(it->second).getType() == taken[i])
        named[i] = it->second;
}

/// What is left are cotangents, one for an output, or arguments of the forward.
bool Matcher::matchRest(Fit &fit, bool allCotangents) {
  SmallVector<Type> outputs(results.take_front(fit.numOutputs));
  llvm::SmallDenseSet<unsigned> used;
  for (std::optional<unsigned> index : fit.arguments)
    if (index)
      used.insert(*index);
  for (unsigned i = 0, e = taken.size(); i < e; ++i) {
    if (fit.results[i] || fit.arguments[i])
      continue;
    if (auto output = llvm::find(outputs, taken[i]); output != outputs.end()) {
      outputs.erase(output);
      continue;
    }
    bool found = false;
    for (unsigned j = 0, n = forward.getNumArguments(); j < n && !found; ++j)
      if (forward.getArgument(j).getType() == taken[i] &&
          used.insert(j).second) {
        fit.arguments[i] = j;
        found = true;
      }
    if (!found)
      return false;
  }
  return !allCotangents || outputs.empty();
}

/// The results from `numOutputs` on are the first arguments that are left.
bool Matcher::matchInOrder(Fit &fit, unsigned numOutputs) {
  fit = Fit{numOutputs, {}, named, 0};
  fit.results.assign(taken.size(), std::nullopt);
  unsigned next = numOutputs;
  for (unsigned i = 0, e = taken.size(); i < e && next < results.size(); ++i) {
    if (named[i])
      continue;
    if (taken[i] != results[next])
      return false;
    fit.results[i] = next++;
  }
  return next == results.size() && matchRest(fit, /*allCotangents=*/false);
}

/// The same in any order.
bool Matcher::matchByType(Fit &fit, unsigned numOutputs, bool allCotangents) {
  fit = Fit{numOutputs, {}, named, 0};
  fit.results.assign(taken.size(), std::nullopt);
  llvm::MapVector<Type, SmallVector<unsigned>> free;
  for (unsigned j = results.size(); j > numOutputs; --j)
    free[results[j - 1]].push_back(j - 1);
  llvm::DenseMap<Type, unsigned> claims;
  for (unsigned i = 0, e = taken.size(); i < e; ++i) {
    auto it = free.find(taken[i]);
    if (named[i] || it == free.end() || it->second.empty())
      continue;
    fit.results[i] = it->second.pop_back_val();
    ++claims[taken[i]];
  }
  for (auto &[type, left] : free)
    if (!left.empty())
      return false;
  for (auto [type, count] : claims)
    fit.numGuessed += count > 1 ? count : 0;
  return matchRest(fit, allCotangents);
}

FailureOr<Fit> Matcher::run() {
  Fit fit;
  matchNames(fit);
  // A forward function has an output.
  unsigned first = results.empty() ? 0 : 1;
  for (unsigned outputs = first; outputs <= results.size(); ++outputs)
    if (outputs < results.size() && matchInOrder(fit, outputs))
      return fit;
  for (bool allCotangents : {true, false})
    for (unsigned outputs = first; outputs <= results.size(); ++outputs)
      if (matchByType(fit, outputs, allCotangents))
        return fit;
  // Say what is amiss with the first argument that fits nothing.
  for (auto [index, type] : llvm::enumerate(taken))
    if (!llvm::is_contained(results, type) &&
        !llvm::is_contained(forward.getArgumentTypes(), type))
      return emitError(backward.getArgument(index).getLoc())
             << "argument " << index << " of '@" << backward.getName() << "', "
             << type << ", is no result and no argument of '@"
             << forward.getName() << "'";
  return backward.emitError()
         << "no choice of saved activations fits the results of '@"
         << forward.getName() << "' to the arguments of '@"
         << backward.getName() << "'";
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

static void cloneBody(FunctionOpInterface func, IRMapping &mapping,
                      OpBuilder &builder) {
  for (Operation &op : func.getFunctionBody().front().without_terminator())
    builder.clone(op, mapping);
}

static SmallVector<Value> getReturned(FunctionOpInterface func,
                                      const IRMapping &mapping) {
  SmallVector<Value> values;
  for (Value value :
       func.getFunctionBody().front().getTerminator()->getOperands())
    values.push_back(mapping.lookupOrDefault(value));
  return values;
}

/// A donated argument that becomes a saved activation is not returned.
static DictionaryAttr getArgumentAttrs(FunctionOpInterface func, unsigned index,
                                       unsigned numOutputs) {
  DictionaryAttr attrs = func.getArgAttrDict(index);
  std::optional<uint64_t> result = getDeclaredResult(func, index);
  return result && *result >= numOutputs
             ? withDonation(attrs, /*isDonated=*/true)
             : attrs;
}

/// Reads what the caller sees between the two, and makes the cotangents.
static Operation *makeBorder(FunctionOpInterface backward, const Fit &fit,
                             ArrayRef<Value> returned, OpBuilder &builder) {
  SmallVector<Value> seen;
  for (Value value : returned)
    if (!isa<BlockArgument>(value) && !llvm::is_contained(seen, value))
      seen.push_back(value);
  SmallVector<Type> cotangents;
  for (unsigned i = 0, e = backward.getNumArguments(); i < e; ++i)
    if (!fit.results[i] && !fit.arguments[i])
      cotangents.push_back(backward.getArgument(i).getType());
  Location loc = NameLoc::get(builder.getStringAttr("between the two"));
  Operation *border = createCustomCall(builder, loc, kBorder, seen, cotangents);
  if (fit.numGuessed)
    border->setAttr(kGuessed, builder.getI64IntegerAttr(fit.numGuessed));
  return border;
}

static func::FuncOp compose(ModuleOp module, FunctionOpInterface forward,
                            FunctionOpInterface backward, const Fit &fit) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> types(forward.getResultTypes());
  types.resize(fit.numOutputs);
  llvm::append_range(types, backward.getResultTypes());
  auto step = func::FuncOp::create(
      builder, forward.getLoc(),
      (forward.getName() + " + " + backward.getName()).str(),
      builder.getFunctionType(forward.getArgumentTypes(), types));
  Block *body = step.addEntryBlock();
  IRMapping mapping;
  for (auto [index, pair] : llvm::enumerate(
           llvm::zip(forward.getArguments(), body->getArguments()))) {
    auto [from, to] = pair;
    to.setLoc(from.getLoc());
    mapping.map(from, to);
    step.setArgAttrs(index, getArgumentAttrs(forward, index, fit.numOutputs));
  }
  builder.setInsertionPointToStart(body);
  cloneBody(forward, mapping, builder);
  SmallVector<Value> returned = getReturned(forward, mapping);
  Operation *border = makeBorder(backward, fit, returned, builder);
  border->setAttr("outputs", builder.getI64IntegerAttr(fit.numOutputs));
  unsigned cotangent = 0;
  for (auto [index, argument] : llvm::enumerate(backward.getArguments()))
    if (fit.results[index])
      mapping.map(argument, returned[*fit.results[index]]);
    else if (fit.arguments[index])
      mapping.map(argument, body->getArgument(*fit.arguments[index]));
    else
      mapping.map(argument, border->getResult(cotangent++));
  cloneBody(backward, mapping, builder);
  SmallVector<Value> values(
      ArrayRef<Value>(returned).take_front(fit.numOutputs));
  llvm::append_range(values, getReturned(backward, mapping));
  func::ReturnOp::create(builder, backward.getLoc(), values);
  return step;
}

FailureOr<FunctionOpInterface>
mlir::es::composeStep(ModuleOp module, const ReportOptions &options) {
  std::string name = options.backward;
  if (!options.backwardFile.empty() &&
      failed(readInto(module, options.backwardFile, name)))
    return failure();
  FailureOr<FunctionOpInterface> forward =
      lookup(module, "--forward", options.forward);
  if (failed(forward))
    return failure();
  FailureOr<FunctionOpInterface> backward = lookup(module, "--backward", name);
  if (failed(backward))
    return failure();
  FailureOr<Fit> fit = Matcher(*forward, *backward).run();
  if (failed(fit))
    return failure();
  module.getContext()->loadDialect<func::FuncDialect>();
  return cast<FunctionOpInterface>(
      compose(module, *forward, *backward, *fit).getOperation());
}

//===----------------------------------------------------------------------===//
// What a composed function says
//===----------------------------------------------------------------------===//

static Operation *findBorder(FunctionOpInterface func) {
  for (Operation &op : func.getFunctionBody().front())
    if (getCallTarget(&op) == kBorder)
      return &op;
  return nullptr;
}

static unsigned getNumOutputs(Operation *border) {
  return border->getAttrOfType<IntegerAttr>("outputs").getInt();
}

llvm::MapVector<Value, Role> mlir::es::getStepRoles(FunctionOpInterface func) {
  llvm::MapVector<Value, Role> roles;
  Operation *border = findBorder(func);
  if (!border)
    return roles;
  Operation *terminator = func.getFunctionBody().front().getTerminator();
  OperandRange returned = terminator->getOperands();
  for (Value gradient : returned.drop_front(getNumOutputs(border)))
    roles[gradient] = Role::Gradient;
  for (Value value : border->getOperands())
    roles[value] = Role::SavedActivation;
  for (Value output : returned.take_front(getNumOutputs(border)))
    roles[output] = Role::Output;
  return roles;
}

SmallVector<std::string> mlir::es::getStepNotes(FunctionOpInterface func) {
  SmallVector<std::string> notes;
  Operation *border = findBorder(func);
  if (!border)
    return notes;
  OperandRange returned =
      func.getFunctionBody().front().getTerminator()->getOperands();
  auto outputs = returned.take_front(getNumOutputs(border));
  unsigned saved = llvm::count_if(border->getOperands(), [&](Value value) {
    return !llvm::is_contained(outputs, value);
  });
  notes.push_back(std::to_string(saved) +
                  " values saved by the forward for the backward");
  if (auto guessed = border->getAttrOfType<IntegerAttr>(kGuessed))
    notes.push_back("saved activations are matched by type, " +
                    std::to_string(guessed.getInt()) +
                    " of them share a type and are taken in order: which dies "
                    "first in the backward may differ");
  return notes;
}

bool mlir::es::isStepGuessed(FunctionOpInterface func) {
  Operation *border = findBorder(func);
  return border && border->hasAttr(kGuessed);
}
