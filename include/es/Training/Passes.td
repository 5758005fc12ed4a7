//===- Passes.td - Passes that build training graphs -------*- tablegen -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TRAINING_PASSES_TD
#define ES_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def BuildTrainingGraph : Pass<"es-build-training-graph", "::mlir::ModuleOp"> {
  let summary = "add the training step of a function";
  let description = [{
    Adds to each public function with a body, or to the one that `entry` names, a
    function `NAME.training_step`: the model, a loss, the gradients of its
    trainable parameters as `es.vjp` ops, and an `es.optimizer_step` for each. A
    frozen parameter has no gradient and no state, and an op that no trainable
    parameter reaches has no `es.vjp`. Calls of private functions are inlined
    first. Parameters and states are donated
    arguments; a loss that is assumed on the model's output brings an argument
    for its labels.

    Options are those of the memory report that concern training (`loss`,
    `optimizer`, `optimizer-impl`, `grad-dtype`, ...), its rules (`params`,
    `inputs`, `train`, `freeze`), and `eager`, which makes one gradient op for
    all operands and keeps everything as frameworks do that run op by op.

    Fails if nothing is trainable, if the loss depends on no trainable parameter,
    or if something on the way cannot be differentiated.

    Example:

    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x2xf32> {es.param = #es.param<trainable "w">}) -> tensor<4x2xf32> {
      %y = "stablehlo.dot"(%x, %w) : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
      return %y : tensor<4x2xf32>
    }
    ```
  }];
  let dependentDialects = ["es::ESDialect", "arith::ArithDialect",
                           "scf::SCFDialect", "tensor::TensorDialect"];
}

def ExpandVjp : Pass<"es-expand-vjp"> {
  let summary = "replace gradients by ops that compute them";
  let description = [{
    Makes a training step executable: `es.vjp` of `linalg`, `arith`, `math` and
    `tensor` ops (TOSA after `tosa-to-linalg`), `es.loss`, `es.accumulate`,
    `es.splat` and `es.optimizer_step` become ops of these dialects. The gradient
    of an operand of a structured op is one structured op, so that the step uses
    memory as the report counts it. Fails where a derivative has no expansion.

    Example:

    ```mlir
    func.func @f(%x: tensor<4xf64>, %dy: tensor<4xf64>) -> tensor<4xf64> {
      %dx = es.vjp elementwise "math.sin" saved(operand 0 = %x) cotangents(0 = %dy) wrt [0]
          : (tensor<4xf64>) -> tensor<4xf64>
      return %dx : tensor<4xf64>
    }
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "linalg::LinalgDialect",
                           "math::MathDialect", "tensor::TensorDialect"];
}

#endif // ES_TRAINING_PASSES_TD
