//===- MemoryProfile.h - Bytes live over time -------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes that are live at each program point of a function, where they are
// most, and what they consist of. A callee's own peak is added at each call, on
// top of what is live across it.
//
//===----------------------------------------------------------------------===//

#ifndef ES_ANALYSIS_MEMORYPROFILE_H
#define ES_ANALYSIS_MEMORYPROFILE_H

#include "es/Analysis/LiveRanges.h"
#include "es/Analysis/Roles.h"
#include "es/Analysis/StorageSize.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include <array>

namespace mlir::es {

struct ProfileOptions {
  MemoryModel model = MemoryModel::InPlace;
  SizeOptions size;
  /// Count a type without a size as nothing, and say so, instead of failing.
  bool lowerBound = false;
  /// What the error about a dynamic dimension advises.
  std::string dynamicAdvice;
  /// Whether the function may overwrite an argument; by default its attributes
  /// say.
  std::function<bool(BlockArgument)> isDonated;
  /// The role and the stored type of a parameter, input, state or constant;
  /// a null type means the value's own.
  std::function<std::pair<Role, Type>(Value)> storageOf;
  /// Storages that no value of the function stands for, such as globals that
  /// nothing reads: resident all the time.
  SmallVector<std::pair<Role, Type>> unread;
  /// What values of the function that is profiled are for that would otherwise
  /// be temporaries or outputs; of values that share a buffer the last counts.
  llvm::MapVector<Value, Role> roles;
};

struct ProfiledBuffer {
  Role role = Role::Temporary;
  uint64_t bytes = 0;
  LiveSegment hull = {0, 0};
  /// Offset in the arena of the plan.
  uint64_t offset = 0;
  bool isLive = false;
};

/// What crosses the function's border, whenever it is live.
struct SignatureBytes {
  uint64_t arguments = 0;
  uint64_t results = 0;
  /// Results that are in the memory of a donated argument.
  uint64_t aliased = 0;
};

struct MemoryProfile {
  BufferAssignment assignment;
  LiveRanges ranges;
  /// Indexed by BufferId.
  std::vector<ProfiledBuffer> buffers;

  uint64_t peakBytes = 0;
  /// The first program point that reaches the peak.
  unsigned peakPoint = 0;
  /// Live bytes at each point.
  std::vector<uint64_t> timeline;
  /// Bytes by role at the peak; they sum to `peakBytes`. The transient memory
  /// of a callee counts as temporary.
  std::array<uint64_t, kNumRoles> breakdown = {};
  /// The arena of the best greedy placement: at least the peak.
  uint64_t arenaBytes = 0;
  /// All buffers, as if nothing were ever freed.
  uint64_t naiveBytes = 0;
  /// The most that one op's operands and results take together.
  uint64_t largestOpBytes = 0;
  SignatureBytes signature;
  /// The most bytes that are temporary at any one point: neither arguments nor
  /// constants nor results.
  uint64_t temporaryPeakBytes = 0;
  /// Bytes that callees and scratch memory add at each point that has any.
  llvm::MapVector<unsigned, uint64_t> transients;
  /// Ops that nothing describes, by name.
  llvm::MapVector<StringRef, unsigned> conservativeOps;
  /// Types of dialects that nobody knows, with the number of their values: they
  /// count as nothing.
  llvm::MapVector<Type, unsigned> unknownTypes;
  /// Some type had no size and counts as nothing.
  bool hasUnknownSizes = false;
};

/// Profiles functions; callees are profiled once.
class ModuleProfiler {
public:
  explicit ModuleProfiler(ProfileOptions options);

  /// Fails with a diagnostic on recursion, on a type without a size, and on
  /// sums that exceed 64 bits.
  FailureOr<MemoryProfile> profile(FunctionOpInterface func);

private:
  struct Callee {
    ReturnedArguments returned;
    /// What a call needs beyond its arguments; results included.
    uint64_t bytes = 0;
    /// Constants that become resident through the call.
    uint64_t constantBytes = 0;
  };

  LogicalResult profileCallees(FunctionOpInterface func);
  FailureOr<MemoryProfile> profileOne(FunctionOpInterface func);
  FailureOr<MemoryProfile> profileAs(FunctionOpInterface func,
                                     MemoryModel model);
  LogicalResult measure(MemoryProfile &profile);
  void applyRoles(MemoryProfile &profile) const;
  LogicalResult accumulate(MemoryProfile &profile);
  LogicalResult addUnread(MemoryProfile &profile, FunctionOpInterface func);
  LogicalResult addTransients(MemoryProfile &profile);
  void findUnknownTypes(MemoryProfile &profile) const;
  FunctionOpInterface resolve(Operation *call);

  ProfileOptions options;
  SymbolTableCollection symbols;
  llvm::DenseMap<Operation *, Callee> callees;
};

} // namespace mlir::es

#endif // ES_ANALYSIS_MEMORYPROFILE_H
