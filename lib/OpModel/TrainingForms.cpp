//===- TrainingForms.cpp - What ops return beside, for their gradients ----===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PyTorch's autograd runs another form of some ATen operators, with results
// that only the gradient reads: means and deviations, the places of maxima,
// masks, the logarithms of an attention's sums.
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/Derivatives.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::es;

static bool isTrue(Operation *op, StringRef name) {
  auto value = op->getAttrOfType<BoolAttr>(name);
  return value && value.getValue();
}

/// Mean and reciprocal deviation of each row of `shape`.
static SmallVector<Type, 2> makeStatistics(ArrayRef<int64_t> shape,
                                           Type element) {
  Type type = RankedTensorType::get(shape, element);
  return {type, type};
}

SmallVector<Type, 2> mlir::es::getTrainingResults(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("torch.aten.") || op->getNumResults() != 1 ||
      op->getNumOperands() == 0)
    return {};
  name = name.split('.').first;
  ShapedType input = getCarriedShape(op->getOperand(0).getType());
  ShapedType output = getCarriedShape(op->getResult(0).getType());
  if (!input || !output || !input.hasStaticShape() || !output.hasStaticShape())
    return {};
  Type element = input.getElementType();
  ArrayRef<int64_t> shape = input.getShape();
  Builder builder(op->getContext());
  if (name == "layer_norm" || name == "rms_norm") {
    auto normalized = op->getAttrOfType<ArrayAttr>("normalized_shape");
    if (!normalized || normalized.size() > shape.size())
      return {};
    SmallVector<Type, 2> types =
        makeStatistics(shape.drop_back(normalized.size()), element);
    if (name == "rms_norm")
      types.pop_back();
    return types;
  }
  if (name == "batch_norm" && isTrue(op, "training") && shape.size() > 1)
    return makeStatistics(shape[1], element);
  auto groups = op->getAttrOfType<IntegerAttr>("num_groups");
  if (name == "group_norm" && groups && !shape.empty())
    return makeStatistics({shape[0], groups.getInt()}, element);
  if (name == "max_pool1d" || name == "max_pool2d" || name == "max_pool3d")
    return {RankedTensorType::get(output.getShape(), builder.getI64Type())};
  // Without a probability nothing is dropped: the operand is returned.
  auto p = op->getAttrOfType<FloatAttr>("p");
  if (name == "dropout" && isTrue(op, "train") &&
      !(p && p.getValueAsDouble() == 0))
    return {RankedTensorType::get(shape, element)};
  // The logarithms of the probabilities, and the sum of the labels' weights.
  if (name == "cross_entropy_loss")
    return {RankedTensorType::get(shape, element),
            RankedTensorType::get({}, element)};
  if (name == "scaled_dot_product_attention" && shape.size() == 4)
    return {RankedTensorType::get(shape.drop_back(), builder.getF32Type())};
  return {};
}
