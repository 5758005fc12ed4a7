//===- Properties.cpp - What changes no bit of a compiled update ----------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two parameters are updated among others: in another order, with one of the
// others frozen, one added, one renamed under its id; their bits stay the same.
// Without a coefficient nothing changes, and evaluations never write.
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Parser/Parser.h"
#include <cstring>

using namespace mlir;
using namespace mlir::es;

static constexpr int64_t kElements = 3000;
static constexpr const char *kFunction =
    "func.func @NAME(%a: memref<3000xf32>, %b: memref<50x60xbf16>, "
    "%x: memref<3000xf32>, %y: memref<50x60xf32>, %m: memref<3000xf32>, "
    "%v: memref<3000xf32>, %c: memref<5xf32>, %key: i64) "
    "attributes {llvm.emit_c_interface} {\n"
    "%n = arith.constant 10 : i64\n%u = arith.constant 1.0 : f64\n"
    "%t = arith.constant 3 : i64\n";

static std::string makeFunction(const char *name, const char *rule,
                                std::string rest) {
  std::string text = kFunction;
  text.replace(text.find("NAME"), 4, name);
  return text + "es.update " + rule +
         " maximize normal16 key(%key) weights(%c, %n, %u : memref<5xf32>) " +
         rest + " {rank = 2" +
         (std::string(rule) == "sgd" ? ", rounding = #es.rounding<stochastic>"
                                     : "") +
         "}\nreturn\n}\n";
}

static std::string makeUpdate(const char *name, std::string values,
                              std::string types, std::string params) {
  return makeFunction(name, "sgd",
                      "params(" + values + " : " + types + ") as [" + params +
                          "]");
}

/// %a and %b are watched, %x and %y are the others.
static std::string getText() {
  std::string vector = "memref<3000xf32>", half = "memref<50x60xbf16>",
              matrix = "memref<50x60xf32>";
  std::string a = "#es.param<trainable \"a\">",
              b = "#es.param<trainable \"b\">",
              x = "#es.param<trainable \"x\">",
              y = "#es.param<trainable \"y\">";
  std::string text =
      makeUpdate("first", "%a, %b, %x", vector + ", " + half + ", " + vector,
                 a + ", " + b + ", " + x);
  text +=
      makeUpdate("reordered", "%x, %b, %a",
                 vector + ", " + half + ", " + vector, x + ", " + b + ", " + a);
  text += makeUpdate("frozen", "%a, %b", vector + ", " + half, a + ", " + b);
  text += makeUpdate("added", "%y, %a, %b, %x",
                     matrix + ", " + vector + ", " + half + ", " + vector,
                     y + ", " + a + ", " + b + ", " + x);
  // FNV-1a 32 of "a" and of "b": (offset ^ byte) * prime.
  auto getId = [](char byte) {
    return std::to_string(int32_t((0x811c9dc5u ^ uint8_t(byte)) * 0x01000193u));
  };
  text +=
      makeUpdate("renamed", "%a, %b, %x", vector + ", " + half + ", " + vector,
                 "#es.param<trainable \"new.a\", id = " + getId('a') +
                     " : i32>, #es.param<trainable \"z\", id = " + getId('b') +
                     " : i32>, " + x);
  text += makeFunction("adam", "adam",
                       "step(%t) params(%a : " + vector + ") as [" + a +
                           "] states(%m, %v : " + vector + ", " + vector + ")");
  std::string many = kFunction;
  many.replace(many.find("NAME"), 4, "many");
  return text + many +
         "%i0 = arith.constant 0 : index\n%i1 = arith.constant 1 : index\n"
         "%i2 = arith.constant 10000 : index\n"
         "scf.for %i = %i0 to %i2 step %i1 {\n"
         "es.perturb normal16 %a " +
         a.substr(9) +
         " into %x key(%key) member(%i) {antithetic, sigma = 0.5} : " + vector +
         " into " + vector + "\n}\nreturn\n}\n";
}

namespace {
struct Memory {
  std::vector<float> a, x, y, m, v;
  std::vector<uint16_t> b;

  Memory() {
    for (int64_t e = 0; e < kElements; ++e) {
      a.push_back(float(e % 7) - 3);
      b.push_back(uint16_t(0x3f00 + e % 50));
    }
    // Bits that arithmetic would not keep.
    uint32_t nan = 0x7fa00001;
    std::memcpy(&a[0], &nan, 4);
    a[1] = -0.0f;
    a[2] = 1e-42f;
    x = y = m = v = std::vector<float>(kElements, 0.25f);
  }
  bool operator==(const Memory &other) const {
    return equal(other) &&
           !std::memcmp(m.data(), other.m.data(), 4 * kElements) &&
           !std::memcmp(v.data(), other.v.data(), 4 * kElements);
  }
  /// The watched two.
  bool equal(const Memory &other) const {
    return !std::memcmp(a.data(), other.a.data(), 4 * kElements) &&
           b == other.b;
  }
};
} // namespace

static void call(ExecutionEngine &engine, const char *name, Memory &memory,
                 std::vector<float> coefficients) {
  Descriptor descriptors[] = {
      {memory.a.data(), {kElements}}, {memory.b.data(), {50, 60}},
      {memory.x.data(), {kElements}}, {memory.y.data(), {50, 60}},
      {memory.m.data(), {kElements}}, {memory.v.data(), {kElements}},
      {coefficients.data(), {5}}};
  void *pointers[7];
  SmallVector<void *> packed;
  for (int i = 0; i < 7; ++i) {
    pointers[i] = descriptors[i].words.data();
    packed.push_back(&pointers[i]);
  }
  int64_t key = 0x123456789;
  packed.push_back(&key);
  llvm::cantFail(
      engine.invokePacked("_mlir_ciface_" + std::string(name), packed));
}

std::string mlir::es::runProperties(MLIRContext &context) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(getText(), &context);
  if (!module)
    return "does not parse";
  std::unique_ptr<ExecutionEngine> engine = compile(*module, Case());
  if (!engine)
    return "does not compile";
  const Memory before;
  Memory first;
  call(*engine, "first", first, {1, -2, 0, 0.5f, 3});
  if (first.equal(before))
    return "an update changes nothing, and so shows nothing";
  for (const char *name : {"reordered", "frozen", "added", "renamed"}) {
    Memory memory;
    call(*engine, name, memory, {1, -2, 0, 0.5f, 3});
    if (!memory.equal(first))
      return "other bits with parameters " + std::string(name);
  }
  for (const char *name : {"first", "adam"}) {
    Memory memory;
    call(*engine, name, memory, {0, -0.0f, 0, 0, 0});
    if (!(memory == before))
      return "a bit changes without a coefficient: " + std::string(name);
  }
  Memory evaluated;
  call(*engine, "many", evaluated, {0, 0, 0, 0, 0});
  if (!(evaluated == before))
    return "an evaluation writes what it reads";
  if (evaluated.x == before.x)
    return "evaluations write nothing";
  return "";
}
