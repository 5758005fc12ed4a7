//===- test-es-plan.cpp - The arena planner by itself ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   test-es-plan FILE...      plans instances of lines `id,lower,upper,size`,
//                             upper excluded; prints the arena beside the bound
//   test-es-plan --random=N   checks N small random instances against an
//                             exhaustive search and the definition of overlap
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/ArenaPlanner.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <random>

using namespace mlir::es;
using llvm::ArrayRef;
using llvm::StringRef;

namespace cl = llvm::cl;

static cl::list<std::string> files(cl::Positional, cl::desc("FILE..."));
static cl::opt<unsigned> count("random", cl::desc("random instances to check"));
static cl::opt<unsigned> seed("seed", cl::desc("of the random instances"),
                              cl::init(1));

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Fails on the first line that is none of four numbers, the header aside.
static std::optional<std::vector<PlannerBuffer>> parse(StringRef text) {
  std::vector<PlannerBuffer> buffers;
  StringRef line;
  std::tie(line, text) = text.split('\n');
  while (!text.empty()) {
    std::tie(line, text) = text.split('\n');
    llvm::SmallVector<StringRef> cells;
    line.trim().split(cells, ',');
    if (line.trim().empty())
      continue;
    uint32_t lower, upper;
    uint64_t size;
    if (cells.size() < 4 || cells[1].trim().getAsInteger(10, lower) ||
        cells[2].trim().getAsInteger(10, upper) ||
        cells[3].trim().getAsInteger(10, size) || upper <= lower)
      return std::nullopt;
    buffers.push_back({size, lower, upper - 1});
  }
  return buffers;
}

static bool planFile(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  std::optional<std::vector<PlannerBuffer>> buffers;
  if (file)
    buffers = parse((*file)->getBuffer());
  if (!buffers) {
    llvm::errs() << "error: '" << path << "' is no planner instance\n";
    return false;
  }
  auto start = std::chrono::steady_clock::now();
  Plan plan = planArena(*buffers);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  uint64_t bound = getMaxLiveBytes(*buffers);
  if (!isValidPlan(*buffers, plan) || plan.arenaBytes < bound) {
    llvm::errs() << "error: the plan of '" << path << "' is not valid\n";
    return false;
  }
  llvm::outs() << llvm::sys::path::filename(path) << "," << buffers->size()
               << "," << bound << "," << plan.arenaBytes << ","
               << llvm::format("%.4f",
                               100.0 * (double(plan.arenaBytes) / bound - 1))
               << "," << llvm::format("%.3f", seconds.count()) << "\n";
  return true;
}

//===----------------------------------------------------------------------===//
// Random instances
//===----------------------------------------------------------------------===//

static bool meet(const PlannerBuffer &a, const PlannerBuffer &b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Every pair, by the definition.
static bool hasOverlap(ArrayRef<PlannerBuffer> buffers, const Plan &plan) {
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (meet(buffers[i], buffers[j]) &&
          plan.offsets[i] < plan.offsets[j] + buffers[j].size &&
          plan.offsets[j] < plan.offsets[i] + buffers[i].size)
        return true;
  return false;
}

/// The bytes at each point, added up one by one.
static uint64_t countLiveBytes(ArrayRef<PlannerBuffer> buffers) {
  uint64_t most = 0;
  for (const PlannerBuffer &at : buffers) {
    uint64_t live = 0;
    for (const PlannerBuffer &other : buffers)
      if (other.first <= at.first && at.first <= other.last)
        live += other.size;
    most = std::max(most, live);
  }
  return most;
}

namespace {
/// The smallest arena. In the order of its offsets, putting each buffer as low
/// as it goes gives an arena no larger than a given one: so it is enough to try
/// all orders.
class Exhaustive {
public:
  Exhaustive(ArrayRef<PlannerBuffer> buffers, uint64_t alignment)
      : buffers(buffers), alignment(alignment), offsets(buffers.size(), kNone) {
  }
  uint64_t run() {
    place(0, 0);
    return best;
  }

private:
  static constexpr uint64_t kNone = ~0ull;

  uint64_t getLowest(size_t index) const {
    // The lowest place starts at 0 or where another buffer ends.
    uint64_t lowest = kNone;
    auto consider = [&](uint64_t offset) {
      for (size_t i = 0; i < buffers.size(); ++i)
        if (offsets[i] != kNone && meet(buffers[i], buffers[index]) &&
            offset < offsets[i] + buffers[i].size &&
            offsets[i] < offset + buffers[index].size)
          return;
      lowest = std::min(lowest, offset);
    };
    consider(0);
    for (size_t i = 0; i < buffers.size(); ++i)
      if (offsets[i] != kNone)
        consider(llvm::alignTo(offsets[i] + buffers[i].size, alignment));
    return lowest;
  }

  void place(size_t depth, uint64_t top) {
    if (top >= best)
      return;
    if (depth == buffers.size()) {
      best = top;
      return;
    }
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (offsets[i] != kNone)
        continue;
      offsets[i] = getLowest(i);
      place(depth + 1, std::max(top, llvm::alignTo(offsets[i] + buffers[i].size,
                                                   alignment)));
      offsets[i] = kNone;
    }
  }

  ArrayRef<PlannerBuffer> buffers;
  uint64_t alignment;
  std::vector<uint64_t> offsets;
  uint64_t best = kNone;
};
} // namespace

/// A few sizes or many, short times or long, all of them or few at once.
static std::vector<PlannerBuffer> makeInstance(std::mt19937 &random,
                                               unsigned most) {
  auto pick = [&](uint32_t low, uint32_t high) -> uint32_t {
    return low + random() % (high - low + 1);
  };
  unsigned number = pick(1, most), times = pick(1, 3 * most);
  unsigned longest = pick(1, times), sizes = 1u << pick(0, 10);
  std::vector<PlannerBuffer> buffers;
  for (unsigned i = 0; i < number; ++i) {
    unsigned first = pick(0, times);
    buffers.push_back({pick(1, sizes), first, first + pick(0, longest)});
  }
  return buffers;
}

static bool fail(ArrayRef<PlannerBuffer> buffers, const char *why) {
  llvm::errs() << "error: " << why << "\nid,lower,upper,size\n";
  for (auto [index, buffer] : llvm::enumerate(buffers))
    llvm::errs() << index << "," << buffer.first << "," << buffer.last + 1
                 << "," << buffer.size << "\n";
  return false;
}

/// 0 and 1 count the instances that were searched, and those planned as well.
static bool checkInstance(std::mt19937 &random, unsigned (&found)[2]) {
  bool isSmall = random() % 4 != 0;
  uint64_t alignment = 1u << (random() % 3 * 3);
  std::vector<PlannerBuffer> buffers = makeInstance(random, isSmall ? 7 : 60);
  Plan plan = planArena(buffers, alignment);
  if (hasOverlap(buffers, plan))
    return fail(buffers, "buffers overlap");
  if (!isValidPlan(buffers, plan))
    return fail(buffers, "isValidPlan refuses a plan without overlap");
  for (auto [buffer, offset] : llvm::zip(buffers, plan.offsets)) {
    if (offset % alignment)
      return fail(buffers, "an offset is not aligned");
    if (offset + buffer.size > plan.arenaBytes)
      return fail(buffers, "a buffer ends beyond the arena");
  }
  uint64_t live = countLiveBytes(buffers);
  if (getMaxLiveBytes(buffers) != live)
    return fail(buffers, "the bound is not the most bytes live at once");
  if (plan.arenaBytes < live)
    return fail(buffers, "the arena is smaller than what is live at once");
  if (!isSmall)
    return true;
  uint64_t optimum = Exhaustive(buffers, alignment).run();
  if (plan.arenaBytes < optimum)
    return fail(buffers, "the arena is smaller than the optimum");
  ++found[0];
  found[1] += plan.arenaBytes == optimum;
  return true;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "plans arenas\n");
  for (StringRef path : files)
    if (!planFile(path))
      return 1;
  std::mt19937 random(seed);
  unsigned found[2] = {0, 0};
  for (unsigned i = 0; i < count; ++i)
    if (!checkInstance(random, found))
      return 1;
  if (count)
    llvm::outs() << count << " instances, " << found[0]
                 << " of them searched, optimum found in " << found[1] << "\n";
  return 0;
}
