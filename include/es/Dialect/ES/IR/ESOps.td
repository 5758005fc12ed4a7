//===- ESOps.td - Operations of the es dialect -------------*- tablegen -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPS_TD
#define ES_OPS_TD

include "es/Dialect/ES/IR/ESAttributes.td"
include "es/Dialect/ES/IR/ESGradientOps.td"
include "es/Dialect/ES/IR/ESStepOps.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def ES_ParamOp : ES_Op<"param", [Pure, AllTypesMatch<["value", "result"]>,
    DeclareOpInterfaceMethods<ViewLikeOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues",
      "bufferize"]>]> {
  let summary = "a use of a parameter";
  let description = [{
    Marks `value` as a parameter. It is the identity on values and a view on
    memory: its result is the storage of its operand. Bufferization replaces it
    by that storage. `param` is checked as on arguments (see `#es.param`).

    It is a use, not a definition: a parameter may have any number of them, so
    that a callee that holds one can be inlined twice. Folds never drop one that
    is read: of two in a row only a repetition folds, casts of static shapes move
    behind it, and it is no constant even if its operand is one, so that a
    parameter is not folded into the program.

    Example:

    ```mlir
    func.func @f(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %w = es.param %arg0 <frozen "fc1.weight"> : tensor<4x4xf32>
      return %w : tensor<4x4xf32>
    }
    ```
  }];
  let arguments = (ins AnyType:$value, ES_ParamAttr:$param);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value $param attr-dict `:` type($value)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // ES_OPS_TD
