//===- Donations.cpp - What donating an argument would save ---------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An argument that is returned updated counts twice unless the caller gives it
// away. Beside that number stands the one with the argument donated, from a
// profile of its own.
//
//===----------------------------------------------------------------------===//

#include "FunctionBuilder.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace mlir::es;

/// At most this many arguments are donated one by one, the largest first; then
/// all of them.
static constexpr unsigned kMostDonations = 4;

/// Arguments that reach a result of their own type: donating them would let the
/// update happen in place.
static SmallVector<BlockArgument>
getStateCandidates(const MemoryProfile &profile) {
  SmallVector<BlockArgument> candidates;
  for (const auto &[operand, id] : profile.assignment.getCopies()) {
    BufferId source = profile.assignment.getBuffer(operand->get());
    if (source == kNoBuffer)
      continue;
    auto argument = dyn_cast_if_present<BlockArgument>(
        profile.assignment.getBuffers()[source].root);
    if (argument && !profile.assignment.getBuffers()[source].owned &&
        profile.buffers[id].role == Role::Output &&
        argument.getType() == operand->get().getType())
      candidates.push_back(argument);
  }
  llvm::sort(candidates, [](BlockArgument a, BlockArgument b) {
    return a.getArgNumber() < b.getArgNumber();
  });
  candidates.erase(llvm::unique(candidates), candidates.end());
  return candidates;
}

/// What donating `arguments` comes to: the graph is profiled again.
void FunctionBuilder::addDonation(ArrayRef<BlockArgument> arguments,
                                  const MemoryProfile &profile,
                                  GraphReport &graph) {
  std::string names;
  for (BlockArgument argument : arguments)
    names += (names.empty() ? "" : "|") +
             llvm::Regex::escape(inventory.lookup(argument)->name);
  ScopedDiagnosticHandler quiet(func->getContext(),
                                [](Diagnostic &) { return success(); });
  FailureOr<MemoryProfile> donated = this->profile(graphSize, arguments);
  if (failed(donated) || donated->peakBytes > profile.peakBytes)
    return;
  std::string what = inventory.lookup(arguments.front())->name;
  if (arguments.size() > 1) {
    what = "all " + std::to_string(arguments.size());
    names = "(" + names + ")";
  }
  std::string text = "donate " + what + " (--donate='^" + names + "$'): ";
  if (uint64_t saved = profile.peakBytes - donated->peakBytes)
    text += "saves " + std::to_string(saved) + " B (" + formatBytes(saved) +
            "): peak " + std::to_string(donated->peakBytes) + " B instead of " +
            std::to_string(profile.peakBytes) + " B";
  else
    text += "saves nothing: the peak of " + std::to_string(profile.peakBytes) +
            " B is elsewhere";
  graph.notes.push_back(std::move(text));
}

void FunctionBuilder::addDonations(const MemoryProfile &profile,
                                   GraphReport &graph) {
  SmallVector<BlockArgument> candidates = getStateCandidates(profile);
  llvm::erase_if(candidates, [&](BlockArgument argument) {
    return !inventory.lookup(argument);
  });
  if (candidates.empty() || options.isTrial || options.sweep)
    return;
  auto getBytes = [&](BlockArgument argument) {
    return profile.buffers[profile.assignment.getBuffer(argument)].bytes;
  };
  SmallVector<BlockArgument> singles = candidates;
  llvm::stable_sort(singles, [&](BlockArgument a, BlockArgument b) {
    return getBytes(a) > getBytes(b);
  });
  if (singles.size() > kMostDonations)
    singles.truncate(kMostDonations);
  // A graph of a million ops is not analysed again for a note.
  if (profile.assignment.getOrder().size() > kManyPoints) {
    for (BlockArgument argument : singles) {
      StringRef name = inventory.lookup(argument)->name;
      graph.notes.push_back(("donate " + name + " (--donate='^" +
                             llvm::Regex::escape(name) + "$'): saves at most " +
                             llvm::Twine(getBytes(argument)) + " B")
                                .str());
    }
    return;
  }
  for (BlockArgument argument : singles)
    addDonation(argument, profile, graph);
  if (candidates.size() > 1)
    addDonation(candidates, profile, graph);
}
