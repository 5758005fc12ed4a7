//===- Passes.td - Passes of the es dialect ----------------*- tablegen -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_PASSES_TD
#define ES_PASSES_TD

include "mlir/Pass/PassBase.td"

def AnnotateParams : Pass<"es-annotate-params", "::mlir::ModuleOp"> {
  let summary = "write the parameter inventory into the module";
  let description = [{
    Takes the inventory of every public function and of what it calls, from
    annotations, what exporters wrote, names, and use, and writes it down:
    `es.param` attributes on arguments, an `es.param` op behind each constant
    that is a parameter, and the module attribute `es.parameters` for constants
    and globals. Fails if two storages have one id, or one storage has two
    annotations that differ. Running it again changes nothing, while the names
    that locations carry are there (`--mlir-print-debuginfo` keeps them in text).

    Options are rules: regular expressions over names, or `#N`, `#N-M` for
    arguments by position. The last rule that matches wins, in the order given:

    * `params`, `inputs`: what is a parameter, what is not
    * `train`, `freeze`: `freeze=.* train=head` trains the head only
    * `donate`: arguments that may be overwritten
    * `stored-as`: `RE:TYPE`, the element type parameters are stored in
    * `rules`: all of these in one list, as `train:RE`

    Parameters of integers or quantised numbers are annotated `trainable` unless
    frozen by a rule: Evolution Strategies train them, backpropagation never
    does.

    Example:

    ```mlir
    func.func @f(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>)
                         outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }
    ```
  }];
  let dependentDialects = ["es::ESDialect"];
}

def PrintParameters : Pass<"es-print-parameters", "::mlir::ModuleOp"> {
  let summary = "print the parameter inventory of every public function";
  let description = [{
    One line a storage, in program order, to standard output: its role, name,
    type and id, and how the role is known. Takes the rules of
    es-annotate-params; changes nothing.
  }];
}

def StripAnnotations : Pass<"es-strip-annotations"> {
  let summary = "remove parameter annotations";
  let description = [{
    Replaces every `es.param` op by its operand and drops the `es.param`
    attributes, so that the module no longer needs the `es` dialect.
  }];
}

def DestinationForm : Pass<"es-destination-form", "::mlir::ModuleOp"> {
  let summary = "write tensor ops with explicit destinations";
  let description = [{
    Rewrites elementwise `arith` and `math` ops on tensors as `linalg.generic`
    into an empty tensor, puts splat operands of elementwise ops into their
    bodies as scalars, and decomposes ops that bufferize only in parts
    (`tensor.concat`, `linalg.softmax`). Nothing is removed, dead ops included:
    the memory of the program does not change.

    Example:

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %one = arith.constant dense<1.0> : tensor<4xf32>
      %0 = arith.addf %x, %one : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["linalg::LinalgDialect", "tensor::TensorDialect",
                           "arith::ArithDialect"];
}

def RealizeBuffers : Pass<"es-realize-buffers", "::mlir::ModuleOp"> {
  let summary = "make the buffer assignment explicit in tensor IR";
  let description = [{
    Carries out what the memory analysis decides, on tensors: every buffer that
    is not written in place becomes a `bufferization.alloc_tensor` (with a copy
    where old contents are read), a result that takes over a dying operand gets
    that operand as its destination, a splat that something needs in memory is
    filled in right before, and every owned buffer that is not handed to a next
    owner gets one `bufferization.dealloc_tensor` on each path, right after its
    last use. What is left bufferizes in place.

    Expects the form that `es-destination-form` makes.

    Example:

    ```mlir
    func.func @f(%x: tensor<4xf32>, %i: index, %v: f32) -> tensor<4xf32> {
      %0 = tensor.insert %v into %x[%i] : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["bufferization::BufferizationDialect",
                           "linalg::LinalgDialect", "scf::SCFDialect",
                           "cf::ControlFlowDialect"];
}

def FinishBufferization : Pass<"es-finish-bufferization", "::mlir::ModuleOp"> {
  let summary = "turn tensors into memrefs, everything in place";
  let description = [{
    Upstream bufferization without analysis and without inserting copies:
    `es-realize-buffers` has made them explicit. Arguments of functions become
    memrefs with the identity layout.
  }];
  let dependentDialects = ["bufferization::BufferizationDialect",
                           "memref::MemRefDialect", "linalg::LinalgDialect"];
}

#endif // ES_PASSES_TD
