//===- NumpyShapes.cpp - Shapes of ATen and ONNX operators ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where sizes of results come straight from sizes of operands: products,
// transposes with their permutation as an attribute, and ops that keep the
// leading dimensions of their first operand (all of them, or the batch).
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/Attributes.h"
#include "es/OpModel/RoleFacts.h"
#include "es/OpModel/Shapes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::es;

using Shape = std::optional<Integers>;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

static Shape getShape(Type type) {
  ShapedType shaped = getCarriedShape(type);
  if (!shaped || !shaped.hasRank())
    return std::nullopt;
  return Integers(shaped.getShape());
}

static Shape getShape(Operation *op, unsigned operand) {
  if (operand >= op->getNumOperands())
    return std::nullopt;
  return getShape(op->getOperand(operand).getType());
}

namespace {
enum class Kind : uint8_t {
  /// `[..., m, k] x [..., k, n]`.
  MatMul,
  /// `x [..., k]`, `w [n, k]`.
  Linear,
  /// A product of operands 1 and 2, added to operand 0.
  AddMatMul,
  /// Either matrix may be transposed, as attributes say.
  Gemm,
  Transpose,
  /// The first operand's shape.
  Same,
  /// The first operand's leading dimension; the others as the type says.
  Batch,
  /// All but the last dimension of the first operand.
  Rows,
};
} // namespace

static const llvm::StringMap<Kind> &getKinds() {
  static const llvm::StringMap<Kind> kinds = [] {
    llvm::StringMap<Kind> result;
    auto add = [&](Kind kind, StringRef names) {
      for (StringRef name : llvm::split(names, ' '))
        result[name] = kind;
    };
    add(Kind::MatMul, "mm bmm matmul MatMul MatMulInteger");
    add(Kind::Linear, "linear");
    add(Kind::AddMatMul, "addmm baddbmm");
    add(Kind::Gemm, "Gemm");
    add(Kind::Transpose, "permute Transpose");
    add(Kind::Same,
        "softmax _softmax log_softmax _log_softmax layer_norm batch_norm "
        "group_norm instance_norm rms_norm dropout cumsum detach clone alias "
        "contiguous Softmax LogSoftmax BatchNormalization LayerNormalization "
        "InstanceNormalization GroupNormalization RMSNormalization Dropout "
        "Identity Cast CumSum native_layer_norm "
        "native_batch_norm _native_batch_norm_legit_no_training "
        "native_group_norm native_dropout");
    add(Kind::Batch,
        "conv1d conv2d conv3d convolution _convolution conv_transpose1d "
        "conv_transpose2d conv_transpose3d max_pool1d max_pool2d max_pool3d "
        "avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d "
        "adaptive_avg_pool2d adaptive_avg_pool3d max_pool2d_with_indices "
        "Conv ConvTranspose MaxPool AveragePool GlobalAveragePool "
        "GlobalMaxPool MaxPoolSingleOut");
    add(Kind::Rows, "scaled_dot_product_attention "
                    "_scaled_dot_product_flash_attention_for_cpu");
    return result;
  }();
  return kinds;
}

/// Matrices in the last two dimensions; those before are broadcast.
static Shape inferMatMul(Shape lhs, Shape rhs) {
  if (!lhs || !rhs || lhs->size() < 2 || rhs->size() < 2)
    return std::nullopt;
  const Integers &longer = lhs->size() >= rhs->size() ? *lhs : *rhs;
  const Integers &shorter = lhs->size() >= rhs->size() ? *rhs : *lhs;
  Integers result(longer.begin(), longer.end());
  size_t offset = longer.size() - shorter.size();
  for (size_t dim = 0; dim + 2 < shorter.size(); ++dim)
    // A dynamic size may be 1, so that another size than 1 wins.
    if (int64_t &size = result[dim + offset];
        size == 1 || (size == kDynamic && shorter[dim] != 1))
      size = shorter[dim];
  result[result.size() - 2] = (*lhs)[lhs->size() - 2];
  result.back() = rhs->back();
  return result;
}

static Shape inferLinear(Operation *op) {
  Shape result = getShape(op, 0), weight = getShape(op, 1);
  if (!result || !weight || result->empty() || weight->size() != 2)
    return std::nullopt;
  result->back() = weight->front();
  return result;
}

static Shape inferGemm(Operation *op) {
  Shape lhs = getShape(op, 0), rhs = getShape(op, 1);
  auto isTransposed = [&](StringRef name) {
    auto flag = op->getAttrOfType<IntegerAttr>(name);
    return flag && !flag.getValue().isZero();
  };
  if (!lhs || !rhs || lhs->size() != 2 || rhs->size() != 2)
    return std::nullopt;
  return Integers{(*lhs)[isTransposed("transA") ? 1 : 0],
                  (*rhs)[isTransposed("transB") ? 0 : 1]};
}

static Shape inferTranspose(Operation *op) {
  Shape shape = getShape(op, 0);
  Shape permutation = getIntegers(op->getAttr("perm"));
  if (!permutation)
    permutation = getIntegers(op->getAttr("dims"));
  if (!shape || !permutation || permutation->size() != shape->size())
    return std::nullopt;
  Integers result;
  for (int64_t dim : *permutation) {
    dim += dim < 0 ? int64_t(shape->size()) : 0;
    if (dim < 0 || dim >= int64_t(shape->size()))
      return std::nullopt;
    result.push_back((*shape)[dim]);
  }
  return result;
}

/// What the type leaves open of the first `count` dimensions.
static Shape inferLeading(Operation *op, size_t count) {
  Shape shape = getShape(op, 0);
  Shape result = getShape(op->getResult(0).getType());
  if (!shape || !result || shape->size() < count || result->size() < count)
    return std::nullopt;
  for (size_t dim = 0; dim < count; ++dim)
    if ((*result)[dim] == kDynamic)
      (*result)[dim] = (*shape)[dim];
  return result;
}

Shape mlir::es::inferOperatorShape(Operation *op, StringRef name) {
  auto it = getKinds().find(name);
  if (it == getKinds().end())
    return std::nullopt;
  switch (it->second) {
  case Kind::MatMul:
    return inferMatMul(getShape(op, 0), getShape(op, 1));
  case Kind::AddMatMul:
    return inferMatMul(getShape(op, 1), getShape(op, 2));
  case Kind::Linear:
    return inferLinear(op);
  case Kind::Gemm:
    return inferGemm(op);
  case Kind::Transpose:
    return inferTranspose(op);
  case Kind::Same:
    return getShape(op, 0);
  case Kind::Batch:
    return inferLeading(op, 1);
  case Kind::Rows:
    if (Shape shape = getShape(op, 0); shape && !shape->empty())
      return inferLeading(op, shape->size() - 1);
    return std::nullopt;
  }
  llvm_unreachable("every kind has a rule");
}
