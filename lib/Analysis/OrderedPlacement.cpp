//===- OrderedPlacement.cpp - Placement in a given order ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A segment tree over time. Each node keeps the union of the offset ranges that
// are taken at some time below it, and of those that are taken at all of its
// times: sorted, and joined where they touch, so that a few ranges stand for
// many buffers. What a buffer meets is the first kind on the O(log n) nodes its
// time consists of, and the second on the nodes above them.
//
// The lists are short where placements leave few gaps. They can grow with the
// number of buffers where they do not (many small buffers of unequal sizes that
// overlap in stairs), hence the limit.
//
//===----------------------------------------------------------------------===//

#include "OrderedPlacement.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::es;
using llvm::ArrayRef;

/// What it takes to go down the tree, in ranges looked at.
static constexpr uint64_t kStepsPerPlacement = 20;

namespace {

/// Offsets from `begin` to before `end`.
struct Range {
  uint64_t begin, end;
};

/// Disjoint ranges in order; those that touch are one.
using Ranges = std::vector<Range>;

class TimeTree {
public:
  explicit TimeTree(uint32_t numSections) {
    while (width < numSections)
      width *= 2;
    nodes.resize(2 * width);
  }

  /// Appends what is taken at some time between two sections, both included.
  void collect(uint32_t first, uint32_t last, Ranges &found);
  void insert(uint32_t first, uint32_t last, Range range);
  /// Ranges looked at or moved so far.
  uint64_t getSteps() const { return steps; }
  void addSteps(uint64_t more) { steps += more; }

private:
  struct Node {
    Ranges sometimes, always;
  };
  void add(Ranges &ranges, Range range);
  template <typename OnPart, typename OnAbove>
  void visit(uint32_t first, uint32_t last, OnPart onPart, OnAbove onAbove);

  uint32_t width = 1;
  /// Node 1 is the root, nodes 2i and 2i + 1 are below node i.
  std::vector<Node> nodes;
  uint64_t steps = 0;
};

} // namespace

/// The nodes that the interval consists of, and those above them.
template <typename OnPart, typename OnAbove>
void TimeTree::visit(uint32_t first, uint32_t last, OnPart onPart,
                     OnAbove onAbove) {
  uint32_t left = first + width, right = last + width + 1;
  for (; left < right; left /= 2, right /= 2) {
    if (left & 1)
      onPart(nodes[left++]);
    if (right & 1)
      onPart(nodes[--right]);
  }
  // Above the parts are exactly the nodes above both ends that are no part.
  auto isPart = [&](uint32_t node) {
    // The span of the node lies within the interval.
    uint32_t level = llvm::Log2_32(width) - llvm::Log2_32(node);
    uint32_t begin = (node << level) - width;
    return begin >= first && begin + (1u << level) - 1 <= last;
  };
  uint32_t low = first + width, high = last + width;
  for (; low > 0; low /= 2, high /= 2) {
    if (!isPart(low))
      onAbove(nodes[low]);
    if (high != low && !isPart(high))
      onAbove(nodes[high]);
  }
}

void TimeTree::collect(uint32_t first, uint32_t last, Ranges &found) {
  visit(
      first, last,
      [&](const Node &part) { llvm::append_range(found, part.sometimes); },
      [&](const Node &above) { llvm::append_range(found, above.always); });
  steps += found.size();
}

void TimeTree::insert(uint32_t first, uint32_t last, Range range) {
  visit(
      first, last,
      [&](Node &part) {
        add(part.sometimes, range);
        add(part.always, range);
      },
      [&](Node &above) { add(above.sometimes, range); });
}

void TimeTree::add(Ranges &ranges, Range range) {
  // The ranges that the new one meets or touches become one with it.
  auto begin = llvm::partition_point(
      ranges, [&](const Range &other) { return other.end < range.begin; });
  auto end = begin;
  for (; end != ranges.end() && end->begin <= range.end; ++end) {
    range.begin = std::min(range.begin, end->begin);
    range.end = std::max(range.end, end->end);
  }
  if (begin == end) {
    steps += ranges.end() - begin;
    ranges.insert(begin, range);
    return;
  }
  *begin = range;
  if (std::next(begin) != end) {
    steps += ranges.end() - begin;
    ranges.erase(std::next(begin), end);
  }
}

/// The offset of the smallest gap that fits, or that above all ranges.
static uint64_t findGap(Ranges &taken, uint64_t size, uint64_t alignment) {
  llvm::sort(taken, [](Range a, Range b) { return a.begin < b.begin; });
  uint64_t bottom = 0, best = 0, bestGap = ~0ull;
  for (const Range &range : taken) {
    if (range.begin >= bottom && range.begin - bottom >= size &&
        range.begin - bottom < bestGap) {
      best = bottom;
      bestGap = range.begin - bottom;
    }
    bottom = std::max(bottom, llvm::alignTo(range.end, alignment));
  }
  return bestGap == ~0ull ? bottom : best;
}

std::optional<Plan>
mlir::es::placeInOrder(ArrayRef<PlannerBuffer> buffers,
                       ArrayRef<std::pair<uint32_t, uint32_t>> sections,
                       ArrayRef<uint32_t> order, uint64_t alignment,
                       uint64_t &steps) {
  uint32_t numSections = 0;
  for (auto [first, last] : sections)
    numSections = std::max(numSections, last + 1);
  TimeTree tree(numSections);
  Plan plan;
  plan.offsets.resize(buffers.size());
  Ranges taken;
  for (uint32_t index : order) {
    uint64_t size = llvm::alignTo(buffers[index].size, alignment);
    if (size == 0)
      continue;
    auto [first, last] = sections[index];
    taken.clear();
    tree.collect(first, last, taken);
    uint64_t offset = findGap(taken, buffers[index].size, alignment);
    tree.insert(first, last, {offset, offset + size});
    tree.addSteps(kStepsPerPlacement);
    if (tree.getSteps() > steps)
      return std::nullopt;
    plan.offsets[index] = offset;
    plan.arenaBytes = std::max(plan.arenaBytes, offset + size);
  }
  steps -= tree.getSteps();
  return plan;
}
