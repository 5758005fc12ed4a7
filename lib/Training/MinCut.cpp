//===- MinCut.cpp - The cheapest set of values to keep --------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MinCut.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::es;

static constexpr unsigned kSource = 0, kSink = 1;
static constexpr unsigned kUnreached = std::numeric_limits<unsigned>::max();

static unsigned enter(unsigned node) { return 2 + 2 * node; }
static unsigned leave(unsigned node) { return 3 + 2 * node; }

void MinCut::connect(unsigned from, unsigned to, uint64_t capacity) {
  outgoing[from].push_back(edges.size());
  edges.push_back({to, capacity});
  outgoing[to].push_back(edges.size());
  edges.push_back({from, 0});
}

unsigned MinCut::addNode(uint64_t cost) {
  unsigned node = (outgoing.size() - 2) / 2;
  outgoing.resize(outgoing.size() + 2);
  connect(enter(node), leave(node), std::min(cost, kNever));
  return node;
}

void MinCut::addEdge(unsigned from, unsigned to) {
  connect(leave(from), enter(to), kNever);
}

void MinCut::addSource(unsigned node) { connect(kSource, enter(node), kNever); }

void MinCut::addSink(unsigned node) { connect(leave(node), kSink, kNever); }

/// Distances from the source; false if the sink is out of reach.
bool MinCut::layer() {
  level.assign(outgoing.size(), kUnreached);
  level[kSource] = 0;
  std::vector<unsigned> queue = {kSource};
  for (size_t head = 0; head < queue.size(); ++head)
    for (unsigned index : outgoing[queue[head]]) {
      const Edge &edge = edges[index];
      if (edge.capacity == 0 || level[edge.to] != kUnreached)
        continue;
      level[edge.to] = level[queue[head]] + 1;
      queue.push_back(edge.to);
    }
  return level[kSink] != kUnreached;
}

/// One more path along rising levels; what it carries. An explicit stack, since
/// paths may be as long as the program.
uint64_t MinCut::augment() {
  std::vector<unsigned> path;
  unsigned at = kSource;
  while (at != kSink) {
    bool advanced = false;
    for (unsigned &i = next[at]; i < outgoing[at].size(); ++i) {
      const Edge &edge = edges[outgoing[at][i]];
      if (edge.capacity == 0 || level[edge.to] != level[at] + 1)
        continue;
      path.push_back(outgoing[at][i]);
      at = edge.to;
      advanced = true;
      break;
    }
    if (advanced)
      continue;
    if (path.empty())
      return 0;
    // A dead end: back, and past the edge that led here.
    at = edges[path.back() ^ 1].to;
    path.pop_back();
    ++next[at];
  }
  uint64_t flow = kNever;
  for (unsigned index : path)
    flow = std::min(flow, edges[index].capacity);
  for (unsigned index : path) {
    edges[index].capacity -= flow;
    edges[index ^ 1].capacity += flow;
  }
  return flow;
}

std::vector<bool> MinCut::solve() {
  // Phases lengthen the shortest path; models need few.
  constexpr unsigned kMostPhases = 4096;
  for (unsigned phase = 0; phase < kMostPhases && layer(); ++phase) {
    next.assign(outgoing.size(), 0);
    while (uint64_t flow = augment())
      total += flow;
  }
  // What still reaches the sink lies behind the cut that is nearest to it.
  std::vector<std::vector<unsigned>> incoming(outgoing.size());
  for (unsigned from = 0; from < outgoing.size(); ++from)
    for (unsigned index : outgoing[from])
      if (edges[index].capacity > 0)
        incoming[edges[index].to].push_back(from);
  std::vector<bool> reaches(outgoing.size(), false);
  std::vector<unsigned> worklist = {kSink};
  reaches[kSink] = true;
  while (!worklist.empty()) {
    unsigned at = worklist.back();
    worklist.pop_back();
    for (unsigned from : incoming[at])
      if (!reaches[from]) {
        reaches[from] = true;
        worklist.push_back(from);
      }
  }
  std::vector<bool> removed;
  for (unsigned node = 0; 2 + 2 * node < outgoing.size(); ++node)
    removed.push_back(reaches[leave(node)] && !reaches[enter(node)]);
  return removed;
}
