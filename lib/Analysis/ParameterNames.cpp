//===- ParameterNames.cpp - What names and exporters say ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heuristics, in the order in which they are asked. Names are those that JAX,
// PyTorch, TensorFlow and ONNX exporters write. A file in which a name means
// something else is what --params and --inputs are for.
//
//===----------------------------------------------------------------------===//

#include "ParameterNames.h"
#include "es/OpModel/Donations.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace mlir::es;

std::string mlir::es::getLocationName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  // A fused location names what was fused; the first name is the value's own.
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (auto name = dyn_cast<NameLoc>(part))
        return name.getName().str();
  return "";
}

/// `[0, "mask"]`, the way through structures to an argument: `0.mask`.
static std::string joinPath(ArrayAttr path) {
  std::string name;
  for (Attribute part : path) {
    name += name.empty() ? "" : ".";
    if (auto text = dyn_cast<StringAttr>(part))
      name += text.getValue();
    else if (auto index = dyn_cast<IntegerAttr>(part))
      name += std::to_string(index.getInt());
  }
  return name;
}

std::string mlir::es::getNameFromMetadata(DictionaryAttr attributes) {
  if (!attributes)
    return "";
  for (StringRef key : {"onnx.name", "ttir.name", "jax.arg_info",
                        "ml_program.identifier", "torch.name"})
    if (auto name = attributes.getAs<StringAttr>(key))
      return name.str();
  if (auto variable =
          attributes.getAs<FlatSymbolRefAttr>("tf_saved_model.bound_input"))
    return variable.getValue().str();
  auto path = attributes.getAs<ArrayAttr>("tf_saved_model.index_path");
  if (path && llvm::any_of(path, llvm::IsaPred<StringAttr>))
    return joinPath(path);
  if (auto name = attributes.getAs<StringAttr>("tf._user_specified_name"))
    return name.str();
  return "";
}

std::string mlir::es::getNameFromResult(FunctionOpInterface func,
                                        unsigned index) {
  std::optional<uint64_t> result = getDeclaredResult(func, index);
  if (!result || *result >= func.getNumResults())
    return "";
  auto info = func.getResultAttrOfType<StringAttr>(*result, "jax.result_info");
  // An only result has no name of its own.
  return info && info.getValue() != "result" ? info.str() : "";
}

std::string mlir::es::getConstantName(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>("onnx_node_name"))
    return name.str();
  if (std::string name = getLocationName(op->getLoc()); !name.empty())
    return name;
  auto resource =
      dyn_cast_if_present<DenseResourceElementsAttr>(getConstantContents(op));
  if (!resource)
    return "";
  StringRef key = resource.getRawHandle().getKey();
  // What the printer leaves in place of large contents names nothing.
  return key == "__elided__" ? "" : key.str();
}

std::optional<Role> mlir::es::getRoleFromMetadata(DictionaryAttr attributes) {
  if (!attributes)
    return std::nullopt;
  if (Attribute kind = attributes.get("ttcore.argument_type")) {
    std::string text;
    llvm::raw_string_ostream(text) << kind;
    if (StringRef(text).contains("parameter"))
      return Role::TrainableParameter;
    if (StringRef(text).contains("constant"))
      return Role::Constant;
    if (StringRef(text).contains("input"))
      return Role::Input;
  }
  if (auto kind = attributes.getAs<StringAttr>("torch.kind")) {
    if (kind.getValue() == "parameter")
      return Role::TrainableParameter;
    if (kind.getValue() == "buffer")
      return Role::State;
    if (kind.getValue() == "input")
      return Role::Input;
  }
  if (attributes.get("tf_saved_model.bound_input"))
    return Role::TrainableParameter;
  return std::nullopt;
}

StringRef mlir::es::getPathOfMoment(StringRef name) {
  static const llvm::Regex moment("\\.(mu|nu|trace)(\\[.*)$");
  SmallVector<StringRef, 3> groups;
  return moment.match(name, &groups) ? groups[2] : StringRef();
}

std::optional<Role> mlir::es::getRoleFromName(StringRef name) {
  // opt_state[0].mu['dense']['kernel'] is no kernel, result[1][0].mu['w'] no w.
  static const llvm::Regex optimizer(
      "opt_state|exp_avg|momentum_buffer|\\.(mu|nu|trace)(\\[|$)");
  static const llvm::Regex state(
      "^b_|running_|cache|batch_stats|num_batches_tracked");
  static const llvm::Regex parameter(
      "(^|[^a-z])params|weight|bias|kernel|scale|embedding|^p_|lora_");
  static const llvm::Regex input(
      "^(batch|inputs?|tokens|x|labels?|targets?|lr|learning_rate|seed)"
      "($|[^a-z])");
  if (optimizer.match(name))
    return Role::OptimizerState;
  if (state.match(name))
    return Role::State;
  if (parameter.match(name))
    return Role::TrainableParameter;
  if (input.match(name))
    return Role::Input;
  return std::nullopt;
}
