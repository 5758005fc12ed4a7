//===- ESDialect.td - The es dialect -----------------------*- tablegen -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_DIALECT_TD
#define ES_DIALECT_TD

include "mlir/IR/OpBase.td"

def ES_Dialect : Dialect {
  let name = "es";
  let cppNamespace = "::mlir::es";
  let summary = "Parameters, training graphs and Evolution Strategies";
  let description = [{
    The `es` dialect says of a model's graph what the memory analyses need to
    know and the graph itself does not: which storages are parameters, which of
    them are trained, and how a training step uses them. Its ops work on the
    tensors and memrefs of any other dialect.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class ES_Op<string mnemonic, list<Trait> traits = []>
    : Op<ES_Dialect, mnemonic, traits>;

#endif // ES_DIALECT_TD
