//===- Upgrade.cpp - Old MLIR text in the syntax of today -----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Renames that are told by one line of text. What needs more than that (an
// expand_shape to dynamic sizes) stays as it is, and the reader says so.
//
//===----------------------------------------------------------------------===//

#include "Refusals.h"
#include "es/Foreign/Reader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::es;

/// Where the ops of the std dialect went.
static StringRef getNewName(StringRef name) {
  static const llvm::StringMap<StringRef> names = [] {
    llvm::StringMap<StringRef> result;
    auto add = [&](StringRef dialect, StringRef ops) {
      for (StringRef op : llvm::split(ops, ' '))
        result[op] = dialect;
    };
    add("arith", "constant addf subf mulf divf remf negf addi subi muli "
                 "cmpf cmpi select sitofp uitofp fptosi fptoui extf truncf "
                 "extsi extui trunci index_cast bitcast andi ori xori "
                 "maxsi minsi maxui minui divsi divui remsi remui shli "
                 "shrsi shrui");
    add("math", "exp exp2 log log2 log1p sqrt rsqrt tanh sin cos atan atan2 "
                "powf erf absf ceilf floorf fma copysign");
    add("cf", "br cond_br switch assert");
    add("func", "func call call_indirect");
    add("memref", "alloc alloca dealloc load store subview view "
                  "reinterpret_cast");
    return result;
  }();
  return names.lookup(name);
}

/// Ops that go by another name today.
static StringRef getReplacement(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("arith.maxf", "arith.maximumf")
      .Case("arith.minf", "arith.minimumf")
      .Case("math.abs", "math.absf")
      .Cases({"fpext", "arith.fpext"}, "arith.extf")
      .Cases({"fptrunc", "arith.fptrunc"}, "arith.truncf")
      .Cases({"sexti", "arith.sexti"}, "arith.extsi")
      .Cases({"zexti", "arith.zexti"}, "arith.extui")
      .Case("signed_divi", "arith.divsi")
      .Case("unsigned_divi", "arith.divui")
      .Case("memref_cast", "memref.cast")
      .Case("memref_reshape", "memref.reshape")
      .Case("tensor_cast", "tensor.cast")
      .Case("tensor_from_elements", "tensor.from_elements")
      .Case("extract_element", "tensor.extract")
      .Case("subtensor", "tensor.extract_slice")
      .Case("subtensor_insert", "tensor.insert_slice")
      .Case("linalg.pad_tensor", "tensor.pad")
      .Case("linalg.tensor_expand_shape", "tensor.expand_shape")
      .Case("linalg.tensor_collapse_shape", "tensor.collapse_shape")
      .Default("");
}

std::string mlir::es::renameOp(StringRef name, StringRef line) {
  StringRef bare = name;
  bare.consume_front("std.");
  if (StringRef replacement = getReplacement(bare); !replacement.empty())
    return replacement.str();
  // The same op of two dialects, by what it is the dimension of.
  if (bare == "dim")
    return line.contains(": tensor<") ? "tensor.dim" : "memref.dim";
  bool hadDialect = name.consume_front("std.") || name == "builtin.func";
  if (name == "builtin.func")
    return "func.func";
  if (!hadDialect && name.contains('.'))
    return "";
  // `return` and `call` are still printed without their dialect.
  if (!hadDialect && (name == "call" || name == "call_indirect"))
    return "";
  if (hadDialect && name == "return")
    return "func.return";
  StringRef dialect = getNewName(name);
  return dialect.empty() ? "" : (dialect + "." + name).str();
}

/// The sizes in `tensor<2x4xf32>`; nothing if one is dynamic.
static std::optional<std::string> getSizes(StringRef type) {
  if (!type.consume_front("tensor<") && !type.consume_front("memref<"))
    return std::nullopt;
  std::string sizes;
  while (!type.empty() && llvm::isDigit(type.front())) {
    auto [size, rest] = type.split('x');
    sizes += (sizes.empty() ? "" : ", ") + size.str();
    type = rest;
  }
  if (type.starts_with("?"))
    return std::nullopt;
  return sizes;
}

/// `expand_shape %x [[0, 1]] : a into b` gets `output_shape [...]`.
static void addOutputShape(std::string &line) {
  StringRef text(line);
  size_t colon = text.rfind(" : ");
  size_t into = text.rfind(" into ");
  if (!text.contains(".expand_shape ") || text.contains("output_shape") ||
      colon == StringRef::npos || into == StringRef::npos)
    return;
  if (std::optional<std::string> sizes = getSizes(text.drop_front(into + 6)))
    line.insert(colon, " output_shape [" + *sizes + "]");
}

/// `linalg.init_tensor [%d, 4] : t` becomes `tensor.empty(%d) : t`.
static void replaceInitTensor(std::string &line) {
  constexpr StringRef old = "linalg.init_tensor";
  size_t begin = line.find(old);
  size_t open = begin == std::string::npos ? begin : line.find('[', begin);
  size_t close = open == std::string::npos ? open : line.find(']', open);
  if (close == std::string::npos)
    return;
  SmallVector<StringRef> sizes, dynamic;
  StringRef(line).slice(open + 1, close).split(sizes, ',');
  for (StringRef size : sizes)
    if (size.trim().starts_with("%"))
      dynamic.push_back(size.trim());
  line.replace(begin, close + 1 - begin,
               "tensor.empty(" + llvm::join(dynamic, ", ") + ")");
}

/// Elided constants: `opaque<"elided_large_const", "0xDEADBEEF">`.
static void replaceOpaque(std::string &line) {
  while (true) {
    size_t begin = line.find("opaque<\"");
    size_t end = begin == std::string::npos ? begin : line.find("\">", begin);
    if (end == std::string::npos)
      return;
    line.replace(begin, end + 2 - begin, "dense_resource<__elided__>");
  }
}

/// Renames the op at the beginning of the line, behind its results.
static void replaceName(std::string &line) {
  StringRef text(line);
  size_t begin = text.find_first_not_of(" \t");
  if (begin == StringRef::npos)
    return;
  if (text[begin] == '%') {
    begin = text.find('=');
    if (begin != StringRef::npos)
      begin = text.find_first_not_of(" \t", begin + 1);
    if (begin == StringRef::npos)
      return;
  }
  StringRef name = text.drop_front(begin).take_while(
      [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  std::string renamed = renameOp(name, text);
  if (!renamed.empty())
    line.replace(begin, name.size(), renamed);
}

std::string mlir::es::upgradeSyntax(StringRef text) {
  std::string result;
  result.reserve(text.size() + text.size() / 16);
  while (!text.empty()) {
    auto [first, rest] = text.split('\n');
    bool hasEnd = first.size() < text.size();
    std::string line = first.str();
    replaceName(line);
    addOutputShape(line);
    replaceInitTensor(line);
    replaceOpaque(line);
    result += line;
    if (hasEnd)
      result += '\n';
    text = rest;
  }
  return result;
}
