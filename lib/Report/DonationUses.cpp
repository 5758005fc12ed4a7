//===- DonationUses.cpp - What becomes of donated arguments ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The caller gives a donated argument away. That pays if its memory is written
// again (by the result it is declared to become, or by anything else), and, in
// a runtime that frees arguments, if it dies before the function ends.
//
//===----------------------------------------------------------------------===//

#include "FunctionBuilder.h"
#include "es/OpModel/Donations.h"

using namespace mlir;
using namespace mlir::es;

namespace {
class DonationUses {
public:
  DonationUses(const MemoryProfile &profile,
               function_ref<std::string(Value)> nameOf);

  DonationRow describe(BlockArgument argument) const;

private:
  /// The result that is in the argument's memory.
  std::optional<unsigned> getReturned(BlockArgument argument) const;
  /// A result of as many bytes, the declared one or one of the same type first.
  std::optional<uint64_t> getCandidate(BlockArgument argument) const;
  /// The first op that writes the memory of the argument again.
  Operation *getWriter(BlockArgument argument) const;
  BufferId getResultBuffer(unsigned index) const;
  /// Why the memory of the argument is not that of a result.
  std::string explainNoResult(BlockArgument argument) const;
  std::string spell(unsigned point) const;

  const MemoryProfile &profile;
  const BufferAssignment &assignment;
  const ProgramOrder &order;
  FunctionOpInterface func;
  function_ref<std::string(Value)> nameOf;
  ReturnedArguments returned;
  /// The op that returns; null if there are several.
  Operation *terminator = nullptr;
};
} // namespace

DonationUses::DonationUses(const MemoryProfile &profile,
                           function_ref<std::string(Value)> nameOf)
    : profile(profile), assignment(profile.assignment),
      order(assignment.getOrder()), func(assignment.getFunction()),
      nameOf(nameOf), returned(assignment.getReturnedArguments()) {
  unsigned count = 0;
  for (Block &block : func.getFunctionBody())
    if (!block.empty() && block.back().hasTrait<OpTrait::ReturnLike>()) {
      terminator = &block.back();
      ++count;
    }
  if (count > 1)
    terminator = nullptr;
}

std::string DonationUses::spell(unsigned point) const {
  Operation *op = order.getOp(point);
  return op->getName().getStringRef().str() + " at " +
         printLocation(op->getLoc());
}

std::optional<unsigned>
DonationUses::getReturned(BlockArgument argument) const {
  std::optional<uint64_t> declared =
      getDeclaredResult(func, argument.getArgNumber());
  std::optional<unsigned> first;
  for (auto [index, source] : llvm::enumerate(returned)) {
    if (source != argument.getArgNumber())
      continue;
    if (declared == index)
      return index;
    if (!first)
      first = index;
  }
  return first;
}

BufferId DonationUses::getResultBuffer(unsigned index) const {
  if (!terminator || index >= terminator->getNumOperands())
    return kNoBuffer;
  OpOperand &operand = terminator->getOpOperand(index);
  BufferId handed = assignment.getHandedOver(operand);
  return handed != kNoBuffer ? handed : assignment.getBuffer(operand.get());
}

std::optional<uint64_t>
DonationUses::getCandidate(BlockArgument argument) const {
  if (std::optional<uint64_t> declared =
          getDeclaredResult(func, argument.getArgNumber()))
    return declared;
  uint64_t bytes = profile.buffers[assignment.getBuffer(argument)].bytes;
  if (!terminator)
    return std::nullopt;
  std::optional<unsigned> first;
  for (auto [index, type] : llvm::enumerate(terminator->getOperandTypes())) {
    BufferId buffer = getResultBuffer(index);
    if (buffer == kNoBuffer || profile.buffers[buffer].bytes != bytes)
      continue;
    if (type == argument.getType())
      return index;
    if (!first)
      first = index;
  }
  return first;
}

Operation *DonationUses::getWriter(BlockArgument argument) const {
  BufferId memory = assignment.getBuffer(argument);
  Operation *first = nullptr;
  for (Value value : order.getValues()) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || assignment.getBuffer(value) != memory)
      continue;
    Operation *op = result.getOwner();
    unsigned number = result.getResultNumber();
    const OpFacts &facts = order.getFacts(order.getBegin(op));
    bool isView = number < facts.results.size() &&
                  facts.results[number].kind == ResultKind::View;
    if (!isView && (!first || order.getBegin(op) < order.getBegin(first)))
      first = op;
  }
  return first;
}

std::string DonationUses::explainNoResult(BlockArgument argument) const {
  BufferId memory = assignment.getBuffer(argument);
  uint64_t bytes = profile.buffers[memory].bytes;
  std::optional<uint64_t> candidate = getCandidate(argument);
  if (!candidate)
    return "no result has its size";
  std::string result = "result " + std::to_string(*candidate);
  if (*candidate >= returned.size())
    return "there is no " + result + " for it to become";
  BufferId buffer = getResultBuffer(*candidate);
  if (buffer == kNoBuffer)
    return result + " depends on the path taken";
  if (uint64_t other = profile.buffers[buffer].bytes; other != bytes)
    return result + " takes " + std::to_string(other) + " B";
  const Buffer &info = assignment.getBuffers()[buffer];
  if (auto other = dyn_cast_if_present<BlockArgument>(info.root);
      other && other.getOwner() == argument.getOwner())
    return result + " is in the memory of " + nameOf(other);
  unsigned last = profile.ranges.getHull(memory).last;
  unsigned begin = profile.ranges.getHull(buffer).first;
  if (begin > last)
    return result + " is begun only after that, by " + spell(begin);
  if (begin == last)
    return "that op writes " + result + " while it reads";
  return result + " is begun before that, by " + spell(begin);
}

DonationRow DonationUses::describe(BlockArgument argument) const {
  BufferId memory = assignment.getBuffer(argument);
  DonationRow row;
  row.argument = nameOf(argument);
  row.bytes = profile.buffers[memory].bytes;
  if (std::optional<unsigned> result = getReturned(argument)) {
    row.outcome = DonationOutcome::Reused;
    row.result = result;
    row.why = "result " + std::to_string(*result) + " is in its memory" +
              (terminator ? "" : " on some path");
    return row;
  }
  if (Operation *writer = getWriter(argument)) {
    row.outcome = DonationOutcome::Reused;
    row.why = "written again by " + spell(order.getBegin(writer)) + "; " +
              explainNoResult(argument);
    return row;
  }
  if (argument.use_empty()) {
    row.outcome = DonationOutcome::Freed;
    row.why = "nothing reads it; " + explainNoResult(argument);
    return row;
  }
  unsigned last = profile.ranges.getHull(memory).last;
  // Behind the last op there is only the return.
  bool isEarly = last + 2 < order.size();
  row.outcome = isEarly ? DonationOutcome::Freed : DonationOutcome::Unused;
  row.why = "read until " + spell(last) + "; " + explainNoResult(argument);
  return row;
}

void FunctionBuilder::addDonationUses(const MemoryProfile &profile,
                                      GraphReport &graph) {
  const BufferAssignment &assignment = profile.assignment;
  auto name = [&](Value value) {
    return nameOf(value, profile.assignment.getOrder());
  };
  DonationUses uses(profile, name);
  for (BlockArgument argument : func.getArguments())
    if (BufferId id = assignment.getBuffer(argument);
        id != kNoBuffer && assignment.getBuffers()[id].root == argument &&
        assignment.getBuffers()[id].owned)
      graph.donations.push_back(uses.describe(argument));
  // What was given away in vain comes first, the largest of it before others.
  llvm::stable_sort(graph.donations, [](auto &a, auto &b) {
    return std::make_pair(a.outcome, a.bytes) >
           std::make_pair(b.outcome, b.bytes);
  });
}

StringRef mlir::es::stringifyDonationOutcome(DonationOutcome outcome) {
  switch (outcome) {
  case DonationOutcome::Unused:
    return "unused";
  case DonationOutcome::Freed:
    return "freed";
  case DonationOutcome::Reused:
    return "reused";
  }
  llvm_unreachable("covered above");
}
