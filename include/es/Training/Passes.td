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

def BuildESStep : Pass<"es-build-es-step", "::mlir::ModuleOp"> {
  let summary = "add the Evolution Strategies step of a function";
  let description = [{
    Adds to each public function with a body, or to the one that `entry` names, a
    function `NAME.es_step`. Its arguments are those of the model, the states of
    `es-optimizer`, a seed and the number of the step; its results the updated
    parameters, the states, and the fitness of all members, which is the loss.
    Parameters and states are donated.

    A loop runs the model for each of `population` members, with `es.perturb` on
    what is trained: right before each use and only on what is read
    (`es-perturb=sunk`), on all parameters at the start of a member (`copy`), or in
    the parameters themselves, undone at the end of a member (`inplace`). With
    `low-rank`, linalg products with a trained matrix are those with the matrix as
    it is, corrected by `es.perturb_factors`; a matrix that other ops read too is
    perturbed as a whole. One `es.update` follows. A
    frozen parameter is read by the model and by nothing else. With
    `es-in-flight=K` the loop says by the attribute `es.in_flight` that K members
    run at once, which the memory report counts; compiled as it is, the loop runs
    them one by one.

    Parameters of 16-bit floats and of integers are rounded stochastically, unless
    `es-rounding` and `es-fixed` say otherwise.

    Fails if there is no parameter to train, or if the loss depends on none.

    Example:

    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x2xf32> {es.param = #es.param<trainable "w">}) -> tensor<4x2xf32> {
      %y = "stablehlo.dot"(%x, %w) : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
      return %y : tensor<4x2xf32>
    }
    ```
  }];
  let dependentDialects = ["es::ESDialect", "arith::ArithDialect",
                           "linalg::LinalgDialect", "scf::SCFDialect",
                           "tensor::TensorDialect"];
}

def SinkPerturb : Pass<"es-sink-perturb"> {
  let summary = "perturb only what is read, right before it is read";
  let description = [{
    Each `es.perturb` with memory of its own becomes one for each op that reads it,
    right in front of that op. Of a contiguous `tensor.extract_slice`, the slice is
    perturbed (a layer of a stack), and of a `linalg.generic` that gathers rows,
    the rows (an embedding). What extended the life of the perturbed tensor,
    `es.release`, lets go of it.

    Example:

    ```mlir
    func.func @f(%w: tensor<4x8xf32>, %key: i64, %m: index) -> tensor<1x8xf32> {
      %e = tensor.empty() : tensor<4x8xf32>
      %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%m)
          : tensor<4x8xf32> into tensor<4x8xf32>
      %s = tensor.extract_slice %p[2, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
      return %s : tensor<1x8xf32>
    }
    ```
  }];
  let dependentDialects = ["es::ESDialect", "arith::ArithDialect",
                           "tensor::TensorDialect"];
}

def ExpandVjp : Pass<"es-expand-vjp"> {
  let summary = "replace gradients by ops that compute them";
  let description = [{
    Makes a training step executable: `es.vjp` of `linalg`, `arith`, `math` and
    `tensor` ops (TOSA after `tosa-to-linalg`), `es.loss`, `es.accumulate`,
    `es.splat` and `es.optimizer_step` become ops of these dialects. The gradient
    of an operand of a structured op is one structured op, so that the step uses
    memory as the report counts it. An `es.composite` becomes its body, and its
    gradient that of the body, computed again from what the composite keeps. Fails
    where a derivative has no expansion.

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
