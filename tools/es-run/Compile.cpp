//===- Compile.cpp - From tensors to machine code -------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Allocator.h"
#include "Arrays.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Target/TargetMachine.h"
#include <cstring>

using namespace mlir;
using namespace mlir::es;

#ifndef ES_OPENMP_LIBRARY
#define ES_OPENMP_LIBRARY ""
#endif

/// Behind the kernels.
static constexpr StringLiteral kLowering =
    "es-order-loops,convert-linalg-to-loops,canonicalize,"
    "cse,"
    "loop-invariant-code-motion,convert-vector-to-scf,"
    "expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-math-to-llvm,convert-math-to-libm,arith-expand,"
    "convert-arith-to-llvm,convert-index-to-llvm,"
    "finalize-memref-to-llvm{use-generic-functions=true "
    "use-aligned-alloc=true},convert-func-to-llvm,convert-cf-to-llvm,"
    "convert-vector-to-llvm,convert-openmp-to-llvm,reconcile-unrealized-casts";

//===----------------------------------------------------------------------===//
// A program that stops itself
//===----------------------------------------------------------------------===//

static std::string stopContext, stopMessage;

void mlir::es::setStopContext(std::string text) {
  stopContext = std::move(text);
}

/// What cf.assert prints before it aborts.
static int keepMessage(const char *message) {
  stopMessage = message;
  return 0;
}

[[noreturn]] static void stop() {
  llvm::errs() << "error: " << stopContext << stopMessage << "\n";
  std::exit(1);
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

void Program::describe(ModuleOp module, StringRef name) {
  auto func = module.lookupSymbol<func::FuncOp>(name);
  Function &function = functions[name];
  function.arguments = func.getArgumentTypes();
  function.results = func.getResultTypes();
  llvm::DenseSet<Operation *> constants;
  func.walk([&](memref::GetGlobalOp op) {
    auto global = module.lookupSymbol<memref::GlobalOp>(op.getName());
    if (constants.insert(global).second)
      function.constantBytes +=
          llvm::alignTo(getBytes(global.getType()), memory::kAlignment);
  });
  func->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                UnitAttr::get(module.getContext()));
}

static llvm::Expected<std::unique_ptr<ExecutionEngine>>
createEngine(ModuleOp module, unsigned threads) {
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  auto optimize = makeOptimizingTransformer(3, 0, machine->get());
  ExecutionEngineOptions options;
  options.transformer = optimize;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  // The runtime of the threads.
  StringRef libraries[] = {ES_OPENMP_LIBRARY};
  if (threads > 1)
    options.sharedLibPaths = libraries;
  return ExecutionEngine::create(module, options, std::move(*machine));
}

bool Program::hasThreads() { return !StringRef(ES_OPENMP_LIBRARY).empty(); }

std::unique_ptr<Program> Program::compile(ModuleOp module,
                                          ArrayRef<std::string> functions,
                                          unsigned threads) {
  auto program = std::make_unique<Program>();
  if (failed(runPipeline(module, "es-bufferize")))
    return nullptr;
  for (const std::string &name : functions)
    program->describe(module, name);
  std::string kernels =
      "convert-es-to-vector{es-threads=" + std::to_string(threads) + "},";
  if (failed(runPipeline(module, kernels + kLowering.str())))
    return nullptr;
  auto engine = createEngine(module, threads);
  if (!engine) {
    module.emitError() << "cannot be compiled: "
                       << llvm::toString(engine.takeError());
    return nullptr;
  }
  program->engine = std::move(*engine);
  program->engine->registerSymbols([](llvm::orc::MangleAndInterner intern) {
    llvm::orc::SymbolMap symbols;
    symbols[intern("puts")] = {llvm::orc::ExecutorAddr::fromPtr(keepMessage),
                               llvm::JITSymbolFlags::Exported};
    symbols[intern("abort")] = {llvm::orc::ExecutorAddr::fromPtr(stop),
                                llvm::JITSymbolFlags::Exported};
    return symbols;
  });
  return program;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Two pointers, offset, sizes, strides.
static std::vector<int64_t> describeBuffer(MemRefType type, void *data) {
  auto address = reinterpret_cast<int64_t>(data);
  std::vector<int64_t> words = {address, address, 0};
  llvm::append_range(words, type.getShape());
  int64_t stride = type.getNumElements();
  for (int64_t size : type.getShape()) {
    stride = size ? stride / size : 0;
    words.push_back(stride);
  }
  return words;
}

/// A copy in row-major order, whatever the strides are.
static void *copyBuffer(MemRefType type, const int64_t *words) {
  uint64_t bytes = getElementBytes(type.getElementType());
  auto *data = static_cast<char *>(memory::allocate(getBytes(type)));
  auto *from = reinterpret_cast<const char *>(words[1]);
  int64_t rank = type.getRank();
  for (int64_t linear = 0, e = type.getNumElements(); linear < e; ++linear) {
    int64_t rest = linear, at = words[2];
    for (int64_t i = rank - 1; i >= 0; --i) {
      at += rest % type.getDimSize(i) * words[3 + rank + i];
      rest /= type.getDimSize(i);
    }
    std::memcpy(data + linear * bytes, from + at * bytes, bytes);
  }
  return data;
}

llvm::Expected<std::vector<Value64>>
Program::call(StringRef name, ArrayRef<Value64> arguments) {
  const Function &function = functions[name];
  std::vector<std::vector<int64_t>> words;
  llvm::DenseSet<void *> given;
  for (auto [type, argument] : llvm::zip(function.arguments, arguments)) {
    if (auto memref = dyn_cast<MemRefType>(type)) {
      words.push_back(describeBuffer(memref, argument.data));
      given.insert(argument.data);
    } else {
      words.push_back({argument.bits});
    }
  }
  // One result is returned by value unless it is a memref; several, and
  // memrefs, go through a pointer to a structure in front of the arguments.
  bool byPointer =
      function.results.size() > 1 ||
      (function.results.size() == 1 && isa<MemRefType>(function.results[0]));
  size_t size = 1;
  for (Type type : function.results) {
    auto memref = dyn_cast<MemRefType>(type);
    size += memref ? 3 + 2 * memref.getRank() : 1;
  }
  std::vector<int64_t> returned(size, 0);
  std::vector<void *> pointers;
  void *resultPointer = returned.data();
  SmallVector<void *> packed;
  for (std::vector<int64_t> &word : words)
    pointers.push_back(word.data());
  if (byPointer)
    packed.push_back(&resultPointer);
  for (auto [index, type] : llvm::enumerate(function.arguments))
    packed.push_back(isa<MemRefType>(type)
                         ? static_cast<void *>(&pointers[index])
                         : pointers[index]);
  if (!byPointer)
    packed.push_back(resultPointer);
  memory::resetPeak();
  if (llvm::Error error =
          engine->invokePacked(("_mlir_ciface_" + name).str(), packed))
    return std::move(error);
  peakBytes = memory::getPeakBytes() + function.constantBytes;
  std::vector<Value64> results;
  llvm::DenseSet<void *> owned;
  const int64_t *word = returned.data();
  for (Type type : function.results) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref) {
      results.push_back({type, nullptr, *word++});
      continue;
    }
    auto *allocated = reinterpret_cast<void *>(word[0]);
    if (given.contains(allocated)) {
      results.push_back({type, allocated, 0});
    } else {
      results.push_back({type, copyBuffer(memref, word), 0});
      owned.insert(allocated);
    }
    word += 3 + 2 * memref.getRank();
  }
  for (void *pointer : owned)
    memory::release(pointer);
  return results;
}
