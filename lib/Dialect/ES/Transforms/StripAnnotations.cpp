//===- StripAnnotations.cpp - Remove parameter annotations ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Removes what es-annotate-params adds, wherever it stands: es.param ops, the
// attributes of arguments, also those of functions of dialects that are not
// linked in, and the inventories of modules.
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"
#include "es/Dialect/ES/Transforms/Passes.h"

namespace mlir::es {
#define GEN_PASS_DEF_STRIPANNOTATIONS
#include "es/Dialect/ES/Transforms/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

/// `arg_attrs = [{es.param = ...}, ...]` of a function that is not registered.
static void stripForeignFunction(Operation *op) {
  auto arguments = op->getAttrOfType<ArrayAttr>("arg_attrs");
  if (!arguments)
    return;
  bool changed = false;
  SmallVector<Attribute> stripped;
  for (Attribute argument : arguments) {
    auto dictionary = dyn_cast<DictionaryAttr>(argument);
    if (dictionary && dictionary.contains("es.param")) {
      NamedAttrList attributes(dictionary);
      attributes.erase("es.param");
      argument = attributes.getDictionary(op->getContext());
      changed = true;
    }
    stripped.push_back(argument);
  }
  if (changed)
    op->setAttr("arg_attrs", ArrayAttr::get(op->getContext(), stripped));
}

namespace {
struct StripAnnotationsPass
    : es::impl::StripAnnotationsBase<StripAnnotationsPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      op->removeDiscardableAttr(kParametersAttrName);
      if (auto param = dyn_cast<ParamOp>(op)) {
        param.getResult().replaceAllUsesWith(param.getValue());
        param.erase();
      } else if (auto func = dyn_cast<FunctionOpInterface>(op)) {
        for (unsigned i = 0, e = func.getNumArguments(); i < e; ++i)
          for (StringRef name :
               {StringRef("es.param"), StringRef(kOptimizerStateAttrName)})
            func.removeArgAttr(i, name);
      } else if (!op->isRegistered()) {
        stripForeignFunction(op);
      }
    });
  }
};
} // namespace
