//===- test-es-read.cpp - Reads files many times --------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two questions about the reader of models. Does it survive files that are
// broken at random, within bounds of time and memory, and does what it reads
// print as something that it reads again, and survives the report (--report)?
// And how fast is it?
//
//===----------------------------------------------------------------------===//

#include "es/Foreign/Reader.h"
#include "es/InitAll.h"
#include "es/Report/MemoryReport.h"

#include "mlir/InitAllDialects.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::es;

namespace cl = llvm::cl;

static cl::list<std::string> files(cl::Positional, cl::desc("<files>"));
static cl::opt<unsigned> mutants("mutants", cl::init(0),
                                 cl::desc("read so many broken files"));
static cl::opt<unsigned> seed("seed", cl::init(1));
static cl::opt<unsigned>
    secondsEach("seconds-each", cl::init(60),
                cl::desc("end the process if one broken file takes longer"));
static cl::opt<std::string>
    keep("keep", cl::desc("write every broken file here before it is read"));
static cl::opt<bool> report("report", cl::init(false),
                            cl::desc("analyse every broken file that is read"));
static cl::opt<bool>
    list("list", cl::init(false),
         cl::desc("say of each file whether it was read, and what was noted"));
static cl::opt<unsigned> repeat("time", cl::init(0),
                                cl::desc("read each file so many times and "
                                         "print the shortest time"));

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static DialectRegistry &getRegistry() {
  static DialectRegistry registry;
  static bool filled = [] {
    mlir::registerAllDialects(registry);
    mlir::es::registerAllDialects(registry);
    return true;
  }();
  (void)filled;
  return registry;
}

/// Reads `text`. The module in generic form, or nothing if it was not read;
/// then `why` is the first error.
static std::optional<std::string> read(StringRef text, bool printed,
                                       std::string &why,
                                       ReadSummary *notes = nullptr) {
  MLIRContext context(getRegistry(), MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  ScopedDiagnosticHandler quiet(&context, [&](Diagnostic &diagnostic) {
    if (why.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      why = diagnostic.str();
  });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, "input"), llvm::SMLoc());
  ReadSummary ignored;
  ReadSummary &summary = notes ? *notes : ignored;
  OwningOpRef<ModuleOp> module =
      parseModelFile(sources, &context, ReadOptions(), summary);
  if (!module)
    return std::nullopt;
  std::string result;
  if (printed) {
    llvm::raw_string_ostream os(result);
    module->print(os, OpPrintingFlags().printGenericOpForm());
  }
  if (printed && report) {
    std::string text;
    llvm::raw_string_ostream os(text);
    ReportOptions options;
    options.isVerified = summary.invalidOps.empty();
    FailureOr<MemoryReport> analysed = makeMemoryReport(*module, options);
    if (succeeded(analysed))
      printText(*analysed, os);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

static void listFile(StringRef name, StringRef text) {
  std::string why;
  ReadSummary summary;
  std::optional<std::string> printed = read(text, true, why, &summary);
  if (!printed) {
    llvm::outs() << name << ": refused: " << why << "\n";
    return;
  }
  bool again = read(*printed, false, why).has_value();
  llvm::outs() << name << ": read" << (again ? "" : ", but not again: " + why)
               << "\n";
  for (const std::string &note : summary.getNotes())
    llvm::outs() << "  " << note << "\n";
}

//===----------------------------------------------------------------------===//
// Mutants
//===----------------------------------------------------------------------===//

namespace {
class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}

  std::string mutate(StringRef original) {
    std::string text = original.str();
    for (size_t i = 0, e = 1 + pick(4); i < e && !text.empty(); ++i)
      step(text);
    return text;
  }

  size_t pick(size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
  }

private:
  StringRef pickToken() {
    static constexpr StringRef tokens[] = {"(",
                                           ")",
                                           "{",
                                           "}",
                                           "[",
                                           "]",
                                           "<",
                                           ">",
                                           ":",
                                           ",",
                                           "->",
                                           "=",
                                           "%0",
                                           "\"",
                                           "^bb0",
                                           "#a",
                                           "!t",
                                           "-1",
                                           "x",
                                           "@f",
                                           "loc(",
                                           "\n",
                                           "?",
                                           "dense<",
                                           "0x",
                                           "init",
                                           "::",
                                           "==",
                                           "...",
                                           "{-#",
                                           "tensor<4xf32>",
                                           "//",
                                           "1.5",
                                           "%a:",
                                           "to",
                                           "attributes",
                                           "cond {",
                                           "99999999999999999999"};
    return tokens[pick(std::size(tokens))];
  }

  /// Where the line or the token around `at` begins and ends.
  static std::pair<size_t, size_t> findLine(StringRef text, size_t at) {
    size_t begin = text.take_front(at).rfind('\n');
    size_t end = text.find('\n', at);
    return {begin == StringRef::npos ? 0 : begin + 1,
            end == StringRef::npos ? text.size() : end + 1};
  }
  static std::pair<size_t, size_t> findToken(StringRef text, size_t at) {
    auto isPart = [&](size_t i) {
      return llvm::isAlnum(text[i]) || StringRef("_.%@#!$").contains(text[i]);
    };
    size_t begin = at, end = at + 1;
    while (begin > 0 && isPart(begin - 1) && isPart(at))
      --begin;
    while (end < text.size() && isPart(end) && isPart(at))
      ++end;
    return {begin, end};
  }

  /// Deletes, inserts, overwrites, copies, flips bits, or cuts off.
  void step(std::string &text) {
    size_t at = pick(text.size());
    switch (pick(10)) {
    case 6: {
      auto [begin, end] = findLine(text, at);
      text.insert(end, text.substr(begin, end - begin));
      break;
    }
    case 7: {
      auto [begin, end] = findLine(text, at);
      text.erase(begin, end - begin);
      break;
    }
    case 8: {
      auto [begin, end] = findToken(text, at);
      text.erase(begin, end - begin);
      break;
    }
    case 9:
      text[at] = char(text[at] ^ (1 << pick(8)));
      break;
    case 0:
      text.erase(at, 1 + pick(20));
      break;
    case 1:
      text.insert(at, pickToken().str());
      break;
    case 2:
      text[at] = char(32 + pick(95));
      break;
    case 3:
      text.insert(at, text.substr(pick(text.size()), 1 + pick(60)));
      break;
    case 4:
      text.replace(at, 1 + pick(5), pickToken().str());
      break;
    default:
      if (pick(4) == 0)
        text.resize(at);
      break;
    }
  }

  std::mt19937 random;
};
} // namespace

static void writeFile(StringRef path, StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error)
    os << text;
}

/// False if something that was read does not read again.
static bool readMutants(ArrayRef<std::string> texts) {
  Mutator mutator(seed);
  unsigned accepted = 0;
  for (unsigned i = 0; i < mutants; ++i) {
    std::string mutant = mutator.mutate(texts[mutator.pick(texts.size())]);
    if (!keep.empty())
      writeFile(keep, mutant);
    // Not to hang: the signal ends the process.
    alarm(secondsEach);
    std::string why;
    std::optional<std::string> printed = read(mutant, /*printed=*/true, why);
    if (!printed && why.empty()) {
      llvm::errs() << "mutant " << i << " is refused without an error\n";
      return false;
    }
    if (!printed)
      continue;
    ++accepted;
    why.clear();
    if (!read(*printed, /*printed=*/false, why)) {
      llvm::errs() << "mutant " << i << " does not read again: " << why << "\n"
                   << *printed;
      return false;
    }
  }
  alarm(0);
  llvm::outs() << mutants << " mutants read, " << accepted << " accepted\n";
  return true;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

static bool timeReading(StringRef name, StringRef text) {
  double best = 1e300;
  for (unsigned i = 0; i < repeat; ++i) {
    auto start = std::chrono::steady_clock::now();
    std::string why;
    if (!read(text, /*printed=*/false, why)) {
      llvm::errs() << name << ": " << why << "\n";
      return false;
    }
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count());
  }
  llvm::outs() << llvm::formatv("{0}\t{1} bytes\t{2:f4} s\t{3:f1} MB/s\n", name,
                                text.size(), best, text.size() / best / 1e6);
  return true;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "reads models many times\n");
  SmallVector<std::string> texts;
  for (const std::string &file : files) {
    std::string why;
    std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(file, &why);
    if (!buffer) {
      llvm::errs() << why << "\n";
      return 1;
    }
    texts.push_back(buffer->getBuffer().str());
  }
  if (texts.empty())
    return 1;
  if (mutants) {
    // More than any of the files that are broken here can need.
    rlimit limit = {rlim_t(4) << 30, rlim_t(4) << 30};
    setrlimit(RLIMIT_AS, &limit);
    if (!readMutants(texts))
      return 1;
  }
  for (auto [file, text] : llvm::zip(files, texts)) {
    if (list)
      listFile(llvm::sys::path::filename(file), text);
    if (repeat && !timeReading(file, text))
      return 1;
  }
  return 0;
}
