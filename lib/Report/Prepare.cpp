//===- Prepare.cpp - Make a module ready for analysis ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private callees are inlined, so that their temporaries take part in in-place
// decisions. Stated shapes replace the types of arguments, and upstream shape
// inference (folding of tensor.cast, tosa-infer-shapes) carries them on.
//
//===----------------------------------------------------------------------===//

#include "Prepare.h"
#include "Dimensions.h"
#include "es/Foreign/Types.h"
#include "es/OpModel/RoleFacts.h"
#include "es/OpModel/Sharding.h"
#include "es/Training/InlineCallees.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::es;

static LogicalResult runPasses(ModuleOp module,
                               function_ref<void(OpPassManager &)> add) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName(),
                      OpPassManager::Nesting::Implicit);
  manager.enableVerifier(false);
  add(manager);
  return manager.run(module);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static LogicalResult bindShape(FunctionOpInterface func, unsigned index,
                               ArrayRef<int64_t> shape) {
  BlockArgument argument = func.getArgument(index);
  ShapedType type = getCarriedShape(argument.getType());
  Type bound;
  if (type && type.hasRank())
    bound = shape.size() == size_t(type.getRank())
                ? withForeignShape(argument.getType(), shape)
                : RankedTensorType::get(shape, type.getElementType());
  else if (type && isa<TensorType>(argument.getType()))
    bound = RankedTensorType::get(shape, type.getElementType());
  if (!bound)
    return emitError(argument.getLoc())
           << "--shape binds tensors, got " << argument.getType();
  if (type.hasRank() && failed(verifyCompatibleShape(type.getShape(), shape)))
    return emitError(argument.getLoc())
           << "--shape binds " << argument.getType() << " to " << bound
           << ", which contradicts it";
  Type old = argument.getType();
  if (old == bound)
    return success();
  argument.setType(bound);
  if (!isa<TensorType>(old))
    return success();
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  auto cast = tensor::CastOp::create(builder, argument.getLoc(), old, argument);
  argument.replaceAllUsesExcept(cast, cast);
  return success();
}

/// Gives one dimension of an argument its size.
static LogicalResult bindDimension(const DimensionSite &site, int64_t size) {
  FunctionOpInterface func = site.func;
  BlockArgument argument = func.getArgument(site.argument);
  SmallVector<int64_t> shape(getCarriedShape(argument.getType()).getShape());
  int64_t bound;
  if (__builtin_mul_overflow(size, site.factor, &bound) ||
      __builtin_add_overflow(bound, site.offset, &bound) || bound < 0)
    return emitError(argument.getLoc())
           << "dimension " << site.dimension << " would be " << site.factor
           << " x " << size << " + " << site.offset;
  if (!ShapedType::isDynamic(shape[site.dimension]) &&
      shape[site.dimension] != bound)
    return emitError(argument.getLoc())
           << "dimension " << site.dimension << " is " << shape[site.dimension]
           << " already, got " << bound;
  shape[site.dimension] = bound;
  return bindShape(func, site.argument, shape);
}

/// Results become as static as what is returned.
static void refineSignature(FunctionOpInterface func) {
  SmallVector<Type> results;
  for (Block &block : func.getFunctionBody()) {
    Operation *terminator = block.empty() ? nullptr : &block.back();
    if (!terminator || !terminator->hasTrait<OpTrait::ReturnLike>())
      continue;
    for (OpOperand &operand : terminator->getOpOperands())
      if (auto cast = operand.get().getDefiningOp<tensor::CastOp>())
        operand.set(cast.getSource());
    results.assign(terminator->operand_type_begin(),
                   terminator->operand_type_end());
  }
  func.setType(
      func.cloneTypeWith(func.getFunctionBody().getArgumentTypes(), results));
}

/// Elementwise ops become as static as their most static operand, in program
/// order; upstream folds casts into structured ops and slices only.
static void refineElementwise(FunctionOpInterface func) {
  SmallVector<Operation *> ops;
  func.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1)
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    RankedTensorType refined;
    for (Value operand : op->getOperands())
      if (auto cast = operand.getDefiningOp<tensor::CastOp>())
        if (auto type = dyn_cast<RankedTensorType>(cast.getSource().getType());
            type && type.hasStaticShape())
          refined = type;
    auto old = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!refined || !old || old.hasStaticShape())
      continue;
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (type && !type.hasStaticShape())
        operand.set(tensor::CastOp::create(builder, op->getLoc(),
                                           type.clone(refined.getShape()),
                                           operand.get()));
    }
    Value result = op->getResult(0);
    result.setType(old.clone(refined.getShape()));
    builder.setInsertionPointAfter(op);
    auto cast = tensor::CastOp::create(builder, op->getLoc(), old, result);
    result.replaceAllUsesExcept(cast, cast);
  }
}

/// Binds what `binding` names: an argument, else a dynamic dimension.
static LogicalResult bind(ModuleOp module,
                          ArrayRef<FunctionOpInterface> entries,
                          const DimensionNames &names,
                          const ShapeBinding &binding) {
  bool found = false;
  for (FunctionOpInterface func : entries)
    for (unsigned i = 0, e = func.getNumArguments(); i < e; ++i)
      if (getArgumentName(func, i) == binding.name ||
          "arg" + std::to_string(i) == binding.name) {
        found = true;
        if (failed(bindShape(func, i, binding.shape)))
          return failure();
      }
  if (found)
    return success();
  ArrayRef<DimensionSite> sites = names.lookup(binding.name);
  if (sites.empty())
    return module.emitError()
           << "no argument or dynamic dimension is called '" << binding.name
           << "'; dynamic dimensions: " << names.list();
  if (binding.shape.size() != 1)
    return module.emitError()
           << "'" << binding.name << "' is a dimension and expects one size";
  for (const DimensionSite &site : sites)
    if (failed(bindDimension(site, binding.shape.front())))
      return failure();
  return success();
}

static LogicalResult bindShapes(ModuleOp module,
                                ArrayRef<FunctionOpInterface> entries,
                                const DimensionNames &names,
                                ArrayRef<ShapeBinding> shapes) {
  module.getContext()->loadDialect<tensor::TensorDialect>();
  llvm::StringMap<int64_t> symbols;
  for (const ShapeBinding &binding : shapes) {
    if (failed(bind(module, entries, names, binding)))
      return failure();
    if (names.isTorchSymbol(binding.name))
      symbols[binding.name] = binding.shape.front();
  }
  for (FunctionOpInterface func : entries) {
    bindTorchSymbols(func, symbols);
    if (failed(refineForeignShapes(func)))
      return failure();
    refineElementwise(func);
    refineSignature(func);
  }
  LogicalResult result = runPasses(module, [](OpPassManager &manager) {
    manager.addPass(createCanonicalizerPass());
    manager.addNestedPass<func::FuncOp>(tosa::createTosaInferShapesPass());
    manager.addPass(memref::createResolveShapedTypeResultDimsPass());
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  });
  for (FunctionOpInterface func : entries) {
    refineElementwise(func);
    refineSignature(func);
  }
  return result;
}

/// Arguments that are only passed on take the names they have where they
/// arrive: JAX wraps what it exports with symbolic shapes.
static void adoptNames(ModuleOp module, ArrayRef<FunctionOpInterface> entries) {
  SymbolTableCollection symbols;
  for (FunctionOpInterface func : entries)
    func.getFunctionBody().walk([&](CallOpInterface call) {
      auto callee = dyn_cast_if_present<FunctionOpInterface>(
          call.resolveCallableInTable(&symbols));
      if (!callee || callee.isExternal() || !callee.isPrivate())
        return;
      for (auto [operand, inner] :
           llvm::zip(call.getArgOperands(), callee.getArguments()))
        if (auto argument = dyn_cast<BlockArgument>(operand);
            argument && isa<UnknownLoc>(argument.getLoc()) &&
            isa<NameLoc>(inner.getLoc()) &&
            argument.getOwner() == &func.getFunctionBody().front())
          argument.setLoc(inner.getLoc());
    });
}

/// A name around ops, and shardings for what goes in and comes out.
static void inlineNamedComputations(FunctionOpInterface func) {
  SmallVector<Operation *> ops;
  func->walk([&](Operation *op) {
    if (isNamedComputation(op))
      ops.push_back(op);
  });
  auto constrain = [](OpBuilder &builder, Operation *op, Value value,
                      Attribute list, unsigned index) -> Value {
    Attribute sharding = selectSharding(list, index);
    return sharding ? createShardingConstraint(builder, op->getLoc(), value,
                                               sharding)
                    : value;
  };
  for (Operation *op : ops) {
    OpBuilder builder(op);
    Block &body = op->getRegion(0).front();
    for (auto [index, argument] : llvm::enumerate(body.getArguments()))
      argument.replaceAllUsesWith(constrain(builder, op, op->getOperand(index),
                                            getInShardings(op), index));
    Operation *yield = body.getTerminator();
    SmallVector<Value> results(yield->getOperands());
    yield->erase();
    op->getBlock()->getOperations().splice(Block::iterator(op),
                                           body.getOperations());
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      result.replaceAllUsesWith(
          constrain(builder, op, results[index], getOutShardings(op), index));
    op->erase();
  }
}

LogicalResult mlir::es::prepareModule(ModuleOp module,
                                      ArrayRef<FunctionOpInterface> entries,
                                      const ReportOptions &options) {
  adoptNames(module, entries);
  std::optional<DimensionNames> names;
  if (!options.shapes.empty())
    names.emplace(entries);
  inlinePrivateCallees(module);
  for (FunctionOpInterface func : entries) {
    inlineNamedComputations(func);
    flattenTuples(func);
  }
  return names ? bindShapes(module, entries, *names, options.shapes)
               : success();
}
