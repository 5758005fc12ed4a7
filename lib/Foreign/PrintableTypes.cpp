//===- PrintableTypes.cpp - Opaque text that reads again ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR prints an opaque type `x<...>` of the dialect d as `!d.x<...>`. It takes
// any text from a name to a `>` for that, also `a<1>, b<2>` of `!d<a<1>,
// b<2>>`, which is two. A space in front has it print within the brackets it
// came in.
//
//===----------------------------------------------------------------------===//

#include "PrintableTypes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::es;

/// True if the text is a name and one group, as far as MLIR's printer looks,
/// and is not.
static bool isMistaken(StringRef text) {
  if (text.empty() || !llvm::isAlpha(text.front()))
    return false;
  StringRef rest = text.drop_while(
      [](char c) { return llvm::isAlnum(c) || c == '.' || c == '_'; });
  if (!rest.starts_with("<") || !rest.ends_with(">"))
    return false;
  unsigned depth = 0;
  for (auto [index, c] : llvm::enumerate(rest)) {
    depth += c == '<';
    // An arrow closes nothing.
    if (c == '>' && rest[index - 1] != '-' && --depth == 0)
      return index + 1 != rest.size();
  }
  return true;
}

/// True if some symbol is written `!d<...>` or `#d<...>`, without a name of its
/// own.
static bool hasBareSymbol(StringRef text) {
  for (size_t at = text.find_first_of("!#"); at != StringRef::npos;
       at = text.find_first_of("!#", at + 1)) {
    StringRef rest = text.drop_front(at + 1);
    StringRef name = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; });
    if (!name.empty() && rest.drop_front(name.size()).starts_with("<"))
      return true;
  }
  return false;
}

void mlir::es::makeOpaqueTextPrintable(ModuleOp module, StringRef text) {
  if (!hasBareSymbol(text))
    return;
  AttrTypeReplacer replacer;
  replacer.addReplacement([](OpaqueType type) -> std::optional<Type> {
    if (!isMistaken(type.getTypeData()))
      return std::nullopt;
    return OpaqueType::get(type.getDialectNamespace(),
                           (" " + type.getTypeData()).str());
  });
  replacer.addReplacement([](OpaqueAttr attr) -> std::optional<Attribute> {
    if (!isMistaken(attr.getAttrData()))
      return std::nullopt;
    return OpaqueAttr::get(attr.getDialectNamespace(),
                           (" " + attr.getAttrData()).str(), attr.getType());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}
