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
//===----------------------------------------------------------------------===//

#ifndef ES_ANALYSIS_PROGRAMORDER_H
#define ES_ANALYSIS_PROGRAMORDER_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PointerIntPair.h"
#include <vector>

namespace mlir::es {

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
  /// `op`, or the innermost op around it that is a program point.
  Operation *getPointOp(Operation *op) const;
  /// First and last point inside a block that is part of the program.
  unsigned getBlockBegin(Block *block) const;
  unsigned getBlockEnd(Block *block) const;
  /// First and last point inside a region that is part of the program.
  std::pair<unsigned, unsigned> getSpan(Region &region) const;

private:
  std::vector<llvm::PointerIntPair<Operation *, 1, bool>> points;
  llvm::DenseMap<Operation *, unsigned> begins;
  llvm::DenseMap<Operation *, unsigned> ends;
};

} // namespace mlir::es

#endif // ES_ANALYSIS_PROGRAMORDER_H
