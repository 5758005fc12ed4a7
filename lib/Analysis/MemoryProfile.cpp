//===- MemoryProfile.cpp - Bytes live over time ---------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes every buffer, adds them up over their live segments with one sweep over
// differences, and takes the maximum.
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/MemoryProfile.h"
#include "ProfileTotals.h"
#include "es/Analysis/ArenaPlanner.h"
#include "es/Foreign/Dialects.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::es;

ModuleProfiler::ModuleProfiler(ProfileOptions options)
    : options(std::move(options)) {}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

FunctionOpInterface ModuleProfiler::resolve(Operation *call) {
  auto callOp = dyn_cast<CallOpInterface>(call);
  if (!callOp)
    return nullptr;
  return dyn_cast_if_present<FunctionOpInterface>(
      callOp.resolveCallableInTable(&symbols));
}

/// Profiles everything `func` calls, callees first, with an explicit stack.
LogicalResult ModuleProfiler::profileCallees(FunctionOpInterface func) {
  struct Frame {
    FunctionOpInterface func;
    SmallVector<Operation *> calls;
  };
  auto getCalls = [](FunctionOpInterface f) {
    SmallVector<Operation *> calls;
    f.getFunctionBody().walk(
        [&](CallOpInterface call) { calls.push_back(call.getOperation()); });
    return calls;
  };
  SmallVector<Frame> stack;
  llvm::SmallPtrSet<Operation *, 8> active;
  auto push = [&](FunctionOpInterface f) {
    active.insert(f);
    stack.push_back({f, getCalls(f)});
  };
  push(func);
  while (!stack.empty()) {
    if (stack.back().calls.empty()) {
      FunctionOpInterface done = stack.back().func;
      stack.pop_back();
      active.erase(done);
      if (done == func)
        continue;
      FailureOr<MemoryProfile> profile = profileOne(done);
      if (failed(profile))
        return failure();
      Callee &callee = callees[done];
      callee.returned = profile->assignment.getReturnedArguments();
      uint64_t resident = 0;
      for (auto [buffer, info] :
           llvm::zip(profile->buffers, profile->assignment.getBuffers())) {
        if (info.isConstant)
          callee.constantBytes += buffer.bytes;
        auto argument = dyn_cast_if_present<BlockArgument>(info.root);
        if (!info.owned && (argument || info.isConstant))
          resident += buffer.bytes;
      }
      callee.bytes = profile->peakBytes - resident;
      continue;
    }
    Operation *call = stack.back().calls.pop_back_val();
    FunctionOpInterface target = resolve(call);
    if (!target || target.isExternal() || callees.contains(target))
      continue;
    if (active.contains(target)) {
      InFlightDiagnostic error = call->emitError()
                                 << "recursive call of '@" << target.getName()
                                 << "': its memory has no static bound";
      error.attachNote(target.getLoc()) << "called function is here";
      return error;
    }
    push(target);
  }
  return success();
}

/// What callees and scratch memory add while an op runs.
LogicalResult ModuleProfiler::addTransients(MemoryProfile &profile) {
  const ProgramOrder &order = profile.assignment.getOrder();
  llvm::SmallPtrSet<Operation *, 8> counted;
  for (unsigned point = 0, e = order.size(); point < e; ++point) {
    if (order.isEnd(point))
      continue;
    Operation *op = order.getOp(point);
    const OpFacts &facts = order.getFacts(point);
    if (!facts.known)
      ++profile.conservativeOps[op->getName().getStringRef()];
    uint64_t bytes =
        llvm::alignTo(facts.workspaceBytes, options.size.alignment);
    FunctionOpInterface target =
        facts.opClass == OpClass::Call || facts.opClass == OpClass::ControlFlow
            ? resolve(op)
            : nullptr;
    if (target) {
      auto it = callees.find(target);
      if (it != callees.end()) {
        // Results live at the call are counted as buffers already.
        uint64_t results = 0;
        for (OpResult result : op->getResults()) {
          BufferId id = profile.assignment.getBuffer(result);
          if (id != kNoBuffer &&
              profile.assignment.getBuffers()[id].root == result)
            results += profile.buffers[id].bytes;
        }
        bytes += it->second.bytes - std::min(it->second.bytes, results);
      }
    }
    if (bytes)
      profile.transients[point] = bytes;
  }
  return success();
}

/// A type of a dialect that nobody knows may be anything, a tensor included.
void ModuleProfiler::findUnknownTypes(MemoryProfile &profile) const {
  auto count = [&](Type type) {
    auto opaque = dyn_cast<OpaqueType>(type);
    if (!opaque || isForeignDialect(opaque.getDialectNamespace()) ||
        isMemoryType(type))
      return;
    ++profile.unknownTypes[type];
    profile.hasUnknownSizes = true;
  };
  const ProgramOrder &order = profile.assignment.getOrder();
  for (BlockArgument argument : profile.assignment.getFunction().getArguments())
    count(argument.getType());
  for (unsigned point = 0, e = order.size(); point < e; ++point)
    if (!order.isEnd(point))
      llvm::for_each(order.getOp(point)->getResultTypes(), count);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static Location getLocation(const Buffer &buffer) {
  return buffer.root ? buffer.root.getLoc()
                     : buffer.copyFor->getOwner()->getLoc();
}

/// The op that defines a storage whose value is its own description.
static bool isFunctionArgument(const Buffer &buffer, FunctionOpInterface func) {
  auto argument = dyn_cast_if_present<BlockArgument>(buffer.root);
  return argument && argument.getOwner() == &func.getFunctionBody().front();
}

/// The error about a dynamic dimension, with advice for this function.
static std::string advise(StringRef error, StringRef advice) {
  StringRef general = "; bind it with";
  size_t at = error.find(general);
  if (advice.empty() || at == StringRef::npos || !error.contains("dynamic"))
    return error.str();
  return (error.take_front(at) + "; " + advice).str();
}

void ModuleProfiler::applyRoles(MemoryProfile &profile) const {
  llvm::DenseSet<BufferId> changed;
  auto apply = [&](BufferId id, Role role) {
    Role &current = profile.buffers[id].role;
    if (current != Role::Temporary && current != Role::Output &&
        !changed.contains(id))
      return;
    current = role;
    changed.insert(id);
  };
  for (auto [value, role] : options.roles) {
    BufferId id = profile.assignment.getBuffer(value);
    ArrayRef<BufferId> targets = profile.assignment.getTargets(id);
    for (BufferId target : targets)
      apply(target, role);
    if (targets.empty() && id != kNoBuffer)
      apply(id, role);
  }
  // A copy made to return a value is for what the value is for.
  for (const auto &[operand, id] : profile.assignment.getCopies())
    if (auto it = options.roles.find(operand->get());
        it != options.roles.end() && profile.buffers[id].role == Role::Output)
      profile.buffers[id].role = it->second;
}

LogicalResult ModuleProfiler::measure(MemoryProfile &profile) {
  const BufferAssignment &assignment = profile.assignment;
  FunctionOpInterface func = assignment.getFunction();
  ArrayRef<Buffer> table = assignment.getBuffers();
  profile.buffers.resize(table.size());
  // Code that runs keeps odd-sized elements in whole bytes, eagerly or compiled
  // (fused kernels unpack as they go); parameters and constants are stored as
  // their type says.
  SizeOptions inMemory = options.size;
  inMemory.llvmStorage =
      options.model != MemoryModel::Fused && !inMemory.packI1;
  llvm::DenseMap<std::pair<Type, unsigned>, uint64_t> sizes;
  for (auto [id, buffer] : llvm::enumerate(table)) {
    ProfiledBuffer &measured = profile.buffers[id];
    Type type = buffer.type;
    if (isFunctionArgument(buffer, func) || buffer.isConstant) {
      measured.role = buffer.isConstant ? Role::Constant : Role::Input;
      if (options.storageOf) {
        auto [role, stored] = options.storageOf(buffer.root);
        measured.role = role;
        if (stored)
          type = stored;
      }
    }
    if (buffer.isAlias)
      continue;
    measured.isLive = !profile.ranges.getSegments(id).empty();
    measured.hull = profile.ranges.getHull(id);
    bool isStored = measured.role == Role::FrozenParameter ||
                    measured.role == Role::TrainableParameter ||
                    measured.role == Role::Constant;
    auto [it, inserted] = sizes.try_emplace({type, unsigned(isStored)}, 0);
    if (inserted) {
      llvm::Expected<uint64_t> bytes =
          getStorageBytes(type, isStored ? options.size : inMemory);
      if (bytes) {
        it->second = *bytes;
      } else if (options.lowerBound) {
        llvm::consumeError(bytes.takeError());
        profile.hasUnknownSizes = true;
      } else {
        return emitError(getLocation(buffer)) << advise(
                   llvm::toString(bytes.takeError()), options.dynamicAdvice);
      }
    }
    measured.bytes = it->second;
  }
  // What the function returns is output, unless it is something else already.
  for (Block &block : func.getFunctionBody()) {
    if (block.empty() || block.back().getNumSuccessors())
      continue;
    for (OpOperand &operand : block.back().getOpOperands()) {
      auto copy = assignment.getCopies().find(&operand);
      BufferId id = copy != assignment.getCopies().end()
                        ? copy->second
                        : assignment.getBuffer(operand.get());
      if (id != kNoBuffer && profile.buffers[id].role == Role::Temporary)
        profile.buffers[id].role = Role::Output;
    }
  }
  assignTrainingRoles(profile);
  applyRoles(profile);
  return success();
}

//===----------------------------------------------------------------------===//
// The sum over time
//===----------------------------------------------------------------------===//

static uint64_t getLargestOpBytes(const MemoryProfile &profile) {
  const ProgramOrder &order = profile.assignment.getOrder();
  uint64_t largest = 0;
  SmallVector<BufferId, 8> seen;
  for (unsigned point = 0, e = order.size(); point < e; ++point) {
    Operation *op = order.getOp(point);
    uint64_t bytes = 0;
    seen.clear();
    auto add = [&](ValueNumber number) {
      BufferId id = profile.assignment.getBuffer(number);
      if (id == kNoBuffer || llvm::is_contained(seen, id))
        return;
      seen.push_back(id);
      bytes += profile.buffers[id].bytes;
    };
    if (!order.isEnd(point)) {
      const OpFacts &facts = order.getFacts(point);
      for (auto [use, operand] :
           llvm::zip(facts.operands, order.getOperands(point)))
        if (readsContents(use))
          add(operand);
    }
    unsigned begin = order.isEnd(point) ? order.getBegin(op) : point;
    if (order.isEnd(point) || order.getEndOfPoint(point) == point)
      for (unsigned i = 0, e = op->getNumResults(); i < e; ++i)
        add(order.getFirstResult(begin) + i);
    largest = std::max(largest, bytes);
  }
  return largest;
}

LogicalResult ModuleProfiler::accumulate(MemoryProfile &profile) {
  const ProgramOrder &order = profile.assignment.getOrder();
  unsigned size = std::max(order.size(), 1u);
  std::vector<int64_t> difference(size + 1, 0);
  auto overflow = [&]() {
    return profile.assignment.getFunction()->emitError()
           << "the buffers of '@" << profile.assignment.getFunction().getName()
           << "' exceed 64-bit sizes in total";
  };
  auto count = [&](uint64_t bytes, LiveSegment segment) {
    difference[segment.first] += bytes;
    difference[segment.last + 1] -= bytes;
  };
  for (auto [id, buffer] : llvm::enumerate(profile.buffers)) {
    std::optional<uint64_t> sum = checkedAdd(profile.naiveBytes, buffer.bytes);
    if (!sum || *sum > uint64_t(INT64_MAX))
      return overflow();
    if (!buffer.isLive)
      continue;
    profile.naiveBytes = *sum;
    for (LiveSegment segment : profile.ranges.getSegments(id))
      count(buffer.bytes, segment);
  }
  for (auto [point, bytes] : profile.transients) {
    std::optional<uint64_t> sum = checkedAdd(profile.naiveBytes, bytes);
    if (!sum || *sum > uint64_t(INT64_MAX))
      return overflow();
    profile.naiveBytes = *sum;
    count(bytes, {point, point});
  }
  profile.timeline.resize(size);
  int64_t live = 0;
  for (unsigned point = 0; point < size; ++point) {
    live += difference[point];
    profile.timeline[point] = live;
    if (profile.timeline[point] > profile.peakBytes) {
      profile.peakBytes = profile.timeline[point];
      profile.peakPoint = point;
    }
  }
  for (auto [id, buffer] : llvm::enumerate(profile.buffers))
    for (LiveSegment segment : profile.ranges.getSegments(id))
      if (segment.first <= profile.peakPoint &&
          profile.peakPoint <= segment.last)
        profile.breakdown[unsigned(buffer.role)] += buffer.bytes;
  profile.breakdown[unsigned(Role::Temporary)] +=
      profile.transients.lookup(profile.peakPoint);
  profile.largestOpBytes = getLargestOpBytes(profile);
  return success();
}

/// Lays all buffers out in one arena. Scratch memory takes part as a buffer
/// that is live at one point.
static void plan(MemoryProfile &profile, uint64_t alignment) {
  std::vector<PlannerBuffer> requests;
  std::vector<BufferId> ids;
  for (auto [id, buffer] : llvm::enumerate(profile.buffers)) {
    if (!buffer.isLive || buffer.bytes == 0)
      continue;
    requests.push_back({buffer.bytes, buffer.hull.first, buffer.hull.last});
    ids.push_back(id);
  }
  for (auto [point, bytes] : profile.transients)
    requests.push_back({bytes, point, point});
  Plan placed = planArena(requests, alignment);
  profile.arenaBytes = placed.arenaBytes;
  for (auto [id, offset] : llvm::zip(ids, placed.offsets))
    profile.buffers[id].offset = offset;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FailureOr<MemoryProfile> ModuleProfiler::profileAs(FunctionOpInterface func,
                                                   MemoryModel model) {
  BufferOptions bufferOptions;
  bufferOptions.model = model;
  bufferOptions.isDonated = options.isDonated;
  bufferOptions.returnedArguments = [&](Operation *call) {
    FunctionOpInterface target = resolve(call);
    auto it = callees.find(target);
    return it == callees.end() ? ReturnedArguments() : it->second.returned;
  };
  MemoryProfile profile;
  profile.assignment = BufferAssignment::compute(func, bufferOptions);
  profile.ranges = LiveRanges::compute(profile.assignment);
  if (failed(measure(profile)) || failed(addTransients(profile)) ||
      failed(accumulate(profile)))
    return failure();
  findUnknownTypes(profile);
  profile.signature = getSignatureBytes(profile, options.size);
  profile.temporaryPeakBytes = getTemporaryPeak(profile);
  plan(profile, options.size.alignment);
  return profile;
}

/// Fusing is a choice: it is not made where it does not help.
FailureOr<MemoryProfile> ModuleProfiler::profileOne(FunctionOpInterface func) {
  FailureOr<MemoryProfile> profile = profileAs(func, options.model);
  if (failed(profile) || options.model != MemoryModel::Fused)
    return profile;
  FailureOr<MemoryProfile> unfused = profileAs(func, MemoryModel::InPlace);
  if (succeeded(unfused) && unfused->peakBytes < profile->peakBytes)
    return unfused;
  return profile;
}

/// What nothing reads is there at every point, above everything else.
LogicalResult ModuleProfiler::addUnread(MemoryProfile &profile,
                                        FunctionOpInterface func) {
  for (auto [role, type] : options.unread) {
    llvm::Expected<uint64_t> bytes = getStorageBytes(type, options.size);
    if (!bytes && options.lowerBound) {
      llvm::consumeError(bytes.takeError());
      profile.hasUnknownSizes = true;
      continue;
    }
    if (!bytes)
      return func->emitError() << llvm::toString(bytes.takeError());
    std::optional<uint64_t> total = checkedAdd(profile.naiveBytes, *bytes);
    if (!total || *total > uint64_t(INT64_MAX))
      return func->emitError() << "the buffers of '@" << func.getName()
                               << "' exceed 64-bit sizes in total";
    profile.naiveBytes = *total;
    profile.peakBytes += *bytes;
    profile.arenaBytes += *bytes;
    profile.breakdown[unsigned(role)] += *bytes;
    for (uint64_t &live : profile.timeline)
      live += *bytes;
  }
  return success();
}

FailureOr<MemoryProfile> ModuleProfiler::profile(FunctionOpInterface func) {
  if (failed(profileCallees(func)))
    return failure();
  FailureOr<MemoryProfile> profile = profileOne(func);
  if (failed(profile) || failed(addUnread(*profile, func)))
    return failure();
  return profile;
}
