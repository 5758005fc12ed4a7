//===- Harness.cpp - Compile a module and count its memory ----------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "es/Analysis/Buffers.h"
#include "es/OpModel/Donations.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace mlir::es;

static constexpr uint64_t kAlignment = 64;

const StringRef mlir::es::kLowering =
    "convert-es-to-vector,convert-linalg-to-loops,convert-vector-to-scf,"
    "expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-math-to-llvm,convert-math-to-libm,arith-expand,"
    "convert-arith-to-llvm,convert-index-to-llvm,"
    "finalize-memref-to-llvm{use-generic-functions=true "
    "use-aligned-alloc=true},convert-func-to-llvm,convert-cf-to-llvm,"
    "convert-vector-to-llvm,reconcile-unrealized-casts";

//===----------------------------------------------------------------------===//
// Values in memory
//===----------------------------------------------------------------------===//

uint64_t mlir::es::getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  return std::max<uint64_t>(
      1, llvm::PowerOf2Ceil(type.getIntOrFloatBitWidth()) / 8);
}

static uint64_t roundUp(uint64_t bytes) {
  return llvm::alignTo(bytes, kAlignment);
}

/// Small numbers that every type holds exactly.
static void writeElement(char *at, Type type, int64_t index, int64_t seed) {
  int64_t number = (index * 7 + seed * 3) % 9 - 4;
  if (auto floating = dyn_cast<FloatType>(type)) {
    llvm::APFloat value(double(number) / 4);
    bool lossy;
    value.convert(floating.getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &lossy);
    uint64_t bits = value.bitcastToAPInt().getZExtValue();
    std::memcpy(at, &bits, getElementBytes(type));
    return;
  }
  // Integers are indices into small tensors at times: keep them small.
  int64_t bits = type.isInteger(1) ? index & 1 : (index + seed) % 3;
  std::memcpy(at, &bits, getElementBytes(type));
}

namespace {

/// Packs the arguments of the C interface of a function and unpacks results.
class Call {
public:
  Call(func::FuncOp func, const ArgumentValues &given);
  LogicalResult invoke(ExecutionEngine &engine);
  RunResult finish();
  uint64_t getArgumentBytes() const;

private:
  void addMemRef(MemRefType type, unsigned index);
  void addScalar(Type type, unsigned index);
  std::string readMemRef(MemRefType type, const int64_t *descriptor);

  std::string name;
  SmallVector<Type> results;
  SmallVector<Attribute> scalars;
  std::vector<std::vector<int64_t>> words;
  std::vector<void *> pointers;
  llvm::DenseSet<void *> argumentMemory, donatedMemory;
  std::vector<int64_t> resultWords;
  std::vector<uint64_t> sizes;
  std::vector<std::string> before;
};

} // namespace

static bool isDonated(func::FuncOp func, unsigned index) {
  return bool(func.getArgAttr(index, "test.donated"));
}

Call::Call(func::FuncOp func, const ArgumentValues &given)
    : name(func.getName()) {
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    scalars.push_back(func.getArgAttr(index, "test.value"));
    if (auto memref = dyn_cast<MemRefType>(type)) {
      addMemRef(memref, index);
      auto *memory = reinterpret_cast<char *>(words.back()[0]);
      auto it = given.find(index);
      if (it != given.end())
        std::memcpy(memory, it->second.data(), it->second.size());
      sizes.push_back(memref.getNumElements() *
                      getElementBytes(memref.getElementType()));
      before.emplace_back(memory, sizes.back());
      if (isDonated(func, index))
        donatedMemory.insert(reinterpret_cast<void *>(words.back()[0]));
    } else {
      addScalar(type, index);
      sizes.push_back(0);
      before.emplace_back();
    }
  }
  results.assign(func.getResultTypes().begin(), func.getResultTypes().end());
}

void Call::addMemRef(MemRefType type, unsigned index) {
  uint64_t count = type.getNumElements();
  uint64_t bytes = getElementBytes(type.getElementType());
  auto *memory = static_cast<char *>(
      counting::allocate(roundUp(count * bytes), kAlignment));
  for (uint64_t i = 0; i < count; ++i)
    writeElement(memory + i * bytes, type.getElementType(), i, index);
  argumentMemory.insert(memory);
  std::vector<int64_t> descriptor = {reinterpret_cast<int64_t>(memory),
                                     reinterpret_cast<int64_t>(memory), 0};
  int64_t stride = count;
  SmallVector<int64_t> strides;
  for (int64_t size : type.getShape()) {
    stride = size ? stride / size : 0;
    strides.push_back(stride);
  }
  descriptor.insert(descriptor.end(), type.getShape().begin(),
                    type.getShape().end());
  descriptor.insert(descriptor.end(), strides.begin(), strides.end());
  words.push_back(std::move(descriptor));
}

void Call::addScalar(Type type, unsigned index) {
  int64_t bits = 1;
  if (auto integer = dyn_cast_if_present<IntegerAttr>(scalars[index])) {
    bits = integer.getInt();
  } else if (isa<FloatType>(type)) {
    bits = 0;
    writeElement(reinterpret_cast<char *>(&bits), type, 1, index);
  }
  words.push_back({bits});
}

LogicalResult Call::invoke(ExecutionEngine &engine) {
  // One result is returned by value unless it is a memref; several, and
  // memrefs, go through a pointer to a structure in front of the arguments.
  bool byPointer = results.size() > 1 ||
                   (results.size() == 1 && isa<MemRefType>(results[0]));
  size_t size = 0;
  for (Type type : results) {
    auto memref = dyn_cast<MemRefType>(type);
    size += memref ? 3 + 2 * memref.getRank() : 1;
  }
  resultWords.assign(size + 1, 0);
  std::vector<void *> descriptors(words.size());
  void *resultPointer = resultWords.data();
  SmallVector<void *> packed;
  if (byPointer)
    packed.push_back(&resultPointer);
  for (auto [index, argument] : llvm::enumerate(words)) {
    descriptors[index] = argument.data();
    packed.push_back(argument.size() > 1
                         ? static_cast<void *>(&descriptors[index])
                         : argument.data());
  }
  if (!byPointer && !results.empty())
    packed.push_back(resultWords.data());
  if (llvm::Error error = engine.invokePacked("_mlir_ciface_" + name, packed)) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return failure();
  }
  return success();
}

std::string Call::readMemRef(MemRefType type, const int64_t *descriptor) {
  int64_t rank = type.getRank();
  const int64_t *sizes = descriptor + 3, *strides = sizes + rank;
  uint64_t bytes = getElementBytes(type.getElementType());
  const char *base = reinterpret_cast<const char *>(descriptor[1]);
  std::string values;
  for (int64_t linear = 0, e = type.getNumElements(); linear < e; ++linear) {
    int64_t rest = linear, at = descriptor[2];
    for (int64_t i = rank - 1; i >= 0; --i) {
      at += rest % sizes[i] * strides[i];
      rest /= sizes[i];
    }
    values.append(base + at * bytes, bytes);
  }
  return values;
}

RunResult Call::finish() {
  RunResult result;
  llvm::DenseSet<void *> owned;
  const int64_t *word = resultWords.data();
  for (Type type : results) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref) {
      // Members of a structure are aligned to at most a word here.
      result.values.emplace_back(reinterpret_cast<const char *>(word),
                                 getElementBytes(type));
      ++word;
      continue;
    }
    result.values.push_back(readMemRef(memref, word));
    auto *memory = reinterpret_cast<void *>(word[0]);
    if (!argumentMemory.contains(memory))
      owned.insert(memory);
    // A donated argument that is returned is the caller's again.
    donatedMemory.erase(memory);
    word += 3 + 2 * memref.getRank();
  }
  result.before = before;
  for (auto [argument, size] : llvm::zip(words, sizes))
    result.after.emplace_back(
        size ? reinterpret_cast<const char *>(argument[0]) : "", size);
  result.peakBytes = counting::getCounts().peakBytes;
  for (void *memory : owned)
    counting::release(memory);
  for (void *memory : argumentMemory)
    if (!donatedMemory.contains(memory))
      counting::release(memory);
  result.counts = counting::getCounts();
  result.leakedBlocks = result.counts.liveBlocks;
  return result;
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

static uint64_t countConstants(ModuleOp module) {
  uint64_t bytes = 0;
  for (auto global : module.getOps<memref::GlobalOp>())
    bytes += roundUp(global.getType().getNumElements() *
                     getElementBytes(global.getType().getElementType()));
  return bytes;
}

/// Erases every function that `entry` does not reach.
static void keepReachable(ModuleOp module, StringRef entry) {
  llvm::SmallPtrSet<Operation *, 4> reached;
  SmallVector<Operation *> worklist;
  auto reach = [&](Operation *func) {
    if (func && reached.insert(func).second)
      worklist.push_back(func);
  };
  reach(module.lookupSymbol(entry));
  while (!worklist.empty())
    worklist.pop_back_val()->walk([&](func::CallOp call) {
      reach(module.lookupSymbol(call.getCallee()));
    });
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (!reached.contains(func))
      func.erase();
}

static std::unique_ptr<ExecutionEngine> compile(ModuleOp module) {
  if (failed(runPipeline(module, kLowering)))
    return nullptr;
  ExecutionEngineOptions options;
  auto optimize = makeOptimizingTransformer(/*optLevel=*/1, /*sizeLevel=*/0,
                                            /*targetMachine=*/nullptr);
  options.transformer = optimize;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  auto engine = ExecutionEngine::create(module, options);
  if (engine)
    return std::move(*engine);
  llvm::errs() << "error: " << llvm::toString(engine.takeError()) << "\n";
  return nullptr;
}

FailureOr<std::vector<RunResult>>
mlir::es::compileAndRunEach(ModuleOp module, StringRef entry,
                            StringRef pipeline,
                            ArrayRef<ArgumentValues> given) {
  OwningOpRef<ModuleOp> copy = module.clone();
  keepReachable(*copy, entry);
  // Bufferization drops its own attributes; ours say what was donated.
  if (auto func = copy->lookupSymbol<func::FuncOp>(entry))
    for (BlockArgument argument : func.getArguments())
      if (isDonatedArgument(argument))
        func.setArgAttr(argument.getArgNumber(), "test.donated",
                        UnitAttr::get(module.getContext()));
  if (failed(runPipeline(*copy, pipeline)))
    return failure();
  auto func = copy->lookupSymbol<func::FuncOp>(entry);
  if (!func)
    return module.emitError() << "no function '@" << entry << "'";
  func->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                UnitAttr::get(module.getContext()));
  uint64_t constants = countConstants(*copy);
  OwningOpRef<func::FuncOp> signature = func.clone();
  std::unique_ptr<ExecutionEngine> engine = compile(*copy);
  if (!engine)
    return failure();
  std::vector<RunResult> results;
  for (const ArgumentValues &arguments : given) {
    counting::reset();
    Call call(*signature, arguments);
    if (failed(call.invoke(*engine)))
      return failure();
    results.push_back(call.finish());
    results.back().peakBytes += constants;
  }
  return results;
}

FailureOr<RunResult> mlir::es::compileAndRun(ModuleOp module, StringRef entry,
                                             StringRef pipeline,
                                             const ArgumentValues &given) {
  FailureOr<std::vector<RunResult>> results =
      compileAndRunEach(module, entry, pipeline, given);
  if (failed(results))
    return failure();
  return std::move(results->front());
}
