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

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
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

static std::string getArgumentName(FunctionOpInterface func, unsigned index) {
  if (auto param = func.getArgAttrOfType<ParamAttr>(index, "es.param"))
    return param.getName().str();
  if (auto name = dyn_cast<NameLoc>(func.getArgument(index).getLoc()))
    return name.getName().str();
  return "arg" + std::to_string(index);
}

static LogicalResult bindShape(FunctionOpInterface func, unsigned index,
                               ArrayRef<int64_t> shape) {
  BlockArgument argument = func.getArgument(index);
  auto type = dyn_cast<TensorType>(argument.getType());
  if (!type)
    return emitError(argument.getLoc())
           << "--shape binds tensors, got '" << argument.getType() << "'";
  auto bound = RankedTensorType::get(shape, type.getElementType());
  if (auto ranked = dyn_cast<RankedTensorType>(type);
      ranked && failed(verifyCompatibleShape(ranked, bound)))
    return emitError(argument.getLoc()) << "--shape binds '" << type << "' to '"
                                        << bound << "', which contradicts it";
  if (type == bound)
    return success();
  argument.setType(bound);
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  auto cast =
      tensor::CastOp::create(builder, argument.getLoc(), type, argument);
  argument.replaceAllUsesExcept(cast, cast);
  return success();
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

static LogicalResult bindShapes(ModuleOp module,
                                ArrayRef<FunctionOpInterface> entries,
                                ArrayRef<ShapeBinding> shapes) {
  if (shapes.empty())
    return success();
  module.getContext()->loadDialect<tensor::TensorDialect>();
  for (const ShapeBinding &binding : shapes) {
    bool found = false;
    for (FunctionOpInterface func : entries)
      for (unsigned i = 0, e = func.getNumArguments(); i < e; ++i)
        if (getArgumentName(func, i) == binding.name) {
          found = true;
          if (failed(bindShape(func, i, binding.shape)))
            return failure();
        }
    if (!found)
      return module.emitError()
             << "--shape names no argument: '" << binding.name << "'";
  }
  for (FunctionOpInterface func : entries) {
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

LogicalResult mlir::es::prepareModule(ModuleOp module,
                                      ArrayRef<FunctionOpInterface> entries,
                                      const ReportOptions &options) {
  inlinePrivateCallees(module);
  return bindShapes(module, entries, options.shapes);
}
