//===- Roles.h - What a buffer is for ---------------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every buffer has one role; the rows of a report are these roles, and they add
// up to the peak.
//
//===----------------------------------------------------------------------===//

#ifndef ES_ANALYSIS_ROLES_H
#define ES_ANALYSIS_ROLES_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace mlir::es {

enum class Role : uint8_t {
  FrozenParameter,
  TrainableParameter,
  Gradient,
  OptimizerState,
  Perturbation,
  SavedActivation,
  Input,
  Output,
  State,
  Constant,
  Temporary,
};
constexpr unsigned kNumRoles = 11;

/// The role's name in JSON: `frozen_parameter`, ...
llvm::StringRef stringifyRole(Role role);

} // namespace mlir::es

#endif // ES_ANALYSIS_ROLES_H
