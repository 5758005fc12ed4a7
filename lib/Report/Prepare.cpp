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
#include "Resize.h"
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

/// The size of a symbol for which a dimension that is bound has its size; none
/// if `site` is not bound.
static FailureOr<std::optional<int64_t>> solve(const DimensionSite &site,
                                               const DimensionSymbol &symbol) {
  FunctionOpInterface func = site.func;
  BlockArgument argument = func.getArgument(site.argument);
  ShapedType type = getCarriedShape(argument.getType());
  if (type.isDynamicDim(site.dimension))
    return std::optional<int64_t>();
  int64_t size = type.getDimSize(site.dimension);
  int64_t multiple = size - site.offset;
  if (multiple % site.factor)
    return emitError(argument.getLoc())
           << "no '" << symbol.name << "' makes dimension " << site.dimension
           << " " << size << ", which is " << site.factor << " x '"
           << symbol.name << "' + " << site.offset << ": bind '" << symbol.name
           << "'";
  int64_t value = multiple / site.factor;
  int64_t min = symbol.bounds.min;
  int64_t max = symbol.bounds.max.value_or(INT64_MAX);
  if (value >= min && value <= max)
    return std::optional<int64_t>(value);
  InFlightDiagnostic error = emitError(argument.getLoc())
                             << "'" << symbol.name << "' is at least " << min;
  if (symbol.bounds.max)
    error << " and at most " << max;
  return error << ", got " << value;
}

/// The sizes of torch.export's symbols that follow from dimensions that are
/// bound, which bind the others that the symbol gives. A leading dimension that
/// is not bound is the least that its symbol allows.
static FailureOr<llvm::StringMap<int64_t>>
solveSymbols(FunctionOpInterface func, const DimensionNames &names,
             std::vector<AssumedSize> &assumed) {
  llvm::StringMap<int64_t> sizes;
  for (const DimensionSymbol &symbol : names.getTorchSymbols()) {
    if (symbol.sites.front().func != func)
      continue;
    for (const DimensionSite &site : symbol.sites) {
      FailureOr<std::optional<int64_t>> size = solve(site, symbol);
      if (failed(size))
        return failure();
      if (*size)
        sizes.try_emplace(symbol.name, **size);
    }
    bool leads = llvm::any_of(symbol.sites, [](const DimensionSite &site) {
      return site.dimension == 0;
    });
    if (leads && sizes.try_emplace(symbol.name, symbol.bounds.min).second)
      assumed.push_back({func, symbol.name, symbol.bounds.min});
    auto it = sizes.find(symbol.name);
    if (it != sizes.end())
      for (const DimensionSite &site : symbol.sites)
        if (failed(bindDimension(site, it->second)))
          return failure();
  }
  return sizes;
}

/// True for `batch`, or the name of a dimension of an argument, that stands for
/// no dynamic dimension.
static bool isStaticDimension(ArrayRef<FunctionOpInterface> entries,
                              const DimensionNames &names,
                              const ShapeBinding &binding) {
  if (binding.shape.size() != 1 || !names.lookup(binding.name).empty())
    return false;
  for (FunctionOpInterface func : entries)
    for (BlockArgument argument : func.getArguments()) {
      unsigned index = argument.getArgNumber();
      std::string own = getArgumentName(func, index),
                  position = "arg" + std::to_string(index);
      if (own == binding.name || position == binding.name)
        return false;
      if (binding.name == "batch" && getRank(argument) > 0)
        return true;
      for (int64_t dim = 0, e = getRank(argument); dim < e; ++dim) {
        std::string suffix = "." + std::to_string(dim);
        if (own + suffix == binding.name || position + suffix == binding.name)
          return true;
      }
    }
  return false;
}

static FailureOr<std::vector<AssumedSize>>
bindShapes(ModuleOp module, ArrayRef<FunctionOpInterface> entries,
           const DimensionNames &names, ArrayRef<ShapeBinding> shapes) {
  std::vector<AssumedSize> assumed;
  if (shapes.empty() && names.getTorchSymbols().empty())
    return assumed;
  module.getContext()->loadDialect<tensor::TensorDialect>();
  for (const ShapeBinding &binding : shapes)
    if (failed(bind(module, entries, names, binding)))
      return failure();
  for (FunctionOpInterface func : entries) {
    FailureOr<llvm::StringMap<int64_t>> symbols =
        solveSymbols(func, names, assumed);
    if (failed(symbols))
      return failure();
    bindTorchSymbols(func, *symbols);
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
  if (failed(result))
    return failure();
  return assumed;
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

/// Resizes a dimension that is not dynamic in each of the functions that has
/// it.
static LogicalResult resize(ModuleOp module,
                            ArrayRef<FunctionOpInterface> entries,
                            const ShapeBinding &binding,
                            const ReportOptions &options,
                            PreparedModule &prepared) {
  ModuleParameters parameters(module);
  bool found = false;
  for (FunctionOpInterface func : entries) {
    FailureOr<Inventory> inventory =
        Inventory::compute(func, options.rules, &parameters);
    if (failed(inventory))
      return failure();
    int64_t size = binding.shape.front();
    FailureOr<std::optional<int64_t>> from =
        resizeInputs(func, *inventory, binding.name, size);
    if (failed(from))
      return failure();
    if (!*from)
      continue;
    found = true;
    if (**from != size)
      prepared.resized.push_back(
          {func, {binding.name, uint64_t(**from), uint64_t(size)}});
  }
  if (found)
    return success();
  return module.emitError()
         << "'" << binding.name
         << "' cannot have another size: of inputs, it is 1, which cannot be "
            "told from other dimensions of one element, or a parameter's size, "
            "too";
}

FailureOr<PreparedModule>
mlir::es::prepareModule(ModuleOp module, ArrayRef<FunctionOpInterface> entries,
                        const ReportOptions &options) {
  adoptNames(module, entries);
  inlinePrivateCallees(module);
  for (FunctionOpInterface func : entries) {
    inlineNamedComputations(func);
    flattenTuples(func);
  }
  // Tuples that are taken apart move the arguments behind them.
  DimensionNames names(entries);
  // Dimensions that have a size are resized where everything else is done.
  std::vector<ShapeBinding> bound, resized;
  for (const ShapeBinding &binding : options.shapes)
    (isStaticDimension(entries, names, binding) ? resized : bound)
        .push_back(binding);
  PreparedModule prepared;
  FailureOr<std::vector<AssumedSize>> assumed =
      bindShapes(module, entries, names, bound);
  if (failed(assumed))
    return failure();
  prepared.assumed = std::move(*assumed);
  for (const ShapeBinding &binding : resized)
    if (failed(resize(module, entries, binding, options, prepared)))
      return failure();
  return prepared;
}
