//===- Growth.cpp - How a peak grows with a size --------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The live bytes at each point of a step are a polynomial of the batch or of
// the length of a sequence; the peak is the upper envelope of these. Where its
// slope is zero, updates are the peak, and a larger batch costs nothing.
//
//===----------------------------------------------------------------------===//

#include "Growth.h"

#include "es/Dialect/ES/IR/ES.h"
#include "es/OpModel/RoleFacts.h"
#include "es/Report/MemoryReport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace mlir::es;

/// The first size above `from` at which `other` overtakes `point`.
static std::optional<double> findCrossing(const GrowingPoint &point,
                                          const GrowingPoint &other,
                                          double from) {
  double c = other.fixed - point.fixed, b = other.each - point.each,
         a = other.square - point.square;
  if (a == 0) {
    if (b <= 0 || -c / b <= from)
      return std::nullopt;
    return -c / b;
  }
  double discriminant = b * b - 4 * a * c;
  if (discriminant < 0)
    return std::nullopt;
  double root = std::sqrt(discriminant);
  // It is overtaken where the difference rises: at the right-hand root of a
  // parabola that opens upwards, at the left-hand one of another.
  double crossing = (-b + root) / (2 * a);
  return crossing > from ? std::optional(crossing) : std::nullopt;
}

Growth mlir::es::computeGrowth(ArrayRef<GrowingPoint> points, double size) {
  Growth growth;
  const GrowingPoint *peak = nullptr;
  for (const GrowingPoint &point : points) {
    growth.floor = std::max(growth.floor, point.fixed);
    // Among equals the steepest is the peak of the next larger size.
    if (!peak || std::make_pair(point.at(size), point.getSlope(size)) >
                     std::make_pair(peak->at(size), peak->getSlope(size)))
      peak = &point;
  }
  if (!peak)
    return growth;
  growth.each = peak->getSlope(size);
  growth.square = peak->square;
  for (const GrowingPoint &point : points) {
    std::optional<double> crossing = findCrossing(*peak, point, size);
    if (!crossing)
      continue;
    double slope = point.getSlope(*crossing);
    if (!growth.next || *crossing < *growth.next ||
        (*crossing == *growth.next && slope > growth.nextEach)) {
      growth.next = *crossing;
      growth.nextEach = slope;
    }
  }
  return growth;
}

std::vector<GrowingPoint> mlir::es::fitGrowth(ArrayRef<uint64_t> atSize,
                                              ArrayRef<uint64_t> atDouble,
                                              uint64_t size) {
  std::vector<GrowingPoint> points;
  for (auto [once, twice] : llvm::zip(atSize, atDouble)) {
    uint64_t grows = twice > once ? twice - once : 0;
    grows = std::min(grows, once);
    points.push_back({double(once - grows), double(grows) / size});
  }
  return points;
}

std::vector<GrowingPoint> mlir::es::fitGrowth(ArrayRef<uint64_t> once,
                                              ArrayRef<uint64_t> twice,
                                              ArrayRef<uint64_t> thrice,
                                              uint64_t size) {
  std::vector<GrowingPoint> points;
  for (auto [a, b, c] : llvm::zip(once, twice, thrice)) {
    // Newton's differences, in steps of `size`.
    double first = double(b) - double(a),
           second = (double(c) - double(b) - first) / 2;
    double square = second / size / size;
    double each = (first - 3 * second) / size;
    points.push_back({a - size * (each + size * square), each, square});
  }
  return points;
}

static bool isOfParameters(Role role) {
  switch (role) {
  case Role::FrozenParameter:
  case Role::TrainableParameter:
  case Role::Gradient:
  case Role::OptimizerState:
  case Role::Constant:
    return true;
  default:
    return false;
  }
}

/// Scalars have no dimension that could grow: losses, the number of a step.
static bool hasDimensions(Value value) {
  ShapedType shaped = getCarriedShape(value.getType());
  return shaped && (!shaped.hasRank() || shaped.getRank() > 0);
}

/// Values that depend on an input, other than by being the gradient of a
/// parameter.
static llvm::DenseSet<Value> findDependent(FunctionOpInterface step,
                                           function_ref<bool(Value)> isInput) {
  llvm::DenseSet<Value> dependent;
  for (BlockArgument argument : step.getArguments())
    if (hasDimensions(argument) && isInput(argument))
      dependent.insert(argument);
  step.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasAttr(kGradientOfAttrName))
      return;
    // Cotangents of equal elements have the shape of an activation.
    bool any =
        isa<SplatOp>(op) || llvm::any_of(op->getOperands(), [&](Value operand) {
          return dependent.contains(operand);
        });
    if (!any && op->getParentOp() == step)
      return;
    dependent.insert(op->result_begin(), op->result_end());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        dependent.insert(block.args_begin(), block.args_end());
  });
  return dependent;
}

std::vector<GrowingPoint>
mlir::es::splitByDependence(const MemoryProfile &profile,
                            FunctionOpInterface step,
                            function_ref<bool(Value)> isInput, uint64_t size) {
  llvm::DenseSet<Value> dependent = findDependent(step, isInput);
  std::vector<bool> grows(profile.buffers.size(), false);
  for (auto [value, id] : profile.assignment.getValues())
    if (id != kNoBuffer && hasDimensions(value) && dependent.contains(value))
      grows[id] = true;
  for (auto [operand, id] : profile.assignment.getCopies())
    if (dependent.contains(operand->get()))
      grows[id] = true;
  // Differences at the points where buffers begin and end.
  std::vector<int64_t> change(profile.timeline.size() + 1, 0);
  for (BufferId id = 0, e = profile.buffers.size(); id < e; ++id) {
    const ProfiledBuffer &buffer = profile.buffers[id];
    if (!buffer.isLive || (!isOfParameters(buffer.role) && grows[id]))
      continue;
    for (LiveSegment segment : profile.ranges.getSegments(id)) {
      change[segment.first] += buffer.bytes;
      change[segment.last + 1] -= buffer.bytes;
    }
  }
  const ProgramOrder &order = profile.assignment.getOrder();
  std::vector<GrowingPoint> points;
  int64_t fixed = 0;
  for (auto [point, bytes] : llvm::enumerate(profile.timeline)) {
    fixed += change[point];
    uint64_t still = fixed;
    // The temporaries of an update are of the size of parameters.
    if (!order.isEnd(point) && isa<OptimizerStepOp>(order.getOp(point)))
      still += profile.transients.lookup(point);
    still = std::min<uint64_t>(still, bytes);
    points.push_back({double(still), double(bytes - still) / size});
  }
  return points;
}

std::string mlir::es::describeGrowth(const Growth &growth) {
  std::string text = "the peak ";
  auto bytes = [](double each) { return formatBytes(std::llround(each)); };
  if (std::llround(growth.each) <= 0)
    text += "is on a plateau and does not grow";
  else if (growth.square > 0)
    text += "grows by " + bytes(growth.each) +
            " for the next one, and faster the larger it is (" +
            llvm::formatv("{0:f1}", growth.square).str() +
            " B times its square)";
  else
    text += "grows by " + bytes(growth.each) + " for each more";
  if (growth.next)
    text += ", from " + std::to_string(uint64_t(std::ceil(*growth.next))) +
            " on by " + bytes(growth.nextEach);
  if (std::llround(growth.floor) > 0)
    text += "; at least " + bytes(growth.floor) + " whatever its size";
  return text;
}

std::string mlir::es::describeGrowth(const GrowthReport &report) {
  /// At most this many dimensions that run together are named.
  constexpr size_t kMostNames = 3;
  std::string text = report.isBatch ? "growth: batch, " : "growth: ";
  ArrayRef<std::string> names(report.dimensions);
  text += llvm::join(names.take_front(kMostNames), ", ");
  if (names.size() > kMostNames)
    text += " and " + std::to_string(names.size() - kMostNames) + " more";
  text += " = " + std::to_string(report.size) + ": ";
  if (!report.unknown.empty())
    return text + "not known, as " + report.unknown;
  if (!report.isExact)
    text += "if equal sizes are the same dimension, ";
  if (report.growth)
    text += describeGrowth(*report.growth) + "; ";
  for (unsigned scale : {2, 3})
    text += (scale == 2 ? "" : ", ") + std::to_string(report.peaks[scale - 1]) +
            " B (" + formatBytes(report.peaks[scale - 1]) + ") at " +
            std::to_string(scale * report.size);
  return text;
}
