//===- AtenWorkspace.cpp - Scratch memory of ATen operators ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What PyTorch's CPU operators allocate and free again while they run, measured
// with its profiler. Composite operators make intermediate tensors that the
// form with one result does not show. Scratch of the libraries below (oneDNN's
// own layouts in convolutions) depends on the machine and is not counted.
//
//===----------------------------------------------------------------------===//

#include "NamedOps.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::es;

static uint64_t getElementBytes(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.getElementType().isIntOrFloat())
    return 0;
  return (shaped.getElementTypeBitWidth() + 7) / 8;
}

/// The product of an attribute's integers, or nullopt.
static std::optional<int64_t> getProduct(Operation *op, StringRef name) {
  auto dims = op->getAttrOfType<ArrayAttr>(name);
  if (!dims)
    return std::nullopt;
  int64_t product = 1;
  for (Attribute dim : dims) {
    auto value = dyn_cast<IntegerAttr>(dim);
    if (!value || value.getInt() <= 0)
      return std::nullopt;
    product *= value.getInt();
  }
  return product;
}

/// A Python number becomes a tensor of one f64 or i64, and one more of the type
/// that is computed with.
static uint64_t getNumberBytes(Operation *op) {
  uint64_t bytes = getElementBytes(op->getOperand(0).getType());
  return sizeof(double) + (bytes == sizeof(double) ? 0 : bytes);
}

/// One number and one tensor: `x + 1`, `x / 2.0`, `x > 0`.
static bool combinesWithNumber(Operation *op, StringRef name) {
  static const FamilyTable table = makeFamilyTable(
      {{Family::Elementwise, "add sub rsub mul div floor_divide fmod "
                             "remainder eq ne lt le gt ge"}});
  return op->getNumOperands() == 1 && table.contains(name);
}

/// Statistics for each group of elements that is normalised.
static std::optional<int64_t> getStatistics(Operation *op, StringRef name,
                                            int64_t elements) {
  auto type = cast<ShapedType>(op->getOperand(0).getType());
  if (name == "layer_norm" || name == "rms_norm") {
    std::optional<int64_t> normalized = getProduct(op, "normalized_shape");
    return normalized ? std::optional(2 * (elements / *normalized))
                      : std::nullopt;
  }
  if (name == "batch_norm" && type.getRank() > 1) {
    // In training those of the batch as well.
    auto training = op->getAttrOfType<BoolAttr>("training");
    return (training && training.getValue() ? 4 : 2) * type.getDimSize(1);
  }
  auto groups = op->getAttrOfType<IntegerAttr>("num_groups");
  if (name == "group_norm" && groups && type.getRank() > 0)
    return 2 * type.getDimSize(0) * groups.getInt();
  return std::nullopt;
}

uint64_t mlir::es::getAtenWorkspace(Operation *op, StringRef name) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return 0;
  std::optional<int64_t> elements = getStaticElements(op->getResult(0));
  std::optional<int64_t> read = getStaticElements(op->getOperand(0));
  if (!elements || !read)
    return 0;
  uint64_t bytes = getElementBytes(op->getResult(0).getType());
  if (combinesWithNumber(op, name) || name == "mean")
    return getNumberBytes(op);
  if (std::optional<int64_t> statistics = getStatistics(op, name, *elements))
    return *statistics * bytes;
  // The positions of the maxima.
  if (name == "max_pool1d" || name == "max_pool2d" || name == "max_pool3d")
    return *elements * sizeof(int64_t);
  // The mask, scaled.
  if (name == "dropout")
    return *elements * bytes;
  // The logarithm of the softmax, and the total weight.
  if (name == "cross_entropy_loss")
    return (*read + 1) * bytes;
  return 0;
}
