//===- Passes.td - Passes that report ----------------------*- tablegen -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_REPORT_PASSES_TD
#define ES_REPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrintMemoryReport : Pass<"es-print-memory-report", "::mlir::ModuleOp"> {
  let summary = "print the memory report of a module";
  let description = [{
    Prints what `es-opt --memory-report` prints, to stdout, and leaves the IR as
    it is: the analysis runs on a copy. The options are those of the tool
    (`es-opt --help`), spelled without dashes, and `format=text|json`. Rules
    apply in the order params, inputs, train, freeze. Fails if the module cannot
    be analysed or a budget is exceeded.

    Example:

    ```
    mlir-opt --load-dialect-plugin=ESPlugin.so \
      --pass-pipeline='builtin.module(es-print-memory-report{budget=24GiB})'
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::es::ESDialect"];
}

def AnnotateMemory : Pass<"es-annotate-memory", "::mlir::ModuleOp"> {
  let summary = "write peak memory and live ranges as attributes";
  let description = [{
    Gives every public function an `es.memory` dictionary (`peak_bytes`,
    `arena_bytes`, `peak_op`), every op with a buffer of its own an
    `es.live_range` array (first and last program point, both included) and an
    `es.bytes` integer, for later passes of a pipeline, and marks the op at the
    peak with the unit attribute `es.peak`. Calls stay calls: private callees
    are counted at each call.

    Example:

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = math.exp %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

#endif // ES_REPORT_PASSES_TD
