//===- Refusals.cpp - What cannot be read, and what to do -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Refusals.h"
#include "Lookahead.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::es;

/// The file's name as it can be pasted into a command.
static std::string getFileName(llvm::MemoryBufferRef buffer) {
  StringRef name = buffer.getBufferIdentifier();
  if (name.empty() || name == "-" || name == "<stdin>")
    return "model.mlir";
  if (name.find_first_of(" ()'&;") == StringRef::npos)
    return name.str();
  return "'" + name.str() + "'";
}

//===----------------------------------------------------------------------===//
// Other kinds of files
//===----------------------------------------------------------------------===//

/// How a kind of file begins, what it is, and the command that makes MLIR of
/// it; `$` stands for the file.
struct Magic {
  StringRef bytes;
  size_t offset;
  const char *kind;
  const char *advice;
};

static constexpr Magic magics[] = {
    {"PK\x03\x04", 0, "a zip archive, perhaps a PyTorch model",
     "export it with: python3 -c \"import torch, es_opt; ...\" "
     "(es_opt.from_torch)"},
    {"\x1f\x8b", 0, "compressed with gzip", "unpack it with: gunzip $"},
    {"\x28\xb5\x2f\xfd", 0, "compressed with zstd", "unpack it with: unzstd $"},
    {"BZh", 0, "compressed with bzip2", "unpack it with: bunzip2 $"},
    {"TFL3", 4, "a TFLite model",
     "convert it with: tf-mlir-translate --tflite-flatbuffer-to-mlir $ -o "
     "model.mlir"},
    {"GGUF", 0, "a file of weights in GGUF",
     "export the graph of the model instead"},
    {"\x89HDF", 0, "a file of weights in HDF5",
     "export the graph of the model instead"},
    {"\x80\x02", 0, "a Python pickle", "export the graph of the model instead"},
    {"\x80\x04", 0, "a Python pickle", "export the graph of the model instead"},
    {"BC\xc0\xde", 0, "LLVM bitcode", "report on the MLIR it was made from"},
};

static std::string fillIn(StringRef advice, llvm::MemoryBufferRef buffer) {
  std::string text;
  for (char c : advice)
    text += c == '$' ? getFileName(buffer) : std::string(1, c);
  return text;
}

/// The position of the first byte that no text has, if there is one near the
/// beginning.
static std::optional<size_t> findBinaryByte(StringRef text) {
  for (auto [index, c] : llvm::enumerate(text.take_front(4096)))
    if (static_cast<unsigned char>(c) < 32 && !llvm::isSpace(c))
      return index;
  return std::nullopt;
}

/// The name of the program that wrote the bytecode.
static StringRef getProducer(StringRef bytes) {
  // The magic number, a version of variable length (the lowest set bit of its
  // first byte tells how long), the name, a null character.
  if (bytes.size() < 6)
    return "";
  unsigned length = llvm::countr_zero<uint8_t>(bytes[4] | 0) + 1;
  return bytes.drop_front(4 + std::min(length, 9u)).take_until([](char c) {
    return c == '\0';
  });
}

static std::optional<Refusal> refuseBytecode(llvm::MemoryBufferRef buffer) {
  StringRef producer = getProducer(buffer.getBuffer());
  if (!producer.starts_with("StableHLO"))
    return std::nullopt;
  StringRef advice =
      "convert it with: stablehlo-translate --deserialize $ -o model.mlir; or "
      "where JAX is installed: python3 -c \"import sys; from jaxlib.mlir "
      "import "
      "ir; from jaxlib.mlir.dialects import stablehlo; c = ir.Context(); "
      "stablehlo.register_dialect(c); stablehlo.deserialize_portable_artifact("
      "c, open(sys.argv[1], 'rb').read()).operation.print("
      "enable_debug_info=True)\" $ > model.mlir";
  return Refusal{1, 1,
                 "this is a StableHLO portable artifact (" + producer.str() +
                     "), which only StableHLO reads; " +
                     fillIn(advice, buffer)};
}

/// What `jax.export.Exported.serialize` writes: an artifact, and the function's
/// signature around it.
static std::optional<Refusal> refuseExported(llvm::MemoryBufferRef buffer) {
  StringRef text = buffer.getBuffer();
  if (!text.contains("ML\xefR\rStableHLO_v"))
    return std::nullopt;
  StringRef advice =
      "convert it with: python3 -c \"import sys; from jax import export; "
      "print(export.deserialize(bytearray(open(sys.argv[1], 'rb').read()))"
      ".mlir_module())\" $ > model.mlir";
  return Refusal{1, 1,
                 "this is no MLIR but holds a StableHLO portable artifact, as "
                 "functions that jax.export serialised do; " +
                     fillIn(advice, buffer)};
}

/// True if there is nothing but blanks and comments.
static bool isBlank(StringRef text) {
  while (true) {
    text = text.ltrim();
    if (!text.consume_front("//"))
      return text.empty();
    text = text.drop_until([](char c) { return c == '\n'; });
  }
}

std::optional<Refusal> mlir::es::refuseContainer(llvm::MemoryBufferRef buffer) {
  StringRef text = buffer.getBuffer();
  if (text.empty())
    return Refusal{1, 1, "the file is empty"};
  if (isBytecode(buffer))
    return refuseBytecode(buffer);
  for (const Magic &magic : magics)
    if (text.drop_front(std::min(magic.offset, text.size()))
            .starts_with(magic.bytes))
      return Refusal{1, 1,
                     std::string("this is not MLIR but ") + magic.kind + "; " +
                         fillIn(magic.advice, buffer)};
  if (std::optional<size_t> byte = findBinaryByte(text)) {
    if (std::optional<Refusal> exported = refuseExported(buffer))
      return exported;
    return Refusal{1, 1,
                   "this is not MLIR: byte " + std::to_string(*byte) +
                       " is of no text; expects MLIR text or bytecode"};
  }
  if (isBlank(text))
    return Refusal{1, 1, "the file has no operation"};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Nesting
//===----------------------------------------------------------------------===//

/// Goes over text and counts the brackets that are open; strings and comments
/// are passed over.
static const char *findDeepBracket(StringRef text, unsigned limit) {
  int64_t depth = 0, angles = 0;
  const char *end = text.end();
  for (const char *c = text.begin(); c < end; ++c) {
    switch (*c) {
    case '(':
    case '[':
    case '{':
      if (++depth > limit)
        return c;
      break;
    case ')':
    case ']':
    case '}':
      depth = std::max<int64_t>(depth - 1, 0);
      break;
    case '<':
      if (++angles > limit)
        return c;
      break;
    case '>':
      if (c == text.begin() || (c[-1] != '-' && c[-1] != '='))
        angles = std::max<int64_t>(angles - 1, 0);
      break;
    case '"':
      for (++c; c < end && *c != '"' && *c != '\n'; ++c)
        if (*c == '\\')
          ++c;
      break;
    case '/':
      if (c + 1 < end && c[1] == '/')
        c = std::find(c, end, '\n');
      break;
    case '\n':
      // A comparison in a set of constraints is not a bracket.
      angles = depth == 0 ? 0 : angles;
      break;
    default:
      break;
    }
  }
  return nullptr;
}

/// The place of `at` in `text`.
static Refusal makeRefusal(StringRef text, const char *at,
                           std::string message) {
  StringRef before(text.begin(), at - text.begin());
  size_t lineStart = before.rfind('\n');
  Refusal refusal;
  refusal.line = before.count('\n') + 1;
  refusal.column =
      before.size() - (lineStart == StringRef::npos ? 0 : lineStart + 1) + 1;
  refusal.message = std::move(message);
  return refusal;
}

static std::optional<Refusal> refuseNesting(llvm::MemoryBufferRef buffer,
                                            unsigned limit) {
  StringRef text = buffer.getBuffer();
  const char *at = findDeepBracket(text, limit);
  if (!at)
    return std::nullopt;
  return makeRefusal(text, at,
                     "brackets nest deeper than " + std::to_string(limit) +
                         "; a model does not, so the file is not read");
}

/// The first character of the op's list `key = [...]` that is not of an
/// integer.
static const char *findBrokenList(StringRef op, StringRef key) {
  size_t at = op.find(key);
  if (at == StringRef::npos)
    return nullptr;
  StringRef rest = op.drop_front(at + key.size()).ltrim();
  if (!rest.consume_front("="))
    return nullptr;
  rest = rest.ltrim();
  if (!rest.consume_front("["))
    return nullptr;
  size_t end = rest.find_first_not_of("0123456789-, \t\r\n");
  return end == StringRef::npos || rest[end] == ']' ? nullptr
                                                    : rest.data() + end;
}

/// MLIR's parser of these ops does not survive a list of dimensions with
/// something else in it.
static std::optional<Refusal>
refuseBrokenDimensions(llvm::MemoryBufferRef buffer) {
  static constexpr std::pair<StringRef, StringRef> ops[] = {
      {"linalg.transpose", "permutation"},
      {"linalg.broadcast", "dimensions"},
      {"linalg.reduce", "dimensions"}};
  StringRef text = buffer.getBuffer();
  for (auto [name, key] : ops)
    for (size_t at = text.find(name); at != StringRef::npos;
         at = text.find(name, at + 1)) {
      // No further than the next op.
      StringRef op = text.drop_front(at);
      op = op.take_front(op.find("linalg.", 1));
      if (const char *broken = findBrokenList(op, key))
        return makeRefusal(text, broken, "expected integer value");
    }
  return std::nullopt;
}

/// MLIR's parser makes room for as many results as the number of one says.
static std::optional<Refusal>
refuseResultNumbers(llvm::MemoryBufferRef buffer) {
  constexpr size_t kMostDigits = 6;
  StringRef text = buffer.getBuffer();
  auto isOfName = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-';
  };
  for (size_t at = text.find('#'); at != StringRef::npos;
       at = text.find('#', at + 1)) {
    StringRef digits = text.drop_front(at + 1).take_while(llvm::isDigit);
    if (digits.ltrim('0').size() <= kMostDigits)
      continue;
    size_t begin = at;
    while (begin > 0 && isOfName(text[begin - 1]))
      --begin;
    if (begin > 0 && begin < at && text[begin - 1] == '%')
      return makeRefusal(text, text.data() + at,
                         "no op has " + digits.str() + " results");
  }
  return std::nullopt;
}

std::optional<Refusal> mlir::es::refuseUnsafeText(llvm::MemoryBufferRef buffer,
                                                  unsigned limit) {
  if (std::optional<Refusal> refusal = refuseNesting(buffer, limit))
    return refusal;
  if (std::optional<Refusal> refusal = refuseBrokenDimensions(buffer))
    return refusal;
  return refuseResultNumbers(buffer);
}

//===----------------------------------------------------------------------===//
// Bytecode
//===----------------------------------------------------------------------===//

/// The tool that reads and prints a dialect.
static StringRef getTool(StringRef dialect) {
  return llvm::StringSwitch<StringRef>(dialect)
      .Cases({"torch", "torch_c", "tm_tensor"}, "torch-mlir-opt")
      .Cases({"stablehlo", "chlo"}, "stablehlo-opt")
      .Case("vhlo", "stablehlo-translate --deserialize")
      .Case("mhlo", "mlir-hlo-opt")
      .Cases({"onnx", "krnl"}, "onnx-mlir-opt")
      .Cases({"util", "flow", "hal", "stream", "vm"}, "iree-opt")
      .Cases({"ttir", "ttnn", "ttcore"}, "ttmlir-opt")
      .Cases({"tf", "tfl"}, "tf-opt")
      .Default("");
}

Refusal mlir::es::explainBytecode(llvm::MemoryBufferRef buffer,
                                  StringRef complaint) {
  auto [before, quoted] = complaint.split("dialect '");
  StringRef dialect = quoted.split('\'').first;
  if (dialect.empty())
    return {1, 1, "the bytecode is truncated or damaged: " + complaint.str()};
  StringRef tool = getTool(dialect);
  std::string message =
      "this is bytecode of the dialect '" + dialect.str() +
      "', which only its own tools read; convert it to text with: ";
  message += tool.empty() ? "the opt tool of that dialect, " : tool.str() + " ";
  return {1, 1, message + getFileName(buffer) + " -o model.mlir"};
}

//===----------------------------------------------------------------------===//
// Old text
//===----------------------------------------------------------------------===//

static StringRef getLine(StringRef text, unsigned line) {
  for (; line > 1; --line) {
    size_t end = text.find('\n');
    if (end == StringRef::npos)
      return "";
    text = text.drop_front(end + 1);
  }
  return text.take_until([](char c) { return c == '\n'; });
}

/// What is old in a line of text; empty if nothing is known to be.
static std::string findOldSyntax(StringRef line) {
  StringRef op = line.ltrim();
  if (op.starts_with("%"))
    op = op.split('=').second.ltrim();
  StringRef name = op.take_until([](char c) { return c == ' ' || c == '('; });
  if ((name == "tensor.expand_shape" || name == "memref.expand_shape") &&
      !op.contains("output_shape"))
    return "'" + name.str() + "' has an output_shape today";
  if (name.starts_with("std."))
    return "the dialect 'std' is 'arith', 'math', 'func', 'cf', 'memref' today";
  if (name == "linalg.init_tensor")
    return "'linalg.init_tensor' is 'tensor.empty' today";
  if (std::string renamed = renameOp(name, op); !renamed.empty())
    return "'" + name.str() + "' is '" + renamed + "' today";
  if (op.contains("opaque<\"elided_large_const\"") ||
      op.contains("opaque<\"_\""))
    return "elided constants are dense_resource<__elided__> today";
  return "";
}

std::optional<Refusal> mlir::es::explainOldSyntax(llvm::MemoryBufferRef buffer,
                                                  unsigned line) {
  std::string what = findOldSyntax(getLine(buffer.getBuffer(), line));
  if (what.empty())
    return std::nullopt;
  return Refusal{line, 1,
                 "this is MLIR text of an older version: " + what +
                     "; convert the file with: es-opt --upgrade-syntax " +
                     getFileName(buffer) + " -o model.new.mlir"};
}
