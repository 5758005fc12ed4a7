//===- Preamble.cpp - Text before a module, and who speaks in it ----------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module that was printed on a terminal comes with what else was printed
// there. The first line that can begin a module ends it.
//
//===----------------------------------------------------------------------===//

#include "Preamble.h"
#include "Lookahead.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace mlir::es;

/// True if `line` begins like a module, a function or an alias, and no sentence
/// of a log does.
static bool beginsModule(StringRef line) {
  if (line.consume_front("module") || line.consume_front("builtin.module"))
    return line.empty() || line.starts_with(" ") || line.starts_with("{");
  if (line.starts_with("func.func ") || line.starts_with("\"builtin.module\"("))
    return true;
  if (line.starts_with("#") || line.starts_with("!")) {
    StringRef rest = line.drop_front().drop_while(
        [](char c) { return isAlnum(c) || c == '_'; });
    return rest.starts_with(" = ") && isAlpha(line.drop_front().front());
  }
  return line.starts_with("func @") || line.starts_with("func private @");
}

/// True if `line` may be MLIR.
static bool mayBeMLIR(StringRef line) {
  if (beginsModule(line) || line.starts_with("{-#"))
    return true;
  if (line.starts_with("%") || line.starts_with("\""))
    return lookahead::startsOp(line.data());
  StringRef word = lookahead::getWord(line.data());
  StringRef rest = line.drop_front(std::min(word.size(), line.size())).ltrim();
  return word.contains('.') && !word.ends_with(".") &&
         (rest.empty() || StringRef("@%\"{(").contains(rest.front()) ||
          isAlpha(rest.front()));
}

std::unique_ptr<MemoryBuffer> mlir::es::blankPreamble(MemoryBufferRef buffer,
                                                      unsigned &lines) {
  StringRef text = buffer.getBuffer();
  bool isFirst = true;
  size_t begin = 0;
  unsigned skipped = 0;
  while (begin < text.size()) {
    size_t end = std::min(text.find('\n', begin), text.size());
    StringRef line = text.slice(begin, end).trim();
    if (!line.empty() && !line.starts_with("//")) {
      if (isFirst ? mayBeMLIR(line) : beginsModule(line))
        break;
      isFirst = false;
    }
    skipped += !isFirst;
    begin = end + 1;
  }
  if (isFirst || begin >= text.size())
    return nullptr;
  lines = skipped;
  std::string copy = text.str();
  for (char &c : MutableArrayRef(copy.data(), begin))
    if (c != '\n')
      c = ' ';
  return MemoryBuffer::getMemBufferCopy(copy, buffer.getBufferIdentifier());
}

/// The printed op at the beginning of a line, behind its results.
static StringRef getOpName(const char *text, const char *end) {
  while (text < end && (*text == ' ' || *text == '\t'))
    ++text;
  if (text < end && *text == '%') {
    while (text < end && *text != '=' && *text != '\n')
      ++text;
    if (text == end || *text != '=')
      return "";
    ++text;
    while (text < end && *text == ' ')
      ++text;
  }
  StringRef word = lookahead::getWord(text);
  // `a.b = 1` is an attribute of a dictionary that goes over lines, `a.b: "0x"`
  // a resource.
  const char *next = word.end();
  if (next < end && *next == ':')
    return "";
  while (next < end && *next == ' ')
    ++next;
  return next < end && StringRef("=,}").contains(*next) ? "" : word;
}

void mlir::es::forEachPrintedDialect(StringRef text,
                                     function_ref<void(StringRef)> visit) {
  StringRef last;
  const char *end = text.end();
  for (const char *line = text.begin(); line < end;) {
    StringRef name = getOpName(line, end);
    size_t dot = name.find('.');
    StringRef dialect = name.take_front(dot == StringRef::npos ? 0 : dot);
    if (!dialect.empty() && dialect != last) {
      last = dialect;
      visit(dialect);
    }
    const void *next = std::memchr(line, '\n', end - line);
    if (!next)
      return;
    line = static_cast<const char *>(next) + 1;
  }
}
