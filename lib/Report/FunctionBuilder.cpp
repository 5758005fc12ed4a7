//===- Build.cpp - From analyses to report data ---------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionBuilder.h"
#include "Dimensions.h"
#include "ForwardBackward.h"
#include "PerDevice.h"
#include "Prepare.h"
#include "es/OpModel/Donations.h"
#include "es/OpModel/RoleFacts.h"
#include "es/Report/MemoryReport.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::es;

std::string mlir::es::printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string mlir::es::printLocation(Location loc) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    stream << file.getFilename().getValue() << ":" << file.getLine() << ":"
           << file.getColumn();
  else if (auto name = dyn_cast<NameLoc>(loc))
    stream << name.getName().getValue();
  else
    stream << loc;
  return text;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::optional<StepStorage> FunctionBuilder::lookUp(Value value) const {
  if (step) {
    auto it = step->storages.find(value);
    if (it == step->storages.end())
      return std::nullopt;
    return it->second;
  }
  const StorageInfo *info = inventory.lookup(value);
  if (!info)
    return std::nullopt;
  return StepStorage{info->role, info->getStoredType(), info->name};
}

std::string FunctionBuilder::nameOf(Value value, const ProgramOrder &order) {
  if (std::optional<StepStorage> storage = lookUp(value))
    return storage->name;
  if (auto name = dyn_cast<NameLoc>(value.getLoc()))
    return name.getName().str();
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (order.size() <= kManyPoints) {
    if (!names) {
      OpPrintingFlags flags;
      if (options.isVerified && options.shapes.empty())
        flags.assumeVerified();
      names = std::make_unique<AsmState>(step ? step->func : func, flags);
    }
    value.printAsOperand(stream, *names);
    return text;
  }
  if (Operation *def = value.getDefiningOp())
    stream << def->getName() << "@" << order.getBegin(def);
  else
    stream << "arg@" << order.getBlockBegin(value.getParentBlock());
  return text;
}

std::string FunctionBuilder::nameOf(const MemoryProfile &profile, BufferId id) {
  const Buffer &buffer = profile.assignment.getBuffers()[id];
  const ProgramOrder &order = profile.assignment.getOrder();
  if (buffer.root)
    return nameOf(buffer.root, order);
  return "copy of " + nameOf(buffer.copyFor->get(), order);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

static uint64_t countElements(Type type) {
  ShapedType shaped = getCarriedShape(type);
  return shaped && shaped.hasStaticShape() ? shaped.getNumElements() : 0;
}

void FunctionBuilder::summarizeParameters(FunctionReport &report) {
  ParameterSummary &summary = report.parameters;
  summary.rolesSource = stringifyRoleSource(inventory.getSource()).str();
  for (const StorageInfo &info : inventory.getStorages()) {
    report.roles.push_back({info.name, printType(info.getStoredType()),
                            stringifyRoleSource(info.source).str(), info.role,
                            info.isRead, info.isParameter()});
    if (!info.isParameter())
      continue;
    SizeOptions size = options.size;
    llvm::Expected<uint64_t> bytes =
        getStorageBytes(info.getStoredType(), size);
    if (!bytes) {
      llvm::consumeError(bytes.takeError());
      continue;
    }
    uint64_t elements = countElements(info.type);
    bool trainable = info.role == Role::TrainableParameter;
    ++summary.count;
    summary.elements += elements;
    summary.bytes += *bytes;
    (trainable ? summary.trainableElements : summary.frozenElements) +=
        elements;
    (trainable ? summary.trainableBytes : summary.frozenBytes) += *bytes;
  }
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

void FunctionBuilder::addBuffers(const MemoryProfile &profile,
                                 GraphReport &graph) {
  ArrayRef<Buffer> table = profile.assignment.getBuffers();
  std::vector<BufferId> live;
  members.clear();
  if (step)
    for (auto [value, id] : profile.assignment.getValues())
      members[id].push_back(value);
  for (BufferId id = 0, e = table.size(); id < e; ++id)
    for (LiveSegment segment : profile.ranges.getSegments(id))
      if (segment.first <= profile.peakPoint &&
          profile.peakPoint <= segment.last)
        live.push_back(id);
  llvm::sort(live, [&](BufferId a, BufferId b) {
    return std::make_pair(~profile.buffers[a].bytes, a) <
           std::make_pair(~profile.buffers[b].bytes, b);
  });
  for (BufferId id : live) {
    const ProfiledBuffer &buffer = profile.buffers[id];
    const Buffer &info = table[id];
    BufferRow row;
    row.name = nameOf(profile, id);
    row.role = buffer.role;
    row.type = printType(info.type);
    if (info.root)
      if (std::optional<StepStorage> storage = lookUp(info.root);
          storage && storage->stored)
        row.type = printType(storage->stored);
    row.bytes = buffer.bytes;
    row.logicalBytes = getLogicalBytes(profile, id);
    row.offset = buffer.offset;
    row.first = buffer.hull.first;
    row.last = buffer.hull.last;
    row.location = printLocation(
        info.root ? info.root.getLoc() : info.copyFor->getOwner()->getLoc());
    const ProgramOrder &order = profile.assignment.getOrder();
    if (buffer.role == Role::SavedActivation)
      row.why = explainSaved(profile, id);
    else if (!info.owned)
      row.why = info.isConstant ? "constant" : "owned by the caller";
    else if (order.size() && row.last < order.size())
      row.why = "read until " +
                order.getOp(row.last)->getName().getStringRef().str() + " at " +
                printLocation(order.getOp(row.last)->getLoc());
    graph.buffersAtPeak.push_back(std::move(row));
    if (graph.buffersAtPeak.size() >= options.top)
      break;
  }
}

void FunctionBuilder::addLiveRanges(const MemoryProfile &profile,
                                    GraphReport &graph) {
  for (auto [id, buffer] : llvm::enumerate(profile.buffers)) {
    ArrayRef<LiveSegment> segments = profile.ranges.getSegments(id);
    if (!buffer.isLive || segments.empty())
      continue;
    LiveRangeRow row;
    row.buffer = id;
    row.name = nameOf(profile, id);
    row.type = printType(profile.assignment.getBuffers()[id].type);
    row.role = buffer.role;
    row.bytes = buffer.bytes;
    row.offset = buffer.offset;
    for (LiveSegment segment : segments) {
      row.first = segment.first;
      row.last = segment.last;
      graph.liveRanges.push_back(row);
    }
  }
}

void FunctionBuilder::addUnknownTypes(const MemoryProfile &profile,
                                      GraphReport &graph) {
  for (const auto &[type, count] : profile.unknownTypes) {
    graph.exact = false;
    graph.notes.push_back((llvm::Twine(count) + " x type '" + printType(type) +
                           "' counts as nothing: its dialect is not known")
                              .str());
  }
}

void FunctionBuilder::addUnmatchedRules(const Inventory &with,
                                        GraphReport &graph) {
  for (const ParameterRule *rule : with.getUnmatched())
    graph.notes.push_back(
        (getRuleFlag(rule->kind) + "='" + rule->pattern + "' matches nothing")
            .str());
}

void FunctionBuilder::addNotes(const MemoryProfile &profile,
                               GraphReport &graph) {
  addUnknownTypes(profile, graph);
  for (const auto &[name, count] : profile.conservativeOps) {
    graph.exact = false;
    graph.notes.push_back(
        (llvm::Twine(count) + " x '" + name +
         "' treated conservatively: every operand read, every result new")
            .str());
  }
  addDonationUses(profile, graph);
  addDonations(profile, graph);
  if (size_t count = inventory.getMisplaced().size())
    graph.notes.push_back(
        (llvm::Twine(count) +
         " x 'es.param' on a computed value annotates nothing")
            .str());
  addUnmatchedRules(inventory, graph);
  llvm::append_range(graph.notes, getStepNotes(func));
  graph.exact &= !isStepGuessed(func);
  graph.notes.push_back("not counted: device context, library workspaces, "
                        "fragmentation of the allocator in use");
}

GraphReport FunctionBuilder::makeGraph(const MemoryProfile &profile,
                                       GraphKind kind) {
  GraphReport graph;
  graph.kind = stringifyGraphKind(kind).str();
  graph.peakBytes = profile.peakBytes;
  graph.arenaBytes = profile.arenaBytes;
  graph.naiveBytes = profile.naiveBytes;
  graph.largestOpBytes = profile.largestOpBytes;
  graph.signature = profile.signature;
  graph.temporaryPeakBytes = profile.temporaryPeakBytes;
  graph.breakdown = profile.breakdown;
  graph.peakIndex = profile.peakPoint;
  const ProgramOrder &order = profile.assignment.getOrder();
  if (order.size()) {
    Operation *op = order.getOp(profile.peakPoint);
    graph.peakName = op->getName().getStringRef().str();
    graph.peakLocation = printLocation(op->getLoc());
    if (!options.isTrial)
      remark::analysis(op->getLoc(),
                       remark::RemarkOpts::name("PeakMemory").category("es"))
          << remark::metric("PeakBytes", profile.peakBytes)
          << remark::metric("ArenaBytes", profile.arenaBytes);
  }
  if (options.timeline)
    graph.timeline = profile.timeline;
  addBuffers(profile, graph);
  addLogicalBytes(profile, graph);
  if (!options.liveRanges.empty())
    addLiveRanges(profile, graph);
  if (step)
    addTrainingNotes(profile, graph);
  else
    addNotes(profile, graph);
  return graph;
}

void FunctionBuilder::explain(const MemoryProfile &profile,
                              FunctionReport &report) {
  if (options.explain.empty())
    return;
  StringRef wanted = StringRef(options.explain);
  const ProgramOrder &order = profile.assignment.getOrder();
  ArrayRef<Buffer> table = profile.assignment.getBuffers();
  for (BufferId id = 0, e = table.size(); id < e; ++id) {
    std::string name = nameOf(profile, id);
    if (name != wanted && "%" + name != wanted)
      continue;
    const ProfiledBuffer &buffer = profile.buffers[id];
    report.explanation.push_back(
        name + ": " + spellRole(buffer.role) + ", " +
        printType(table[id].type) + ", " + std::to_string(buffer.bytes) +
        " B, live from point " + std::to_string(buffer.hull.first) + " to " +
        std::to_string(buffer.hull.last));
    std::vector<std::pair<unsigned, std::string>> uses;
    for (auto [value, owner] : profile.assignment.getValues()) {
      if (owner != id)
        continue;
      for (OpOperand &use : value.getUses()) {
        Operation *user = order.getPointOp(use.getOwner());
        uses.push_back(
            {order.getBegin(user), "  " + nameOf(value, order) + " used by " +
                                       user->getName().getStringRef().str() +
                                       " at " + printLocation(user->getLoc())});
      }
    }
    llvm::sort(uses);
    for (auto &[point, text] : uses)
      report.explanation.push_back(std::move(text));
    if (!table[id].owned && !table[id].isConstant)
      report.explanation.push_back("  kept by the caller; --donate='^" + name +
                                   "$' lets it die at its last use");
    return;
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool FunctionBuilder::hasDynamicBatch() {
  return llvm::any_of(func.getArgumentTypes(), [](Type type) {
    ShapedType shaped = getCarriedShape(type);
    return shaped && !isa<BaseMemRefType>(type) && shaped.hasRank() &&
           shaped.getRank() > 0 && shaped.isDynamicDim(0);
  });
}

/// Buffers with a leading dimension that no shape of an argument settled.
static unsigned countUnbound(const MemoryProfile &profile) {
  return llvm::count_if(profile.assignment.getBuffers(), [](const Buffer &b) {
    ShapedType type = b.isAlias ? ShapedType() : getCarriedShape(b.type);
    return type && type.hasRank() && type.getRank() > 0 && type.isDynamicDim(0);
  });
}

LogicalResult FunctionBuilder::computeInventory() {
  FailureOr<Inventory> computed =
      Inventory::compute(func, options.rules, &parameters);
  if (failed(computed))
    return failure();
  inventory = std::move(*computed);
  return success();
}

/// What to do about a dynamic dimension of a value of `func`.
static std::string getDynamicAdvice(FunctionOpInterface func) {
  DimensionNames names(func);
  if (names.isEmpty())
    return "no argument has a dynamic dimension, so that this one depends on "
           "data; '--unknown-sizes=lower-bound' counts it as nothing";
  return "bind it with '--shape=DIM:8', where DIM is one of " + names.list();
}

FailureOr<MemoryProfile>
FunctionBuilder::profile(SizeOptions size, ArrayRef<BlockArgument> donated) {
  ProfileOptions profileOptions;
  profileOptions.model = options.model;
  profileOptions.size = size;
  profileOptions.lowerBound = options.lowerBound;
  profileOptions.dynamicAdvice = getDynamicAdvice(func);
  profileOptions.isDonated = [&](BlockArgument argument) {
    if (llvm::is_contained(donated, argument))
      return true;
    const StorageInfo *info = step ? nullptr : inventory.lookup(argument);
    return info ? info->donated : isDonatedArgument(argument);
  };
  profileOptions.storageOf = [&](Value value) -> std::pair<Role, Type> {
    if (std::optional<StepStorage> storage = lookUp(value))
      return {storage->role, storage->stored};
    return {isa<BlockArgument>(value) ? Role::Input : Role::Constant, Type()};
  };
  if (!step)
    profileOptions.roles = getStepRoles(func);
  // What a loop carries may be a parameter too.
  else
    step->func->walk([&](LoopLikeOpInterface loop) {
      for (BlockArgument carried : loop.getRegionIterArgs())
        if (std::optional<StepStorage> storage = lookUp(carried))
          profileOptions.roles[carried] = storage->role;
    });
  for (const StorageInfo &info : inventory.getStorages())
    if (info.global && !info.value)
      profileOptions.unread.push_back({info.role, info.getStoredType()});
  return ModuleProfiler(profileOptions).profile(step ? step->func : func);
}

FailureOr<GraphReport> FunctionBuilder::buildAsIs(FunctionReport &report,
                                                  SizeOptions size) {
  graphSize = size;
  FailureOr<MemoryProfile> computed = profile(size);
  if (failed(computed))
    return failure();
  GraphReport graph =
      makeGraph(*computed, options.isGivenStep() ? GraphKind::Backprop
                                                 : GraphKind::Inference);
  graph.isLowerBound = computed->hasUnknownSizes;
  if (hasDynamicBatch() && !options.getBatch()) {
    std::string note = "batch 1 (the leading dimension is dynamic; bind it "
                       "with --shape): peak";
    for (uint64_t batch : {1, 8, 64}) {
      size.leadingDynamic = batch;
      FailureOr<MemoryProfile> other = profile(size);
      if (failed(other))
        return failure();
      note += (batch == 1 ? " " : ", ") + formatBytes(other->peakBytes) +
              " at batch " + std::to_string(batch);
    }
    graph.notes.insert(graph.notes.begin(), note);
  }
  if (unsigned count = options.getBatch() ? countUnbound(*computed) : 0)
    graph.notes.insert(graph.notes.begin(),
                       std::to_string(count) +
                           " values have a leading dimension that does not "
                           "follow from the arguments: counted as the batch");
  explain(*computed, report);
  return graph;
}

/// The batch that the report is about, if it is not stated; in words, too.
std::vector<std::string>
FunctionBuilder::assumeBatch(std::optional<uint64_t> &batch) const {
  std::vector<std::string> lines;
  if (leadingSize && !options.getBatch()) {
    batch = leadingSize;
    lines.push_back(
        "batch 1, as the leading dimension is dynamic (--shape=batch:N)");
  }
  for (const AssumedSize &symbol : assumed)
    if (symbol.func == func) {
      batch = symbol.size;
      lines.push_back(("batch " + Twine(symbol.size) +
                       ", the least that the file allows for '" +
                       symbol.symbol + "' (--shape=" + symbol.symbol + ":N)")
                          .str());
    }
  // Several sizes are no batch.
  if (lines.size() > 1)
    batch.reset();
  return lines;
}

FailureOr<FunctionReport> FunctionBuilder::build() {
  FunctionReport report;
  report.name = func.getName().str();
  summarizeParameters(report);
  SizeOptions size = options.size;
  // A batch that is given counts as itself wherever its shape does not follow;
  // if a leading dimension of an argument does not, it is none of the batch.
  if (hasDynamicBatch())
    leadingSize = options.getBatch() ? 0 : 1;
  else
    leadingSize = options.getBatch().value_or(0);
  size.leadingDynamic = leadingSize;
  std::vector<std::string> batch = assumeBatch(report.assumedBatch);
  for (GraphKind kind : options.graphs) {
    FailureOr<GraphReport> graph =
        kind == GraphKind::Inference || options.isGivenStep()
            ? buildAsIs(report, size)
        : kind == GraphKind::Backprop ? buildTraining(report, size, inventory)
                                      : buildEvolution(report, size);
    if (succeeded(graph))
      report.graphs.push_back(std::move(*graph));
    else if (kind == GraphKind::Inference || options.graphsAreExplicit)
      return failure();
  }
  if (failed(compareTrainableSets(report, size)))
    return failure();
  unsigned inputs =
      llvm::count_if(inventory.getStorages(), [](const StorageInfo &info) {
        return info.role == Role::Input;
      });
  report.assumptions.push_back("roles from " + report.parameters.rolesSource +
                               ": " + std::to_string(report.parameters.count) +
                               " parameters, " + std::to_string(inputs) +
                               " inputs (--params, --inputs, --print-roles)");
  llvm::append_range(report.assumptions, batch);
  if (inventory.isLoraOnly())
    report.assumptions.push_back(
        "only parameters named lora_ are trainable (--train)");
  report.assumptions.push_back(("memory model " +
                                stringifyMemoryModel(options.model) +
                                " (--memory-model)")
                                   .str());
  return report;
}
