//===- Roles.cpp - What a buffer is for -----------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/Roles.h"

using namespace mlir::es;

llvm::StringRef mlir::es::stringifyRole(Role role) {
  static constexpr llvm::StringRef names[kNumRoles] = {"frozen_parameter",
                                                       "trainable_parameter",
                                                       "gradient",
                                                       "optimizer_state",
                                                       "perturbation",
                                                       "saved_activation",
                                                       "input",
                                                       "output",
                                                       "state",
                                                       "constant",
                                                       "temporary"};
  return names[static_cast<unsigned>(role)];
}
