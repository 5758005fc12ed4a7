//===- ESOps.td - Operations of the es dialect -------------*- tablegen -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPS_TD
#define ES_OPS_TD

include "es/Dialect/ES/IR/ESAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ES_ParamOp : ES_Op<"param", [Pure, SameOperandsAndResultType]> {
  let summary = "a use of a parameter";
  let description = [{
    Marks `value` as a parameter. It is the identity on values and a view on
    memory: its result is the storage of its operand.

    Example:

    ```mlir
    %w = es.param %arg0 <frozen "fc1.weight"> : tensor<4x4xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$value, ES_ParamAttr:$param);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$value $param attr-dict `:` type($value)";
}

#endif // ES_OPS_TD
