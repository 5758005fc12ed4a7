//===- RoleFacts.h - What an op says of the storages it reads ---*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which operand of an op is a weight, a bias or a table, and which operands its
// result stands for. Registered upstream ops answer through interfaces, others
// by name. Also: what a module-level global holds, and which op loads it.
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_ROLEFACTS_H
#define ES_OPMODEL_ROLEFACTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::es {

enum class RoleUse : uint8_t {
  /// Nothing follows for the operands.
  None,
  /// The result is one of `sources` in another shape, element type or order, or
  /// all of them side by side.
  Follow,
  /// Elementwise addition, multiplication and the like of `sources`: what a
  /// dequantisation is made of.
  Scale,
  /// Any other elementwise function of `sources`.
  Map,
  /// The result depends on no storage at all: a fill, an iota, a splat.
  Generate,
  /// A product of the operands `data` and `weight`, either of which may be the
  /// parameter.
  Contraction,
  /// `weight` is the filter.
  Convolution,
  /// Rows of `weight` are looked up.
  Lookup,
  /// Only `vectors` and `statistics` say something.
  Normalization,
};

struct RoleFacts {
  RoleUse use = RoleUse::None;
  SmallVector<unsigned, 2> sources;
  unsigned data = 0, weight = 0;
  /// Operands that are biases and scales whatever their shape.
  SmallVector<unsigned, 2> vectors;
  /// Running means and variances: kept, not trained.
  SmallVector<unsigned, 2> statistics;
};

RoleFacts getRoleFacts(Operation *op);

/// The shape and element type that `type` carries, be it of a foreign dialect;
/// null if it carries none.
ShapedType getCarriedShape(Type type);

/// The number of dimensions of a value; 0 if it has no shape.
int64_t getRank(Value value);

/// A definition in a module: ml_program.global, memref.global, util.global.
struct GlobalFacts {
  Type type;
  /// The initial value, if it is stated.
  Attribute value;
  /// The name under which the contents are kept outside of the module, if they
  /// are: these are parameters.
  std::string external;
  bool isMutable = false;
};
std::optional<GlobalFacts> getGlobalFacts(Operation *op);

/// The global whose contents `op` yields, or null.
SymbolRefAttr getLoadedGlobal(Operation *op);

/// The global that `op` writes, or null.
SymbolRefAttr getStoredGlobal(Operation *op);

/// The attribute that holds the contents of a constant, or null. A resource is
/// named, never read.
Attribute getConstantContents(Operation *op);

} // namespace mlir::es

#endif // ES_OPMODEL_ROLEFACTS_H
