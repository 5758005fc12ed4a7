//===- LowRankProducts.h - Products with a perturbed matrix -----*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x (W + A B^T) is x W + (x A) B^T: the factors take the place of the matrix.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_TRAINING_LOWRANKPRODUCTS_H
#define ES_LIB_TRAINING_LOWRANKPRODUCTS_H

#include "es/Dialect/ES/IR/ES.h"

namespace mlir::es {

/// Which noise, of which member.
struct LowRankNoise {
  NoiseKind kind;
  ParamAttr param;
  Value key, member;
  double sigma;
  unsigned rank;
  bool antithetic;
};

/// True if the op is a product of this operand, a matrix of floats, with
/// another tensor, summed over one of its dimensions.
bool canCorrectProduct(OpOperand &matrix);

/// Adds what the noise contributes to the result of the product.
void correctProduct(OpOperand &matrix, const LowRankNoise &noise);

} // namespace mlir::es

#endif // ES_LIB_TRAINING_LOWRANKPRODUCTS_H
