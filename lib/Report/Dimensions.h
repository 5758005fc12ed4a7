//===- Dimensions.h - Dynamic dimensions by name ----------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dynamic dimension has up to three names:
//
//   x.0      dimension 0 of argument x
//   batch    the leading dimension of every argument that has a dynamic one
//   s0       a symbol of the file: torch.symbolic_int, or a dimension variable
//            of JAX's shape polymorphism
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_REPORT_DIMENSIONS_H
#define ES_LIB_REPORT_DIMENSIONS_H

#include "es/Analysis/Parameters.h"
#include "es/Report/MemoryReport.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::es {

/// One dynamic dimension of an argument.
struct DimensionSite {
  FunctionOpInterface func;
  unsigned argument, dimension;
  /// The dimension is `factor` times what the name stands for, plus `offset`.
  int64_t factor = 1, offset = 0;
};

/// A symbol of torch.export, and the dimensions of one function's arguments
/// that follow from it.
struct DimensionSymbol {
  std::string name;
  DimensionBounds bounds;
  SmallVector<DimensionSite, 1> sites;
};

/// The dimensions of arguments that names stand for.
class DimensionNames {
public:
  explicit DimensionNames(ArrayRef<FunctionOpInterface> entries);

  /// Empty if the name stands for none.
  ArrayRef<DimensionSite> lookup(StringRef name) const;
  /// What the file says of the dimensions that the name stands for.
  DimensionBounds getBounds(StringRef name) const;
  ArrayRef<DimensionSymbol> getTorchSymbols() const { return torchSymbols; }
  bool isEmpty() const { return sites.empty(); }
  /// `batch, x.0, s0`, for messages; `nothing` if there is none.
  std::string list() const;

private:
  /// Forgets what a name that the file gives would mean in `func` without it.
  void claim(StringRef name, FunctionOpInterface func);
  void addArguments(FunctionOpInterface func);
  void addJaxVariables(FunctionOpInterface func);
  void addTorchSymbols(FunctionOpInterface func);

  llvm::MapVector<std::string, SmallVector<DimensionSite>,
                  llvm::StringMap<unsigned>>
      sites;
  /// `arg0.1`, also where the argument has a name.
  llvm::StringMap<SmallVector<DimensionSite>> positions;
  std::vector<DimensionSymbol> torchSymbols;
};

/// Gives every value that torch.bind_symbolic_shape describes the shape it has
/// where `sizes` are bound.
void bindTorchSymbols(FunctionOpInterface func,
                      const llvm::StringMap<int64_t> &sizes);

} // namespace mlir::es

#endif // ES_LIB_REPORT_DIMENSIONS_H
