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
    One entry of the parameter inventory: whether the parameter is trained, what
    it is called, and, where they differ from the defaults, its `id` (which
    addresses the noise of Evolution Strategies; the FNV-1a hash of the name
    unless stated), the element type it is `stored` in, and its own `sigma` and
    `lr`.

    Constraints:
    * (P1) the name is not empty
    * (P2) `id` is an i32
    * (P3) `stored` is an integer, float or quantised type
    * (P4) `sigma` and `lr` are positive
    * (P5) it annotates a tensor or memref of numbers, or a value of a dialect
      that is not linked in
    * (P6) `stored` fits the elements it is stored for: integers and quantised
      numbers for integers, no wider than they are; floats for complex numbers;
      a quantised type that expresses the element type, and whose axes and
      blocks are those of the tensor
    * (P7) on arguments of functions only

    Example:

    ```mlir
    func.func private @f(
      tensor<4x4xf32> {es.param = #es.param<frozen "fc1.weight", stored = i8>},
      tensor<4xf32> {es.param = #es.param<trainable "fc1.bias", id = 7 : i32, sigma = 1.0e-2 : f32>})
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
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The stated id, or the hash of the name.
    uint32_t getEffectiveId() const;
    /// Checks that `type` can be annotated with this attribute (P5, P6).
    ::mlir::LogicalResult verifyFor(
        ::mlir::Type type,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
  }];
}

#endif // ES_ATTRIBUTES_TD
