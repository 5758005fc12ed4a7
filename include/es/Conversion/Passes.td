//===- Passes.td - Conversions of the es dialect -----------*- tablegen -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_CONVERSION_PASSES_TD
#define ES_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertESToVector : Pass<"convert-es-to-vector", "::mlir::ModuleOp"> {
  let summary = "lower the ops of an Evolution Strategies step to vector loops";
  let description = [{
    On memrefs, after bufferization. Each `es.update` becomes a table of its
    parameters and a call of one kernel for each element type; each `es.perturb` a
    call of the kernel of its element type and noise. A kernel works on tiles of
    `tile` elements: it adds the noise of all pairs into sums that stay in the
    first cache, then applies rule and store. Noise is computed in registers and
    never stored.

    With `es-threads` above 1 a team of OpenMP threads shares the tiles of all
    parameters of a kernel; the program is then linked with libomp (`-lomp`). The
    model's own loops stay as they are.

    The bits of the results depend neither on `vector-width` nor on `tile` nor on
    `es-threads`, and are those of the reference in lib/Reference.

    Example:

    ```mlir
    func.func @f(%w: memref<100xf32>, %key: i64, %c: memref<8xf32>, %n: i64, %unit: f64) {
      es.update sgd maximize normal16 key(%key) weights(%c, %n, %unit : memref<8xf32>)
          params(%w : memref<100xf32>) as [#es.param<trainable "w">]
      return
    }
    ```
  }];
  let options = [
    Option<"vectorWidth", "vector-width", "unsigned", /*default=*/"16",
           "lanes of a vector: 1, 4, 8 or 16">,
    Option<"tileSize", "tile", "int64_t", /*default=*/"2048",
           "elements of a tile, rounded up to whole runs of noise">,
    Option<"threads", "es-threads", "unsigned", /*default=*/"1",
           "threads that share the tiles of a kernel">,
  ];
  let dependentDialects = [
    "arith::ArithDialect", "cf::ControlFlowDialect", "func::FuncDialect",
    "LLVM::LLVMDialect", "math::MathDialect", "memref::MemRefDialect",
    "omp::OpenMPDialect", "scf::SCFDialect", "vector::VectorDialect"];
}

def OrderLoops : Pass<"es-order-loops"> {
  let summary = "move the loop over neighbouring elements inside that of a sum";
  let description = [{
    Structured ops whose innermost loop sums get the loop over the last dimension
    of their result innermost, where each operand is read along it or not at all:
    products of matrices and convolutions with the channels last. Every sum still
    runs in the same order, so that the bits of the result are the same; the
    innermost loop can be vectorised.

    Example:

    ```mlir
    func.func @f(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
      linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%c : memref<4x16xf32>)
      return
    }
    ```
  }];
  let dependentDialects = ["linalg::LinalgDialect"];
}

def StableHLOToLinalg : Pass<"es-stablehlo-to-linalg"> {
  let summary = "lower StableHLO to linalg, tensor, arith, math and scf";
  let description = [{
    Makes a model that JAX exported executable with stock passes, and its training
    step after `es-build-training-graph` and `es-expand-vjp`. The dialect does not
    have to be linked in: ops are known by name, and read from the generic or the
    printed form.

    Lowered are ops on elements, `constant`, `iota`, `reshape`,
    `broadcast_in_dim`, `transpose`, `slice`, `concatenate`, `pad`, `reverse`,
    `dynamic_slice`, `dynamic_update_slice`, `gather`, `reduce`, `reduce_window`,
    `dot_general`, `convolution` (strides, dilations, padding, feature groups),
    `while`, `if`, `case` with two branches, `composite` (as a call of its
    decomposition) and `optimization_barrier` (as nothing). A `while` that counts
    to a constant becomes `scf.for`, any other `scf.while`; what a counted loop
    passes on unchanged is not carried any more. A `gather` is a loop over its
    slices.

    Shapes must be static and integers signless; anything else is an error, as is
    an op that is not in this list.

    Example:

    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
      %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
          : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
      return %y : tensor<4x2xf32>
    }
    ```
  }];
  let dependentDialects = [
    "arith::ArithDialect", "func::FuncDialect", "linalg::LinalgDialect",
    "math::MathDialect", "scf::SCFDialect", "tensor::TensorDialect"];
}


def ConvertESToLinalg : Pass<"convert-es-to-linalg"> {
  let summary = "lower perturbations and updates to linalg on tensors";
  let description = [{
    Before bufferization, for backends that take linalg. Each `es.perturb`, and
    each parameter of an `es.update`, becomes one `linalg.generic` over the
    parameter and its states, whose body computes the noise of its element: there
    is no tensor of noise. An element runs the generator for itself, so that this
    is many times slower than `convert-es-to-vector`; the bits are the same.
    `es.shape_fitness` is left to `convert-es-to-vector`.

    Example:

    ```mlir
    func.func @f(%w: tensor<100xf32>, %to: tensor<100xf32>, %key: i64, %m: index) -> tensor<100xf32> {
      %p = es.perturb normal16 %w <trainable "w"> into %to key(%key) member(%m)
          : tensor<100xf32> into tensor<100xf32>
      return %p : tensor<100xf32>
    }
    ```
  }];
  let dependentDialects = [
    "arith::ArithDialect", "linalg::LinalgDialect", "math::MathDialect",
    "scf::SCFDialect", "tensor::TensorDialect"];
}

def ConvertESToGPU : Pass<"convert-es-to-gpu", "::mlir::ModuleOp"> {
  let summary = "lower the ops of an Evolution Strategies step to GPU kernels";
  let description = [{
    On memrefs that the device can read and write, coefficients included. Each
    parameter of an `es.update`, and each `es.perturb`, becomes a launch of a kernel
    of the `gpu.module` `es_kernels`; parameters of one kind share theirs. A thread
    works on the samples of one block of noise, keeps their sums in registers over
    all pairs, and applies rule and store; with low rank it works on one element.
    `es.shape_fitness` runs on the host.

    The bits are those of the reference in lib/Reference, whatever `block-size`.

    Example:

    ```mlir
    func.func @f(%w: memref<100xf32>, %key: i64, %c: memref<8xf32>, %n: i64, %unit: f64) {
      es.update sgd maximize normal16 key(%key) weights(%c, %n, %unit : memref<8xf32>)
          params(%w : memref<100xf32>) as [#es.param<trainable "w">]
      return
    }
    ```
  }];
  let options = [
    Option<"blockSize", "block-size", "int64_t", /*default=*/"128",
           "threads of a block, 1 to 1024">,
  ];
  let dependentDialects = [
    "arith::ArithDialect", "cf::ControlFlowDialect", "gpu::GPUDialect",
    "LLVM::LLVMDialect", "math::MathDialect", "memref::MemRefDialect",
    "scf::SCFDialect"];
}

def ESPrintPTX : Pass<"es-print-ptx"> {
  let summary = "print the text of compiled GPU kernels";
  let description = [{
    Writes the assembly of every `gpu.binary` to the standard output, after
    `es-to-nvvm`.
  }];
}

#endif // ES_CONVERSION_PASSES_TD
