//===- ArgumentNames.cpp - Names that arguments have in the text ----------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR forgets SSA names. An argument without a location of its own is located
// at its name, from where it is read again; that is cheaper than the parser's
// record of every value and use.
//
//===----------------------------------------------------------------------===//

#include "ArgumentNames.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::es;

/// The name that begins at `text` with a `%`, or nothing if a printer may have
/// made it up.
static StringRef getName(StringRef text) {
  if (!text.consume_front("%"))
    return "";
  StringRef name = text.take_while([](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-';
  });
  StringRef number = name;
  number.consume_front("arg");
  return llvm::all_of(number, llvm::isDigit) ? StringRef() : name;
}

void mlir::es::nameArguments(ModuleOp module, llvm::MemoryBufferRef text) {
  SmallVector<std::pair<FileLineColLoc, BlockArgument>> places;
  module.walk([&](FunctionOpInterface func) {
    if (func.isExternal())
      return;
    for (BlockArgument argument : func.getArguments())
      if (auto place = dyn_cast<FileLineColLoc>(argument.getLoc()))
        if (place.getFilename().getValue() == text.getBufferIdentifier())
          places.push_back({place, argument});
  });
  llvm::stable_sort(places, [](const auto &a, const auto &b) {
    return a.first.getLine() < b.first.getLine();
  });
  StringRef rest = text.getBuffer();
  unsigned line = 1;
  for (auto [place, argument] : places) {
    for (; line < place.getLine() && !rest.empty(); ++line)
      rest = rest.drop_front(std::min(rest.find('\n'), rest.size() - 1) + 1);
    if (place.getColumn() == 0 || place.getColumn() > rest.size())
      continue;
    StringRef name = getName(rest.drop_front(place.getColumn() - 1));
    if (!name.empty())
      argument.setLoc(
          NameLoc::get(StringAttr::get(module.getContext(), name), place));
  }
}
