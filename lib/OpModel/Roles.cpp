//===- Roles.cpp - What an op's use says of a storage ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"
#include "es/OpModel/OpModel.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::es;

bool mlir::es::isTableLookup(Operation *op) {
  static const llvm::StringSet<> names = {
      "tosa.gather",          "stablehlo.gather",
      "mhlo.gather",          "stablehlo.torch_index_select",
      "torch.aten.embedding", "torch.aten.index_select",
      "onnx.Gather",          "ttir.embedding"};
  return names.contains(op->getName().getStringRef()) &&
         op->getNumOperands() > 1;
}

bool mlir::es::isTranspose(Operation *op) {
  static const llvm::StringSet<> names = {"stablehlo.transpose",
                                          "mhlo.transpose", "linalg.transpose",
                                          "tosa.transpose", "onnx.Transpose"};
  return names.contains(op->getName().getStringRef());
}

bool mlir::es::takesForeignElements(Operation *op) {
  static const llvm::StringSet<> slices = {"stablehlo.slice",
                                           "stablehlo.dynamic_slice",
                                           "stablehlo.dynamic_gather",
                                           "stablehlo.real_dynamic_slice",
                                           "mhlo.slice",
                                           "mhlo.dynamic_slice",
                                           "tosa.slice",
                                           "onnx.Slice",
                                           "torch.aten.slice.Tensor",
                                           "torch.aten.select.int",
                                           "torch.aten.narrow",
                                           "torch.aten.gather"};
  if (op->getNumResults() != 1)
    return false;
  return slices.contains(op->getName().getStringRef()) || isTableLookup(op) ||
         (isTranspose(op) && op->getName().getDialectNamespace() != "linalg");
}

bool mlir::es::isSliceUpdate(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "stablehlo.dynamic_update_slice" ||
         name == "mhlo.dynamic_update_slice";
}

bool mlir::es::isRecomputationBoundary(Operation *op) {
  return op->getName().stripDialect() == "optimization_barrier";
}

bool mlir::es::drawsRandomNumbers(Operation *op) {
  static const llvm::StringSet<> names = {
      "stablehlo.rng",          "mhlo.rng",
      "chlo.rng_uniform",       "mhlo.rng_uniform",
      "mhlo.rng_normal",        "torch.aten.bernoulli",
      "torch.aten.multinomial", "torch.aten.normal_functional",
      "torch.aten.rand",        "torch.aten.rand_like",
      "torch.aten.randint",     "torch.aten.randint.low",
      "torch.aten.randn",       "torch.aten.randn_like",
      "torch.aten.randperm",    "torch.aten.uniform",
      "onnx.Bernoulli",         "onnx.Multinomial",
      "onnx.RandomNormal",      "onnx.RandomNormalLike",
      "onnx.RandomUniform",     "onnx.RandomUniformLike"};
  return names.contains(op->getName().getStringRef());
}

bool mlir::es::isParameterChain(Operation *op) {
  OpFacts facts = getOpFacts(op);
  if (facts.opClass == OpClass::DataMovement || isa<AllGatherOp>(op))
    return true;
  if (facts.results.size() == 1 && facts.results[0].kind == ResultKind::View)
    return true;
  static const llvm::StringSet<> conversions = {"arith.extf",
                                                "arith.truncf",
                                                "arith.sitofp",
                                                "arith.uitofp",
                                                "arith.extsi",
                                                "arith.extui",
                                                "tosa.cast",
                                                "tosa.rescale",
                                                "stablehlo.convert",
                                                "mhlo.convert",
                                                "stablehlo.uniform_dequantize",
                                                "torch.aten.to.dtype",
                                                "quant.dcast",
                                                "onnx.Cast",
                                                "onnx.DequantizeLinear"};
  return conversions.contains(op->getName().getStringRef());
}
