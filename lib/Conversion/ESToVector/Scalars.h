//===- Scalars.h - Scalars of an update, and its kernel ---------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is computed once a step, before any element.
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_CONVERSION_ESTOVECTOR_SCALARS_H
#define ES_LIB_CONVERSION_ESTOVECTOR_SCALARS_H

#include "Kernel.h"

#include <map>

namespace mlir::es::kernel {

/// What 1 of an integer parameter stands for: one scale, or one for each index
/// of an axis with `stride` elements from index to index.
struct Quantum {
  double scale = 1.0;
  std::optional<int64_t> axis;
  int64_t stride = 1;
  SmallVector<float> scales;
};
FailureOr<Quantum> getQuantum(Operation *op, ParamAttr param, ShapedType type);

/// The scales of an axis, constant `number` of the module.
LLVM::GlobalOp getScales(Operation *module, ImplicitLocOpBuilder &b,
                         const Quantum &quantum, unsigned number);

/// The kernel of a parameter whose states start at `firstState`; its name is
/// without the number of the update.
Config makeConfig(UpdateOp op, unsigned index, unsigned firstState,
                  const Quantum &quantum);
Config makeConfig(PerturbOp op, const Quantum &quantum);

/// The states of a parameter and what they are to the rule.
SmallVector<std::pair<RowWord, Value>> getStatesOf(UpdateOp op, unsigned index,
                                                   unsigned firstState);

/// The pair of a member, and sign times sigma.
struct MemberValues {
  Value pair, scale;
};
MemberValues getMember(ImplicitLocOpBuilder &b, PerturbOp op,
                       const Config &config, const Quantum &quantum);

/// The scalars of an update, for any of its parameters.
struct UpdateScalars {
  /// `coefficientAt` emits the f32 of a pair, of which there are `pairs`; null
  /// where only the device can read them.
  UpdateScalars(ImplicitLocOpBuilder &b, UpdateOp op, Value pairs,
                llvm::function_ref<Value(Value)> coefficientAt)
      : b(b), op(op), s(b, 1), pairs(pairs), coefficientAt(coefficientAt) {}

  ImplicitLocOpBuilder &b;
  UpdateOp op;
  Lanes s;
  Value pairs;
  llvm::function_ref<Value(Value)> coefficientAt;

  Value real(double value) { return s.real(value, s.f64()); }
  Value toF32(Value value) {
    return arith::TruncFOp::create(b, s.f32(), value);
  }
  Value getScale(double sigma, bool lowRank);
  Value getCorrection(double beta);
  Value getThreshold(bool lowRank);
  Value anyCoefficient();
  /// What a kernel reads of parameter `index`, and of the step.
  WordValues getRow(const Config &config, unsigned index,
                    const Quantum &quantum);
  WordValues getStep();

private:
  std::map<std::pair<double, bool>, Value> scales;
  std::map<bool, Value> thresholds;
  WordValues stepValues;
};

bool isMatrix(Value value);
std::string toString(Type type);

/// Kernels are functions of the module around the op, and are called.
LogicalResult checkPlace(Operation *op);
/// Lowerings to `what` take whole parameters, into memory of their own.
LogicalResult checkWhole(PerturbOp op, StringRef what);
/// Elements of a buffer have to follow each other in memory.
LogicalResult checkBuffer(Operation *op, Value value);
/// Says where floats of 16 bits are rounded to nearest.
void remarkOnNearest(UpdateOp op);
/// Lowers all ops of a step on buffers: `update` and `perturbation` those that
/// need kernels, es.step_key and es.shape_fitness as scalar code.
LogicalResult
lowerStepOps(Operation *root,
             llvm::function_ref<LogicalResult(UpdateOp)> update,
             llvm::function_ref<LogicalResult(Operation *)> perturbation);

} // namespace mlir::es::kernel

#endif // ES_LIB_CONVERSION_ESTOVECTOR_SCALARS_H
