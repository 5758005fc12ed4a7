//===- Sharding.h - How values are split over devices -----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the shardings that Shardy (`sdy.mesh`, `sdy.sharding`) and XLA
// (`mhlo.sharding = "{devices=[2,1]<=[2]}"`) write.
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_SHARDING_H
#define ES_OPMODEL_SHARDING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <array>

namespace mlir::es {

/// Devices `stride` apart, `size` of them: a mesh axis, or a part of one. The
/// last axis of a mesh has the stride 1.
struct DeviceAxis {
  int64_t stride, size;

  /// True if some pair of devices is told apart by both.
  bool overlaps(DeviceAxis other) const {
    return stride < other.stride * other.size && other.stride < stride * size;
  }
  bool operator==(DeviceAxis other) const {
    return stride == other.stride && size == other.size;
  }
};

/// The axes that a dimension is split along; none if it is not.
struct SplitDimension {
  SmallVector<DeviceAxis, 2> axes;
  /// May be split further.
  bool isOpen = false;
  /// When others hear of it: what is said with 0 comes first.
  unsigned priority = 0;

  int64_t getParts() const;
  bool overlaps(const SplitDimension &other) const;
};

struct Sharding {
  SmallVector<SplitDimension, 4> dimensions;
  /// Axes that no dimension may be split along.
  SmallVector<DeviceAxis, 2> replicated;
  /// The only device that has the value, if it is not on every one.
  std::optional<int64_t> device;

  bool isSplit() const;
  /// Sizes on the most loaded device: rounded up in every dimension.
  SmallVector<int64_t> getLocalShape(ArrayRef<int64_t> shape) const;
  /// True if the two place every element alike.
  bool sameAs(const Sharding &other) const;
};

/// One of the shardings that `attribute` states for several values; null if it
/// is not there.
Attribute selectSharding(Attribute attribute, unsigned index);

/// The shardings of a module.
class ShardingReader {
public:
  explicit ShardingReader(Operation *module);

  /// The sharding that `attribute` states for a value of `rank` dimensions;
  /// `index` among the values it is about. Nothing if it states none.
  std::optional<Sharding> read(Attribute attribute, unsigned index,
                               unsigned rank);
  /// The most devices that any sharding or mesh so far has named.
  int64_t getNumDevices() const { return numDevices; }
  /// Attributes that could not be understood: at most one of them, printed.
  StringRef getUnreadable() const { return unreadable; }

private:
  struct Mesh {
    llvm::StringMap<DeviceAxis> axes;
    std::optional<int64_t> device;
  };
  std::optional<Sharding> readShardy(StringRef text, unsigned index,
                                     unsigned rank);
  std::optional<Sharding> readXla(StringRef text, unsigned index,
                                  unsigned rank);
  Mesh readMesh(StringRef text);
  static std::optional<DeviceAxis> takeAxis(StringRef &text, const Mesh &mesh);

  llvm::StringMap<Mesh> meshes;
  int64_t numDevices = 1;
  std::string unreadable;
};

//===----------------------------------------------------------------------===//
// Where a program states shardings
//===----------------------------------------------------------------------===//

/// True if `op` is of Shardy's dialect: about shardings and communication.
bool isShardyOp(Operation *op);

/// `sdy.manual_computation`: its body is written for one device, as far as its
/// manual axes go.
bool isManualComputation(Operation *op);

/// `sdy.named_computation`: a name around ops, and shardings for what goes in
/// and comes out.
bool isNamedComputation(Operation *op);

/// Ops that say how a value is split and do nothing else.
bool isShardingConstraint(Operation *op);

/// `value`, said to be split as `sharding` states.
Value createShardingConstraint(OpBuilder &builder, Location loc, Value value,
                               Attribute sharding);

/// The sharding among the attributes of an argument, a result or an op.
Attribute getShardingAttr(DictionaryAttr attributes);

/// What a manual or named computation states of its operands and its results.
Attribute getInShardings(Operation *op);
Attribute getOutShardings(Operation *op);

/// The shardings that are written at an op for its results, if any are.
Attribute getResultShardings(Operation *op);

/// The sharding that is written at an op for its result.
std::optional<Sharding> getStatedSharding(OpResult result,
                                          ShardingReader &reader);

//===----------------------------------------------------------------------===//
// What shardings follow from others
//===----------------------------------------------------------------------===//

/// For each dimension of a result, the dimensions of operands that it is.
struct DimensionSources {
  SmallVector<SmallVector<std::pair<unsigned, unsigned>, 2>, 4> dimensions;
  /// Dimensions of operands that are summed over, or looked up in: where they
  /// are split, each device has a part of the sum.
  SmallVector<std::pair<unsigned, unsigned>, 2> summed;
  /// Those of them that run together: the contracting dimensions of a product.
  SmallVector<std::array<std::pair<unsigned, unsigned>, 2>, 2> contracted;
};

/// A splat, an iota: made on each device as it is needed.
bool isGenerator(Operation *op);

/// Nothing if it is not known how the result's dimensions come about.
std::optional<DimensionSources> getDimensionSources(Operation *op,
                                                    unsigned result);

} // namespace mlir::es

#endif // ES_OPMODEL_SHARDING_H
