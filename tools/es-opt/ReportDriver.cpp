//===- ReportDriver.cpp - es-opt --memory-report --------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses the module, analyses it, prints the report. The IR is never printed,
// and stdout holds the report only.
//
//===----------------------------------------------------------------------===//

#include "ReportDriver.h"
#include "es/Foreign/Diagnostics.h"
#include "es/Foreign/Reader.h"
#include "es/Report/MemoryReport.h"

#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ManagedStatic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace mlir;
using namespace mlir::es;

namespace cl = llvm::cl;

namespace {
enum class Format { None, Text, Json };

struct ReportFlags {
  cl::OptionCategory category{"Memory report"};
  cl::opt<Format> report{
      "memory-report",
      cl::desc("report the memory of the model instead of printing the IR"),
      cl::ValueOptional,
      cl::init(Format::None),
      cl::cat(category),
      cl::values(clEnumValN(Format::Text, "", "text"),
                 clEnumValN(Format::Text, "text", "text"),
                 clEnumValN(Format::Json, "json",
                            "JSON, see docs/memory-report.schema.json"))};
  cl::opt<bool> strict{
      "strict",
      cl::desc("verify the input as any MLIR tool does, and accept no dialect "
               "or text that is not known"),
      cl::init(false), cl::cat(category)};
#define ES_OPTION(member, flag, value, help)                                   \
  cl::opt<std::string> member{flag, cl::desc(help), cl::init(value),           \
                              cl::cat(category)};
#define ES_LIST(member, flag, help)                                            \
  cl::list<std::string> member{flag, cl::desc(help), cl::cat(category)};
#define ES_SWITCH(member, flag, help)                                          \
  cl::opt<bool> member{flag, cl::desc(help), cl::init(false),                  \
                       cl::cat(category)};
#define ES_RULE(kind, flag, help)                                              \
  cl::list<std::string> rule##kind{flag, cl::desc(help), cl::cat(category)};
#include "es/Report/Options.def"

  RawReportOptions collect() const;
};
} // namespace

static llvm::ManagedStatic<ReportFlags> flags;

/// Rules keep the order of the command line, across flags.
RawReportOptions ReportFlags::collect() const {
  RawReportOptions raw;
  std::vector<std::tuple<unsigned, ParameterRule::Kind, std::string>> ordered;
#define ES_OPTION(member, flag, value, help) raw.member = member;
#define ES_LIST(member, flag, help) raw.member = llvm::join(member, ",");
#define ES_SWITCH(member, flag, help) raw.member = member;
#define ES_RULE(kind, flag, help)                                              \
  for (unsigned i = 0, e = rule##kind.size(); i < e; ++i)                      \
    ordered.push_back(                                                         \
        {rule##kind.getPosition(i), ParameterRule::kind, rule##kind[i]});
#include "es/Report/Options.def"
  llvm::sort(ordered);
  for (auto &[position, kind, text] : ordered)
    raw.rules.push_back({kind, text});
  return raw;
}

void mlir::es::registerReportOptions() { (void)*flags; }

bool mlir::es::isStrict() { return flags->strict; }

StringRef mlir::es::getStrayReportFlag() {
#define ES_OPTION(member, flag, value, help)                                   \
  if (flags->member.getNumOccurrences())                                       \
    return flag;
#define ES_SWITCH(member, flag, help) ES_OPTION(member, flag, , help)
#define ES_RULE(kind, flag, help) ES_OPTION(rule##kind, flag, , help)
#include "es/Report/Options.def"
  return "";
}

bool mlir::es::isReportRequested() { return flags->report != Format::None; }

/// What was done to read the file is said in each graph.
static void addNotes(MemoryReport &report, ArrayRef<std::string> notes) {
  for (FunctionReport &function : report.functions)
    for (GraphReport &graph : function.graphs)
      graph.notes.insert(graph.notes.begin(), notes.begin(), notes.end());
}

/// Reports on one chunk of input. 0, 1 or 3.
static int reportChunk(std::unique_ptr<llvm::MemoryBuffer> chunk,
                       const RawReportOptions &raw, MLIRContext &context,
                       raw_ostream &os) {
  llvm::Expected<ReportOptions> options = ReportOptions::parse(raw, &context);
  if (!options) {
    llvm::errs() << "error: " << llvm::toString(options.takeError()) << "\n";
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(chunk), llvm::SMLoc());
  ModelDiagnosticHandler handler(sources, &context, llvm::errs());
  ReadOptions reading;
  reading.strict = flags->strict;
  ReadSummary summary;
  OwningOpRef<ModuleOp> module =
      parseModelFile(sources, &context, reading, summary);
  if (!module)
    return 1;
  options->isVerified = summary.invalidOps.empty();
  FailureOr<MemoryReport> report = makeMemoryReport(*module, *options);
  // The process is about to end: erasing a million ops one by one would take
  // longer than analysing them.
  (void)module.release();
  if (failed(report))
    return 1;
  addNotes(*report, summary.getNotes());
  if (llvm::Error error = writeLiveRanges(*report)) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  if (flags->report == Format::Json)
    printJson(*report, os);
  else
    printText(*report, os);
  if (!report->isOverBudget())
    return 0;
  llvm::errs() << "error: " << report->getBudgetMessage() << "\n";
  return 3;
}

int mlir::es::runReport(StringRef inputFile, StringRef outputFile,
                        DialectRegistry &registry) {
#ifdef __GLIBC__
  // A parser frees millions of small blocks that are wanted again in other
  // sizes: joining them at once is cheaper than all together later.
  mallopt(M_MXFAST, 0);
#endif
  std::string why;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputFile, &why);
  if (!input) {
    llvm::errs() << "error: " << why << "\n";
    return 1;
  }
  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(outputFile, &why);
  if (!output) {
    llvm::errs() << "error: " << why << "\n";
    return 1;
  }
  RawReportOptions raw = flags->collect();
  const MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  int status = 0;
  auto process = [&](std::unique_ptr<llvm::MemoryBuffer> chunk,
                     const llvm::MemoryBufferRef &, raw_ostream &os) {
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.allowUnregisteredDialects();
    context.printOpOnDiagnostic(false);
    int result = reportChunk(std::move(chunk), raw, context, os);
    status = status == 1 || result == 1 ? 1 : std::max(status, result);
    return success(result != 1);
  };
  (void)splitAndProcessBuffer(std::move(input), process, output->os(),
                              config.inputSplitMarker(),
                              config.outputSplitMarker());
  if (status != 1)
    output->keep();
  return status;
}
