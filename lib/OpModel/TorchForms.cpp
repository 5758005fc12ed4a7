//===- TorchForms.cpp - Operators that PyTorch runs as several ------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where PyTorch, op by op, has no gradient for an operator but for those that
// it is made of, the eager memory model counts those.
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/RoleFacts.h"
#include "es/OpModel/Torch.h"

using namespace mlir;
using namespace mlir::es;

namespace {
/// Makes ATen operators in front of one.
class AtenBuilder {
public:
  explicit AtenBuilder(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  Operation *create(StringRef name, ValueRange operands, TypeRange types,
                    ArrayRef<NamedAttribute> attrs = {}) {
    OperationState state(loc, ("torch.aten." + name).str());
    state.addOperands(operands);
    state.addTypes(types);
    state.addAttributes(attrs);
    return builder.create(state);
  }
  Value compute(StringRef name, ValueRange operands, Type type,
                ArrayRef<NamedAttribute> attrs = {}) {
    return create(name, operands, type, attrs)->getResult(0);
  }
  NamedAttribute number(StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  }
  NamedAttribute number(StringRef name, double value) {
    return builder.getNamedAttr(name, builder.getF64FloatAttr(value));
  }

private:
  OpBuilder &builder;
  Location loc;
};
} // namespace

//===----------------------------------------------------------------------===//
// Cross entropy
//===----------------------------------------------------------------------===//

Value mlir::es::createClassLoss(OpBuilder &builder, Location loc, Value logits,
                                ValueRange labels, Type lossType,
                                ArrayRef<NamedAttribute> attrs) {
  AtenBuilder aten(builder, loc);
  ShapedType type = getCarriedShape(logits.getType());
  Value logarithms =
      aten.compute("log_softmax.int", logits, logits.getType(),
                   aten.number("dim", int64_t(type.getRank() > 1)));
  SmallVector<Value> operands = {logarithms};
  llvm::append_range(operands, labels);
  Type weight = RankedTensorType::get({}, type.getElementType());
  return aten.create("nll_loss_forward", operands, {lossType, weight}, attrs)
      ->getResult(0);
}

/// Labels, not probabilities, are what is looked up.
static bool isCrossEntropyOfClasses(Operation *op) {
  if (op->getNumOperands() < 2)
    return false;
  ShapedType logits = getCarriedShape(op->getOperand(0).getType());
  ShapedType labels = getCarriedShape(op->getOperand(1).getType());
  return logits && logits.hasRank() && labels &&
         labels.getElementType().isInteger();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

static double getDropout(Operation *op) {
  auto dropout = op->getAttrOfType<FloatAttr>("dropout_p");
  return dropout ? dropout.getValueAsDouble() : 0;
}

/// The kernel of attention has no dropout on the CPU, and no gradient of a
/// mask.
static bool isAttentionWithoutKernel(Operation *op,
                                     function_ref<bool(Value)> isTrained) {
  if (op->getNumOperands() < 3 ||
      (getDropout(op) == 0 &&
       !(op->getNumOperands() > 3 && isTrained(op->getOperand(3)))))
    return false;
  auto query = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto keys = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  return query && keys && query.hasStaticShape() && keys.hasStaticShape() &&
         query.getRank() == 4 && keys.getRank() == 4 &&
         query.getShape().take_front(2) == keys.getShape().take_front(2);
}

/// Query and keys are scaled, each in memory of its own; a mask is added to the
/// scores in place, as floats.
static Value createAttention(OpBuilder &builder, Operation *op) {
  AtenBuilder aten(builder, op->getLoc());
  Value query = op->getOperand(0), keys = op->getOperand(1);
  auto type = cast<RankedTensorType>(query.getType());
  auto keysType = cast<RankedTensorType>(keys.getType());
  ArrayRef<int64_t> shape = type.getShape(), of = keysType.getShape();
  Type element = type.getElementType();
  auto turned = RankedTensorType::get({of[0], of[1], of[3], of[2]}, element);
  auto square =
      RankedTensorType::get({shape[0], shape[1], shape[2], of[2]}, element);
  auto scale = aten.number("other", 1.0);
  Value scaled = aten.compute("mul.Scalar", query, type, scale);
  Value view = aten.compute(
      "transpose.int", keys, turned,
      {aten.number("dim0", int64_t(-2)), aten.number("dim1", int64_t(-1))});
  Value scaledKeys = aten.compute("mul.Scalar", view, turned, scale);
  Value scores = aten.compute("matmul", {scaled, scaledKeys}, square);
  Value mask = op->getNumOperands() > 3 ? op->getOperand(3) : Value();
  auto causal = op->getAttrOfType<BoolAttr>("is_causal");
  if (!mask && causal && causal.getValue())
    mask = aten.compute("ones", {},
                        RankedTensorType::get({shape[2], of[2]}, element));
  if (mask) {
    auto given = cast<RankedTensorType>(mask.getType());
    if (given.getElementType() != element)
      mask = aten.compute("to.dtype", mask, given.clone(element));
    scores = aten.compute("add_.Tensor", {scores, mask}, square);
  }
  Value weights = aten.compute("softmax.int", scores, square,
                               aten.number("dim", int64_t(-1)));
  // With the mask that its gradient reads.
  if (double dropout = getDropout(op))
    weights =
        aten.create("dropout", weights, {square, square},
                    {aten.number("p", dropout),
                     builder.getNamedAttr("train", builder.getBoolAttr(true))})
            ->getResult(0);
  return aten.compute("matmul", {weights, op->getOperand(2)},
                      op->getResult(0).getType());
}

bool mlir::es::splitTorchOp(Operation *op,
                            function_ref<bool(Value)> isTrained) {
  StringRef name = op->getName().getStringRef();
  if (op->getNumResults() != 1)
    return false;
  OpBuilder builder(op);
  Value made;
  if (name == "torch.aten.cross_entropy_loss" && isCrossEntropyOfClasses(op))
    made = createClassLoss(builder, op->getLoc(), op->getOperand(0),
                           op->getOperands().drop_front(),
                           op->getResult(0).getType(), op->getAttrs());
  else if (name == "torch.aten.scaled_dot_product_attention" &&
           isAttentionWithoutKernel(op, isTrained))
    made = createAttention(builder, op);
  if (!made)
    return false;
  op->getResult(0).replaceAllUsesWith(made);
  op->erase();
  return true;
}
