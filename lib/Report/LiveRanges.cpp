//===- LiveRanges.cpp - Every buffer's life, as CSV -----------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line per live segment of each buffer, in the order of the buffers: what a
// planner, or a comparison with another compiler's, needs to know.
//
//===----------------------------------------------------------------------===//

#include "es/Report/MemoryReport.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::es;

/// A field in quotes, with quotes inside doubled.
static void writeQuoted(StringRef text, raw_ostream &os) {
  os << '"';
  for (char c : text) {
    if (c == '"')
      os << '"';
    os << c;
  }
  os << '"';
}

static void printLiveRanges(const MemoryReport &report, raw_ostream &os) {
  os << "function,graph,buffer,name,role,type,bytes,first,last,offset\n";
  for (const FunctionReport &function : report.functions)
    for (const GraphReport &graph : function.graphs)
      for (const LiveRangeRow &row : graph.liveRanges) {
        writeQuoted(function.name, os);
        os << "," << graph.kind << "," << row.buffer << ",";
        writeQuoted(row.name, os);
        os << "," << stringifyRole(row.role) << ",";
        writeQuoted(row.type, os);
        os << "," << row.bytes << "," << row.first << "," << row.last << ","
           << row.offset << "\n";
      }
}

llvm::Error mlir::es::writeLiveRanges(const MemoryReport &report) {
  StringRef path = report.options.liveRanges;
  if (path.empty())
    return llvm::Error::success();
  std::error_code code;
  llvm::raw_fd_ostream os(path, code, llvm::sys::fs::OF_Text);
  if (code)
    return llvm::createStringError(code, "cannot write '" + path +
                                             "': " + code.message());
  printLiveRanges(report, os);
  return llvm::Error::success();
}
