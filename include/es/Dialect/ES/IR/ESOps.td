//===- ESOps.td - Operations of the es dialect -------------*- tablegen -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPS_TD
#define ES_OPS_TD

include "es/Dialect/ES/IR/ESAttributes.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ES_ParamOp : ES_Op<"param", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues",
      "bufferize"]>]> {
  let summary = "a use of a parameter";
  let description = [{
    Marks `value` as a parameter. It is the identity on values and a view on
    memory: its result is the storage of its operand. Bufferization replaces it by
    that storage. `param` is checked as on arguments (see `#es.param`).

    Example:

    ```mlir
    func.func @f(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %w = es.param %arg0 <frozen "fc1.weight"> : tensor<4x4xf32>
      return %w : tensor<4x4xf32>
    }
    ```
  }];
  let arguments = (ins AnyShaped:$value, ES_ParamAttr:$param);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$value $param attr-dict `:` type($value)";
  let hasVerifier = 1;
}

#endif // ES_OPS_TD
