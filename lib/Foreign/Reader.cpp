//===- Reader.cpp - Read a model file -------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Around MLIR's parser: what is refused before it, what is prepared for it, and
// what is made of its complaints.
//
//===----------------------------------------------------------------------===//

#include "es/Foreign/Reader.h"
#include "ArgumentNames.h"
#include "ImportFunctions.h"
#include "Preamble.h"
#include "PrintableTypes.h"
#include "Refusals.h"
#include "Verification.h"
#include "es/Foreign/Dialects.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------===//

static std::string plural(size_t count, StringRef noun) {
  return std::to_string(count) + " " + noun.str() + (count == 1 ? "" : "s");
}

std::vector<std::string> ReadSummary::getNotes() const {
  std::vector<std::string> notes;
  if (skippedLines)
    notes.push_back(plural(skippedLines, "line") +
                    " before the module skipped (not MLIR)");
  for (const std::string &dialect : unknownDialects)
    notes.push_back("the dialect '" + dialect +
                    "' is not known; its ops are taken as they are printed");
  for (const auto &[name, invalid] : invalidOps)
    notes.push_back(plural(invalid.count, "op") + " '" + name +
                    "' of another version: " + invalid.complaint +
                    " (--strict makes this an error)");
  return notes;
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

static void emitRefusal(MLIRContext *context, StringRef file,
                        const Refusal &refusal) {
  emitError(FileLineColLoc::get(context, file, refusal.line, refusal.column))
      << refusal.message;
}

namespace {
/// Keeps what is said instead of printing it.
class Recorder {
public:
  Recorder(MLIRContext *context)
      : context(context),
        handler(std::in_place, context, [this](Diagnostic &diagnostic) {
          said.push_back(std::move(diagnostic));
        }) {}

  /// Stops recording.
  void stop() { handler.reset(); }

  const Diagnostic *getFirstError() const {
    for (const Diagnostic &diagnostic : said)
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        return &diagnostic;
    return nullptr;
  }

  /// Says it all after all. A parser stops at its first error: further ones are
  /// what the functions that called it say of the same.
  void replay(bool onlyFirstError = false) {
    bool isOver = false;
    for (Diagnostic &diagnostic : said) {
      bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
      if (isError && isOver)
        continue;
      isOver |= isError && onlyFirstError;
      context->getDiagEngine().emit(std::move(diagnostic));
    }
  }

private:
  MLIRContext *context;
  SmallVector<Diagnostic, 1> said;
  std::optional<ScopedDiagnosticHandler> handler;
};
} // namespace

static unsigned getLine(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  return place ? place.getLine() : 1;
}

/// The error of the parser, or what is known to be behind it.
static void explainText(MLIRContext *context, llvm::MemoryBufferRef buffer,
                        Recorder &recorder) {
  const Diagnostic *error = recorder.getFirstError();
  if (error)
    if (std::optional<Refusal> old =
            explainOldSyntax(buffer, getLine(error->getLocation())))
      return emitRefusal(context, buffer.getBufferIdentifier(), *old);
  recorder.replay(/*onlyFirstError=*/true);
}

//===----------------------------------------------------------------------===//
// Dialects
//===----------------------------------------------------------------------===//

/// Dialects of MLIR that are no more: what is old is said, not taken as it is.
static bool isGone(StringRef dialect) { return dialect == "std"; }

/// Loads what the text speaks of and no one knows.
static void loadUnknownDialects(MLIRContext *context, StringRef text,
                                ReadSummary &summary) {
  llvm::StringSet<> seen;
  forEachPrintedDialect(text, [&](StringRef dialect) {
    if (!seen.insert(dialect).second || isGone(dialect) ||
        context->getOrLoadDialect(dialect))
      return;
    loadForeignDialect(*context, dialect);
    summary.unknownDialects.push_back(dialect.str());
  });
}

/// Only those of which there is an op are worth a word: what begins a line with
/// a point in it may be something else.
static void dropUnusedDialects(ModuleOp module, ReadSummary &summary) {
  if (summary.unknownDialects.empty())
    return;
  llvm::StringSet<> used;
  module.walk(
      [&](Operation *op) { used.insert(op->getName().getDialectNamespace()); });
  llvm::erase_if(summary.unknownDialects, [&](const std::string &dialect) {
    return !used.contains(dialect);
  });
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static OwningOpRef<ModuleOp> parseBytecode(llvm::SourceMgr &sources,
                                           llvm::MemoryBufferRef buffer,
                                           MLIRContext *context,
                                           const ReadOptions &options) {
  Recorder recorder(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(
      sources, ParserConfig(context, /*verifyAfterParse=*/options.strict));
  recorder.stop();
  if (module) {
    recorder.replay();
    return module;
  }
  const Diagnostic *error = recorder.getFirstError();
  emitRefusal(context, buffer.getBufferIdentifier(),
              explainBytecode(buffer, error ? error->str() : "it ends early"));
  return nullptr;
}

static OwningOpRef<ModuleOp> parseText(llvm::SourceMgr &sources,
                                       llvm::MemoryBufferRef buffer,
                                       MLIRContext *context,
                                       const ReadOptions &options,
                                       ReadSummary &summary) {
  llvm::SourceMgr blanked;
  llvm::SourceMgr *source = &sources;
  if (!options.strict) {
    if (std::unique_ptr<llvm::MemoryBuffer> copy =
            blankPreamble(buffer, summary.skippedLines)) {
      buffer = *copy;
      blanked.AddNewSourceBuffer(std::move(copy), llvm::SMLoc());
      source = &blanked;
    }
    loadUnknownDialects(context, buffer.getBuffer(), summary);
  }
  if (std::optional<Refusal> refusal =
          refuseUnsafeText(buffer, options.maxNesting)) {
    emitRefusal(context, buffer.getBufferIdentifier(), *refusal);
    return nullptr;
  }
  Recorder recorder(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(
      *source, ParserConfig(context, /*verifyAfterParse=*/options.strict));
  recorder.stop();
  if (module) {
    recorder.replay();
    nameArguments(*module, buffer);
  } else {
    explainText(context, buffer, recorder);
  }
  return module;
}

OwningOpRef<ModuleOp> mlir::es::parseModelFile(llvm::SourceMgr &sources,
                                               MLIRContext *context,
                                               const ReadOptions &options,
                                               ReadSummary &summary) {
  llvm::MemoryBufferRef buffer =
      *sources.getMemoryBuffer(sources.getMainFileID());
  if (std::optional<Refusal> refusal = refuseContainer(buffer)) {
    emitRefusal(context, buffer.getBufferIdentifier(), *refusal);
    return nullptr;
  }
  bool isText = !isBytecode(buffer);
  OwningOpRef<ModuleOp> module =
      isText ? parseText(sources, buffer, context, options, summary)
             : parseBytecode(sources, buffer, context, options);
  if (!module || options.strict)
    return module;
  if (isText)
    makeOpaqueTextPrintable(*module, buffer.getBuffer());
  dropUnusedDialects(*module, summary);
  upgradeOps(*module);
  if (failed(verifyLeniently(*module, summary)))
    return nullptr;
  // The bodies of foreign functions had no order before.
  if (importFunctions(*module) && failed(verifyDominance(*module)))
    return nullptr;
  return module;
}

LogicalResult mlir::es::prepareModelText(
    std::unique_ptr<llvm::MemoryBuffer> &buffer, DialectRegistry &registry,
    const ReadOptions &options, llvm::raw_ostream &errors) {
  std::optional<Refusal> refusal;
  if (isBytecode(*buffer) || !buffer->getBuffer().trim().empty())
    refusal = refuseContainer(*buffer);
  if (!refusal && !isBytecode(*buffer))
    refusal = refuseUnsafeText(*buffer, options.maxNesting);
  if (refusal) {
    errors << buffer->getBufferIdentifier() << ":" << refusal->line << ":"
           << refusal->column << ": error: " << refusal->message << "\n";
    return failure();
  }
  if (options.strict || isBytecode(*buffer))
    return success();
  unsigned skipped = 0;
  if (std::unique_ptr<llvm::MemoryBuffer> copy =
          blankPreamble(*buffer, skipped))
    buffer = std::move(copy);
  forEachPrintedDialect(buffer->getBuffer(), [&](StringRef dialect) {
    if (!isGone(dialect))
      registerForeignDialect(registry, dialect);
  });
  return success();
}
