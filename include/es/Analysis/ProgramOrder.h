//===- ProgramOrder.h - Program points of a function ------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers the program points of a function. Every op is a point, in program
// order; an op whose regions are part of the program (a loop, a branch) has a
// second point behind its regions, where its results come into being. Regions
// that only describe one element (linalg.generic) have no points of their own.
//
// The values of the program are numbered in the same order, and the op model is
// asked once for each op: analyses keep what they know of values in vectors and
// read operands and facts by point, without looking anything up.
//
//===----------------------------------------------------------------------===//

#ifndef ES_ANALYSIS_PROGRAMORDER_H
#define ES_ANALYSIS_PROGRAMORDER_H

#include "es/OpModel/OpModel.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PointerIntPair.h"
#include <vector>

namespace mlir::es {

/// The number of a value, dense from 0 in program order.
using ValueNumber = unsigned;
constexpr ValueNumber kNoNumber = ~0u;

class ProgramOrder {
public:
  explicit ProgramOrder(FunctionOpInterface func);

  /// Number of program points.
  unsigned size() const { return points.size(); }
  Operation *getOp(unsigned point) const { return points[point].getPointer(); }
  /// True if `point` is the one behind the regions of its op.
  bool isEnd(unsigned point) const { return points[point].getInt(); }

  bool contains(Operation *op) const { return begins.contains(op); }
  unsigned getBegin(Operation *op) const { return begins.lookup(op); }
  /// The point behind the op's regions; its only point if it has none.
  unsigned getEnd(Operation *op) const;
  /// The same for the op that begins at `point`.
  unsigned getEndOfPoint(unsigned point) const {
    Operation *op = getOp(point);
    return op->getNumRegions() ? getEnd(op) : point;
  }
  /// `op`, or the innermost op around it that is a program point.
  Operation *getPointOp(Operation *op) const;
  /// First and last point inside a block that is part of the program.
  unsigned getBlockBegin(Block *block) const;
  unsigned getBlockEnd(Block *block) const;
  /// First and last point inside a region that is part of the program.
  std::pair<unsigned, unsigned> getSpan(Region &region) const;

  /// What the op model said of the op at `point` when the order was made.
  const OpFacts &getFacts(unsigned point) const {
    return distinctFacts[factsOf[point]];
  }

  /// By number: block arguments and results of the ops of the program.
  ArrayRef<Value> getValues() const { return values; }
  /// kNoNumber for a value that is not of the program.
  ValueNumber getNumber(Value value) const;
  /// The number of the first result of the op that begins at `point`.
  ValueNumber getFirstResult(unsigned point) const {
    return firstResults[point];
  }
  /// The numbers of the operands of the op at `point`.
  ArrayRef<ValueNumber> getOperands(unsigned point) const {
    return ArrayRef(operands).slice(
        firstOperands[point], firstOperands[point + 1] - firstOperands[point]);
  }

private:
  void walk(FunctionOpInterface func);
  void addBlock(Block *block);
  void addPoint(Operation *op, bool isEnd);
  unsigned intern(OpFacts facts);
  void numberOperands();

  std::vector<llvm::PointerIntPair<Operation *, 1, bool>> points;
  llvm::DenseMap<Operation *, unsigned> begins;
  llvm::DenseMap<Operation *, unsigned> ends;
  /// Indices into `distinctFacts` by point: few facts differ.
  std::vector<unsigned> factsOf;
  std::vector<OpFacts> distinctFacts;
  llvm::DenseMap<unsigned, SmallVector<unsigned, 1>> factsByHash;
  std::vector<Value> values;
  std::vector<ValueNumber> firstResults;
  struct Arguments {
    ValueNumber first;
    unsigned count;
  };
  llvm::DenseMap<Block *, Arguments> arguments;
  std::vector<unsigned> firstOperands;
  std::vector<ValueNumber> operands;
};

} // namespace mlir::es

#endif // ES_ANALYSIS_PROGRAMORDER_H
