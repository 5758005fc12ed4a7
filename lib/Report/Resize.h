//===- Resize.h - A function at another size of a dimension -----*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models are exported at one size: a batch of 8, a sequence of 128. What
// follows for all values if a dimension of an argument is twice as long is
// found by asking each op which dimensions run together. Dimensions that were
// merged (batch times sequence) are products, of which one factor grows.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_REPORT_RESIZE_H
#define ES_LIB_REPORT_RESIZE_H

#include "es/Analysis/Parameters.h"
#include "es/OpModel/DimensionTies.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Twine.h"

namespace mlir::es {

/// A dimension as a product, and what is added to it whatever its size.
struct Extent {
  struct Factor {
    int64_t size;
    bool grows;
  };
  SmallVector<Factor, 1> factors;
  int64_t fixed = 0;

  bool grows() const;
  /// All factors, whatever grows.
  int64_t getProduct() const;
  int64_t getSize() const { return getProduct() + fixed; }
  /// The size where `from` has become `to`; nothing if that is no whole number.
  std::optional<int64_t> getSize(int64_t from, int64_t to) const;
};

class Resizer {
public:
  /// Reads the ties of all ops of `func`, once for all dimensions.
  explicit Resizer(FunctionOpInterface func);

  /// Lets dimensions of arguments grow, and all that runs with them. False if
  /// what follows is not known: `getReason` says why.
  bool grow(ArrayRef<std::pair<BlockArgument, unsigned>> seeds);
  bool grows(Value value) const;
  bool grows(Value value, unsigned dim) const;
  /// False if sizes alone were compared somewhere: what follows is a guess.
  bool isExact() const { return exact; }
  const std::string &getReason() const { return reason; }

  /// The function with what grows `scale` times as long, behind the original.
  /// For counting: attributes that repeat shapes stay as they are.
  FunctionOpInterface cloneAt(int64_t scale);
  /// The same in place, with `to` where there was `from`. False if a part of it
  /// would be no whole number: `getReason` says which.
  bool resize(int64_t from, int64_t to);

private:
  using Extents = SmallVector<Extent, 4>;
  struct OffsetTies {
    DimensionRef to;
    SmallVector<DimensionRef, 2> from;
  };

  void addOp(Operation *op);
  void addControlFlow(Operation *op);
  void tieAll(Value a, Value b);
  Extents &getExtents(Value value);
  bool sync(const DimensionTie &tie);
  bool syncOffsets(const OffsetTies &ties);
  bool syncReshape(Value from, Value to);
  bool checkOp(Operation *op);
  bool checkGuess(Operation *op);
  bool failParts(Value value, const Extent &extent, int64_t from);
  bool checkSlices(int64_t from, int64_t to);
  bool fail(Operation *op, const llvm::Twine &why);
  bool setShapes(FunctionOpInterface target, int64_t from, int64_t to,
                 function_ref<Value(Value)> getValue);

  FunctionOpInterface func;
  KnownIntegers known;
  SmallVector<DimensionTie> ties;
  SmallVector<OffsetTies> offsets;
  /// Ops whose ties are a guess by sizes, or not known at all.
  SmallVector<Operation *> guessed, opaque;
  /// Ops that take a part of their first operand.
  SmallVector<Operation *> slices;
  llvm::MapVector<Value, Extents> extents;
  /// How often nothing that grows is taken from a value that grows.
  llvm::DenseMap<Value, int64_t> taken;
  /// A reshape of which the effect is not known.
  Value unknown;
  std::string reason;
  bool exact = true;
};

/// Dimensions of inputs at one position and of one size: the batch of all of
/// them, the length of their sequences.
struct InputDimension {
  unsigned dim;
  int64_t size;
  SmallVector<std::pair<BlockArgument, unsigned>, 2> seeds;
  /// Why it is not known what follows.
  std::string reason;
};

/// The dimensions of inputs that can grow without a parameter growing. Those of
/// one element are left out: too much has them.
SmallVector<InputDimension> findInputDimensions(FunctionOpInterface func,
                                                const Inventory &inventory,
                                                Resizer &resizer);

/// Gives the dimension that `name` stands for (`batch`, or dimension 1 of an
/// input, `x.1`) another size, with all that runs with it. Returns the size it
/// had; nothing if no input has such a dimension. Fails with a diagnostic if
/// what follows is not known.
FailureOr<std::optional<int64_t>> resizeInputs(FunctionOpInterface func,
                                               const Inventory &inventory,
                                               StringRef name, int64_t size);

} // namespace mlir::es

#endif // ES_LIB_REPORT_RESIZE_H
