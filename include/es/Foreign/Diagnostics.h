//===- Diagnostics.h - Where in the file ------------------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text may bring locations of its own, `loc("x")`, which replace those that the
// parser would give: an op then knows what it is called, and not where it is.
//
//===----------------------------------------------------------------------===//

#ifndef ES_FOREIGN_DIAGNOSTICS_H
#define ES_FOREIGN_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::es {

/// Prints diagnostics about the main buffer of `sources`. One whose location is
/// only a name is placed where the text gives that name, if that is one place,
/// and else says the name; the file is named in any case.
class ModelDiagnosticHandler : public SourceMgrDiagnosticHandler {
public:
  ModelDiagnosticHandler(llvm::SourceMgr &sources, MLIRContext *context,
                         raw_ostream &os);

private:
  void print(Diagnostic &diagnostic);
  void printOne(Diagnostic &diagnostic);

  llvm::MemoryBufferRef buffer;
  bool isText;
};

} // namespace mlir::es

#endif // ES_FOREIGN_DIAGNOSTICS_H
