//===- Forms.cpp - Printed forms with a grammar of their own --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of forms. MHLO and CHLO print what they share with StableHLO the
// same way; forms of all dialects (functions, loops) are looked up by the name
// alone.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

using namespace mlir;
using namespace mlir::es;

template <void (*...add)(FormTable &)> static const FormTable &getTable() {
  static const FormTable table = [] {
    FormTable result;
    (add(result), ...);
    return result;
  }();
  return table;
}

static const Form *find(const FormTable &table, StringRef name) {
  auto it = table.find(name);
  return it == table.end() ? nullptr : &it->second;
}

const Form *mlir::es::lookupForm(StringRef dialect, StringRef name) {
  bool isHlo = dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo";
  if (isHlo)
    return find(getTable<addHloForms, addControlForms>(), name);
  if (dialect == "torch")
    if (const Form *form = find(getTable<addLiteralForms>(), name))
      return form;
  if (dialect == "tf_executor")
    return find(getTable<addExecutorForms>(), name);
  if (dialect == "sdy")
    if (const Form *form = find(getTable<addShardingForms>(), name))
      return form;
  return find(getTable<addSymbolForms, addControlForms, addImplicitTypeForms>(),
              name);
}
