//===- Diagnostics.cpp - Where in the file --------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text is searched for a name only once something is said of it.
//
//===----------------------------------------------------------------------===//

#include "es/Foreign/Diagnostics.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::es;

static bool hasFile(Location loc) {
  return bool(loc->findInstanceOf<FileLineColLoc>());
}

/// The places of `pattern`, as many as are needed to know whether it is one.
static SmallVector<size_t, 2> findFew(StringRef text, StringRef pattern) {
  SmallVector<size_t, 2> places;
  for (size_t at = text.find(pattern);
       at != StringRef::npos && places.size() < 2;
       at = text.find(pattern, at + 1))
    places.push_back(at);
  return places;
}

/// The alias in `#loc4 = loc("x")` if the location at `at` is all of it.
static StringRef getAlias(StringRef text, size_t at) {
  StringRef line = text.take_front(at);
  line = line.drop_front(line.rfind('\n') + 1);
  return line.starts_with("#") && line.ends_with(" = ")
             ? line.drop_back(3).trim()
             : StringRef();
}

/// The one place where the text gives the name.
static std::optional<size_t> findName(StringRef text, StringRef name) {
  std::string quoted;
  llvm::raw_string_ostream stream(quoted);
  stream << "loc(\"";
  llvm::printEscapedString(name, stream);
  stream << "\")";
  SmallVector<size_t, 2> places = findFew(text, quoted);
  if (places.size() != 1)
    return std::nullopt;
  StringRef alias = getAlias(text, places.front());
  if (alias.empty())
    return places.front();
  places = findFew(text, ("loc(" + alias + ")").str());
  // A location that others are made of is none of an op.
  if (places.size() != 1 || !getAlias(text, places.front()).empty())
    return std::nullopt;
  return places.front();
}

static StringRef getKind(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("no such severity");
}

ModelDiagnosticHandler::ModelDiagnosticHandler(llvm::SourceMgr &sources,
                                               MLIRContext *context,
                                               raw_ostream &os)
    : SourceMgrDiagnosticHandler(sources, context, os),
      buffer(*sources.getMemoryBuffer(sources.getMainFileID())) {
  isText = llvm::all_of(buffer.getBuffer().take_front(64), [](char c) {
    return static_cast<unsigned char>(c) >= 32 || llvm::isSpace(c);
  });
  setHandler([this](Diagnostic &diagnostic) { print(diagnostic); });
}

void ModelDiagnosticHandler::print(Diagnostic &diagnostic) {
  bool isPlaced = hasFile(diagnostic.getLocation()) &&
                  llvm::all_of(diagnostic.getNotes(), [](Diagnostic &note) {
                    return hasFile(note.getLocation());
                  });
  if (isPlaced && isText)
    return emitDiagnostic(diagnostic);
  printOne(diagnostic);
  for (Diagnostic &note : diagnostic.getNotes())
    printOne(note);
}

void ModelDiagnosticHandler::printOne(Diagnostic &diagnostic) {
  Location loc = diagnostic.getLocation();
  DiagnosticSeverity severity = diagnostic.getSeverity();
  std::string message = diagnostic.str();
  StringRef text = buffer.getBuffer();
  auto name = loc->findInstanceOf<NameLoc>();
  std::optional<size_t> at;
  if (!hasFile(loc) && name && isText)
    at = findName(text, name.getName());
  if (at) {
    StringRef before = text.take_front(*at);
    loc = FileLineColLoc::get(
        loc->getContext(), buffer.getBufferIdentifier(),
        before.count('\n') + 1, before.size() - (before.rfind('\n') + 1) + 1);
  }
  if (hasFile(loc))
    return emitDiagnostic(loc, message, severity, isText);
  os << buffer.getBufferIdentifier() << ": " << getKind(severity) << ": "
     << message;
  if (name)
    os << " (at \"" << name.getName().getValue() << "\")";
  os << "\n";
}
