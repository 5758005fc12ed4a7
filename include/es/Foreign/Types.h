//===- Types.h - Shapes of foreign types ------------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types of foreign dialects are opaque; those that stand for tensors say so in
// their text.
//
//===----------------------------------------------------------------------===//

#ifndef ES_FOREIGN_TYPES_H
#define ES_FOREIGN_TYPES_H

#include "mlir/IR/Types.h"
#include "mlir/Support/LLVM.h"
#include <optional>

namespace mlir::es {

/// The builtin tensor type of the same shape and element type as `type`:
///
///   !torch.vtensor<[1,?],si64>            tensor<1x?xsi64>
///   !torch.vtensor<*,f32>                 tensor<*xf32>
///   !torch.tensor, !torch.vtensor         tensor<*x!torch.unk>
///   !vhlo.tensor_v1<2x!vhlo.f32_v1>       tensor<2xf32>
///   !mpmd.mesh_tensor<"m", tensor<4xf32>> tensor<4xf32>
///   !tf_type.variant<tensor<4xf32>>       nothing: it is a handle
///
/// Shaped types of the builtin dialect are themselves. Nothing for any other
/// type: a list, a scalar, a handle.
std::optional<Type> getForeignShapedType(Type type);

/// `type` with another shape of the same rank, or null if it is a type of which
/// that cannot be written.
Type withForeignShape(Type type, ArrayRef<int64_t> shape);

} // namespace mlir::es

#endif // ES_FOREIGN_TYPES_H
