//===- Access.h - Where rule and store find their values --------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rule and store are written once, for elements in memory, in registers, or in
// the body of a linalg.generic.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_CONVERSION_ESTOVECTOR_ACCESS_H
#define ES_LIB_CONVERSION_ESTOVECTOR_ACCESS_H

#include "Kernel.h"
#include "es/Reference/NoiseVersion1.h"

namespace mlir::es::kernel {

class Access {
public:
  virtual ~Access() = default;
  /// A scalar f32 of the parameter, or of the step.
  virtual Value rowScalar(RowWord word) = 0;
  virtual Value stepScalar(StepWord word) = 0;
  /// The elements of a tensor of the row, in lanes. Floats of 16 bits are i16.
  virtual Value load(RowWord tensor, Type element) = 0;
  virtual void store(RowWord tensor, Value value) = 0;
  /// The sums, or samples, of the elements: f32 or integers.
  virtual Value sum() = 0;
  /// Sixteen random bits an element, i32.
  virtual Value random(noise::Purpose purpose) = 0;
};

/// Rule and store of the elements of lanes.
void emitApply(const Lanes &l, const Config &config, Access &access);

} // namespace mlir::es::kernel

#endif // ES_LIB_CONVERSION_ESTOVECTOR_ACCESS_H
