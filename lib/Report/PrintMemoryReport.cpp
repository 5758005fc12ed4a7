//===- PrintMemoryReport.cpp - The report as a pass -----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/RuleOptions.h"
#include "es/Report/MemoryReport.h"
#include "es/Report/Passes.h"

namespace mlir::es {
#define GEN_PASS_DEF_PRINTMEMORYREPORT
#include "es/Report/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

namespace {
struct PrintMemoryReportPass
    : PassWithRules<es::impl::PrintMemoryReportBase<PrintMemoryReportPass>> {
  PrintMemoryReportPass() = default;
  // Options copy themselves in Pass::clone.
  PrintMemoryReportPass(const PrintMemoryReportPass &other)
      : PassWithRules(other) {}

  void runOnOperation() override;
  RawReportOptions collect() const;

#define ES_OPTION(member, flag, value, help)                                   \
  Option<std::string> member{*this, flag, llvm::cl::desc(help),                \
                             llvm::cl::init(value)};
#define ES_SWITCH(member, flag, help)                                          \
  Option<bool> member{*this, flag, llvm::cl::desc(help), llvm::cl::init(false)};
#include "es/Report/Options.def"
  Option<std::string> format{*this, "format", llvm::cl::desc("text or json"),
                             llvm::cl::init("text")};
};
} // namespace

RawReportOptions PrintMemoryReportPass::collect() const {
  RawReportOptions raw;
#define ES_OPTION(member, flag, value, help) raw.member = member;
#define ES_SWITCH(member, flag, help) raw.member = member;
#include "es/Report/Options.def"
  return raw;
}

void PrintMemoryReportPass::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<RuleList> rules = collectRules();
  if (failed(rules))
    return signalPassFailure();
  RawReportOptions raw = collect();
  raw.rules = std::move(*rules);
  llvm::Expected<ReportOptions> options =
      ReportOptions::parse(raw, &getContext());
  if (!options || (format != "text" && format != "json")) {
    std::string why =
        options ? "format expects text or json, got '" + format.getValue() + "'"
                : llvm::toString(options.takeError());
    emitError(module.getLoc()) << "es-print-memory-report: " << why;
    return signalPassFailure();
  }
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<MemoryReport> report = makeMemoryReport(*copy, *options);
  if (failed(report))
    return signalPassFailure();
  if (llvm::Error error = writeLiveRanges(*report)) {
    emitError(module.getLoc()) << llvm::toString(std::move(error));
    return signalPassFailure();
  }
  if (format == "json")
    printJson(*report, llvm::outs());
  else
    printText(*report, llvm::outs());
  if (report->isOverBudget()) {
    // At the location alone: the module's text is large, and says nothing here.
    emitError(module.getLoc()) << report->getBudgetMessage();
    signalPassFailure();
  }
}
