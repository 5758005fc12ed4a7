//===- ESAttributes.td - Attributes of the es dialect ------*- tablegen -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_ATTRIBUTES_TD
#define ES_ATTRIBUTES_TD

include "es/Dialect/ES/IR/ESDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def ES_Trainability : I32Enum<"Trainability", "whether a parameter is trained", [
    I32EnumCase<"Trainable", 0, "trainable">,
    I32EnumCase<"Frozen", 1, "frozen">]> {
  let cppNamespace = "::mlir::es";
}

def ES_ParamAttr : AttrDef<ES_Dialect, "Param"> {
  let mnemonic = "param";
  let summary = "what is known of one parameter";
  let description = [{
    One entry of the module's parameter inventory. `id` addresses the noise of
    Evolution Strategies and is the FNV-1a hash of the name unless stated;
    `stored` is the element type the parameter is kept in, where it differs from
    the type it is computed with.

    Example:

    ```mlir
    func.func @f(%w: tensor<4x4xf32> {es.param = #es.param<frozen "fc1.weight", stored = i8>})
    ```
  }];
  let parameters = (ins
    EnumParameter<ES_Trainability>:$trainability,
    "::mlir::StringAttr":$name,
    OptionalParameter<"::mlir::IntegerAttr">:$id,
    OptionalParameter<"::mlir::Type">:$stored,
    OptionalParameter<"::mlir::FloatAttr">:$sigma,
    OptionalParameter<"::mlir::FloatAttr">:$lr);
  let assemblyFormat = [{
    `<` $trainability $name (`,` struct($id, $stored, $sigma, $lr)^)? `>`
  }];
}

#endif // ES_ATTRIBUTES_TD
