//===- Checkpoint.cpp - A run as numbers ---------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>

using namespace mlir;
using namespace mlir::es;

static constexpr StringLiteral kFirstLine("es-run checkpoint 1");

/// FNV-1a, 64 bits.
uint64_t mlir::es::digest(StringRef bytes, uint64_t state) {
  for (char byte : bytes)
    state = (state ^ uint8_t(byte)) * 0x100000001b3;
  return state;
}

static bool readNumber(StringRef &line, StringRef name, uint64_t &value) {
  return line.consume_front(name) && line.consume_front(" ") &&
         !line.getAsInteger(16, value);
}

static bool readGeneration(StringRef line, unsigned number,
                           std::vector<float> &fitness) {
  SmallVector<StringRef> words;
  line.split(words, ' ', -1, /*KeepEmpty=*/false);
  unsigned found;
  if (words.size() < 2 || words[0].getAsInteger(10, found) || found != number)
    return false;
  for (StringRef word : ArrayRef(words).drop_front()) {
    uint32_t bits;
    if (word.size() != 8 || word.getAsInteger(16, bits))
      return false;
    fitness.emplace_back();
    std::memcpy(&fitness.back(), &bits, 4);
  }
  return true;
}

llvm::Expected<Checkpoint> mlir::es::readCheckpoint(StringRef path) {
  auto fail = [&](const llvm::Twine &text) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   path + ": " + text);
  };
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return fail(file.getError().message());
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  // Behind the last line break there is nothing, or half a line.
  lines.pop_back();
  Checkpoint checkpoint;
  if (lines.size() < 4 || lines[0] != kFirstLine ||
      !readNumber(lines[1], "seed", checkpoint.seed) ||
      !readNumber(lines[2], "program", checkpoint.program) ||
      !readNumber(lines[3], "initial", checkpoint.initial))
    return fail("expects a checkpoint of es-run");
  for (size_t i = 4; i < lines.size(); ++i)
    if (!readGeneration(lines[i], i - 3, checkpoint.generations.emplace_back()))
      return fail("line " + llvm::Twine(i + 1) + ": expects generation " +
                  llvm::Twine(i - 3) + " and the bits of its fitness");
  return checkpoint;
}

static llvm::Error check(llvm::raw_fd_ostream &os, StringRef path) {
  if (!os.has_error())
    return llvm::Error::success();
  std::error_code error = os.error();
  os.clear_error();
  return llvm::createStringError(error, path + ": " + error.message());
}

llvm::Error CheckpointWriter::open(StringRef where,
                                   const Checkpoint &checkpoint) {
  path = where.str();
  std::error_code error;
  os = std::make_unique<llvm::raw_fd_ostream>(path, error);
  if (error)
    return llvm::createStringError(error, path + ": " + error.message());
  *os << kFirstLine << "\nseed "
      << llvm::format_hex_no_prefix(checkpoint.seed, 1) << "\nprogram "
      << llvm::format_hex_no_prefix(checkpoint.program, 16) << "\ninitial "
      << llvm::format_hex_no_prefix(checkpoint.initial, 16) << "\n";
  for (const std::vector<float> &fitness : checkpoint.generations)
    if (llvm::Error error = append(fitness))
      return error;
  os->flush();
  return check(*os, path);
}

llvm::Error CheckpointWriter::append(ArrayRef<float> fitness) {
  *os << ++count;
  for (float value : fitness) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    *os << ' ' << llvm::format_hex_no_prefix(bits, 8);
  }
  *os << '\n';
  os->flush();
  return check(*os, path);
}
