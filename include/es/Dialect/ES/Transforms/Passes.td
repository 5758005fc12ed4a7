//===- Passes.td - Passes of the es dialect ----------------*- tablegen -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_PASSES_TD
#define ES_PASSES_TD

include "mlir/Pass/PassBase.td"

def StripAnnotations : Pass<"es-strip-annotations"> {
  let summary = "remove parameter annotations";
  let description = [{
    Replaces every `es.param` op by its operand and drops the `es.param`
    attributes, so that the module no longer needs the `es` dialect.
  }];
}

#endif // ES_PASSES_TD
