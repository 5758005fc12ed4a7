//===- ParameterNames.h - What names and exporters say ----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_LIB_ANALYSIS_PARAMETERNAMES_H
#define ES_LIB_ANALYSIS_PARAMETERNAMES_H

#include "es/Analysis/Roles.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::es {

/// The name a location carries, or "" if it is a file position.
std::string getLocationName(Location loc);

/// The name an exporter wrote on an argument, or "".
std::string getNameFromMetadata(DictionaryAttr attributes);

/// What JAX says of the result that a donated argument becomes
/// (`jax.result_info = "result[0]['w']"`), or "".
std::string getNameFromResult(FunctionOpInterface func, unsigned index);

/// The name of a constant: its location's, its resource's, or "".
std::string getConstantName(Operation *op);

/// What the argument attributes of exporters say.
std::optional<Role> getRoleFromMetadata(DictionaryAttr attributes);

/// What a name says: `params`, `weight`, ... are parameters.
std::optional<Role> getRoleFromName(llvm::StringRef name);

/// The path behind the field of an optimizer's state in which JAX libraries keep
/// a moment, `['w']` of `opt_state[0].mu['w']`; "" for another name.
llvm::StringRef getPathOfMoment(llvm::StringRef name);

} // namespace mlir::es

#endif // ES_LIB_ANALYSIS_PARAMETERNAMES_H
