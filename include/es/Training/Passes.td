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

def Checkpoint : Pass<"es-checkpoint", "::mlir::ModuleOp"> {
  let summary = "evaluate blocks of the forward pass again instead of keeping them";
  let description = [{
    Rewrites each training step, a function with `es.vjp` ops as
    `es-build-training-graph` makes them, or the one that `entry` names. Blocks
    begin where a single activation is live, one for each layer that repeats, and
    where the model says so (`stablehlo.optimization_barrier`). What a gradient
    reads of a block is evaluated again in front of it:

    * `checkpoint=blocks`: each block but the last, once (the default);
    * `checkpoint=sqrt`: about sqrt(n) of n blocks together;
    * `checkpoint=states=N`: with at most N states in front of blocks kept at a
      time, and the least evaluations for that (Griewank and Walther, Algorithm
      799: Revolve);
    * `checkpoint=budget=SIZE`: the least work for which the peak of the step, with
      memory reused in place, fits.

    Trainable and frozen parameters are those of the function's `es.param`
    attributes. Fails if no function is a training step, or if none fits the
    budget.

    Example:

    ```mlir
    func.func @step(%x: tensor<4x4xf32>, %dy: tensor<4x4xf32>, %w: tensor<4x4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4x4xf32> {
      %y = "stablehlo.dot"(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %z = "stablehlo.tanh"(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %d = es.vjp elementwise "stablehlo.tanh" saved(result 0 = %z) cotangents(0 = %dy) wrt [0]
          : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %dw = es.vjp contraction "stablehlo.dot" saved(operand 0 = %x) cotangents(0 = %d) wrt [1]
          : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      return %dw : tensor<4x4xf32>
    }
    ```
  }];
  let options = [
    Option<"checkpoint", "checkpoint", "std::string", /*default=*/"\"blocks\"",
           "none, blocks, sqrt, states=N or budget=SIZE">,
    Option<"entry", "entry", "std::string", /*default=*/"",
           "the function, if not all">
  ];
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
    frozen parameter is read by the model and by nothing else.

    With `es-in-flight=K` the loop runs K members in step: an op for each of them,
    then the next op, and at the end of each what it no longer needs is released for
    all. What no trained parameter reaches is computed once for the K; loops of the
    model that all run equally often become one loop. The members that are left
    when K does not divide the population follow the loop. No bit depends on K.
    Lower StableHLO first (`es-stablehlo-to-linalg`), and TOSA
    (`tosa-to-linalg-named`, `tosa-to-linalg`): products have corrections, and
    slices and gathered rows perturbations of their own, as linalg.

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
    the rows (an embedding). Structured ops read through a `linalg.transpose`. What
    extended the life of the perturbed tensor,
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
