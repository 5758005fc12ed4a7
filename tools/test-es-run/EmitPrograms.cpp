//===- EmitPrograms.cpp - Compiled programs for a memory checker ----------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The counting allocator sees what is allocated and freed; a memory checker
// sees every access. It is slow on a compiler, so the programs are compiled
// ahead of time and linked with a small C program
// (test/Integration/Inputs/checked.h).
//
//===----------------------------------------------------------------------===//

#include "EmitPrograms.h"
#include "Harness.h"

#include "es/Analysis/Buffers.h"
#include "es/OpModel/Donations.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::es;

/// The C type that the C interface passes a scalar in.
static std::string getCType(Type type) {
  if (type.isF16())
    return "_Float16";
  if (type.isBF16())
    return "__bf16";
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isInteger(1))
    return "_Bool";
  return "int" + std::to_string(getElementBytes(type) * 8) + "_t";
}

/// 'f' for floats that C converts to, 'i' for integers, 'o' for others, which
/// are left zero.
static char getKind(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64())
    return type.isBF16() ? 'b' : 'f';
  return type.isIntOrIndex() ? 'i' : 'o';
}

/// Bytes of an element that a program writes: the rest is padding.
static uint64_t getDataBytes(Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

static std::string describe(MemRefType type) {
  Type element = type.getElementType();
  std::string text = std::to_string(getElementBytes(element)) + ", " +
                     std::to_string(getDataBytes(element)) + ", '" +
                     getKind(element) + "', " + std::to_string(type.getRank());
  for (int64_t size : type.getShape())
    text += ", (int64_t)" + std::to_string(size);
  return text;
}

/// `int64_t a0[7]` holds a memref of rank 2: two pointers, offset, sizes,
/// strides.
static std::string getWords(MemRefType type) {
  return "[" + std::to_string(3 + 2 * type.getRank()) + "]";
}

/// Writes the C function that calls `func` once.
static void writeCall(func::FuncOp func, raw_ostream &os) {
  std::string name = func.getName().str();
  ArrayRef<Type> results = func.getResultTypes();
  bool byPointer = results.size() > 1 ||
                   (results.size() == 1 && isa<MemRefType>(results[0]));
  std::string returned =
      byPointer || results.empty() ? "void" : getCType(results[0]);
  std::string parameters = byPointer ? "void *" : "";
  std::string passed = byPointer ? "&r" : "";
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    parameters += parameters.empty() ? "" : ", ";
    passed += passed.empty() ? "" : ", ";
    parameters += isa<MemRefType>(type) ? "void *" : getCType(type);
    passed += "a" + std::to_string(index);
  }
  os << "extern " << returned << " _mlir_ciface_" << name << "("
     << (parameters.empty() ? "void" : parameters) << ");\n"
     << "static void run_" << name << "(void) {\n";
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    if (auto memref = dyn_cast<MemRefType>(type)) {
      os << "  int64_t a" << index << getWords(memref) << ";\n"
         << "  make(a" << index << ", "
         << bool(func.getArgAttr(index, "test.donated")) << ", " << index
         << ", " << describe(memref) << ");\n";
      continue;
    }
    auto value = func.getArgAttrOfType<IntegerAttr>(index, "test.value");
    os << "  " << getCType(type) << " a" << index << " = "
       << (value ? value.getInt() : 1) << ";\n";
  }
  if (byPointer) {
    os << "  struct {";
    for (auto [index, type] : llvm::enumerate(results))
      if (auto memref = dyn_cast<MemRefType>(type))
        os << " int64_t r" << index << getWords(memref) << ";";
      else
        os << " " << getCType(type) << " r" << index << ";";
    os << " } r;\n";
  }
  os << "  " << (byPointer || results.empty() ? "" : returned + " r0 = ")
     << "_mlir_ciface_" << name << "(" << passed << ");\n";
  for (auto [index, type] : llvm::enumerate(results))
    if (auto memref = dyn_cast<MemRefType>(type))
      os << "  take(r.r" << index << ", " << describe(memref) << ");\n";
    else
      os << "  look(&" << (byPointer ? "r." : "") << "r" << index << ", "
         << getDataBytes(type) << ");\n";
  os << "  finish();\n}\n";
}

static LogicalResult writeFile(StringRef folder, StringRef name,
                               function_ref<void(raw_ostream &)> write) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error) {
    llvm::errs() << "error: " << path << ": " << error.message() << "\n";
    return failure();
  }
  write(os);
  return success();
}

LogicalResult mlir::es::emitPrograms(ModuleOp module, StringRef folder) {
  OwningOpRef<ModuleOp> copy = module.clone();
  auto unit = UnitAttr::get(module.getContext());
  SmallVector<std::string> names;
  for (auto func : copy->getOps<func::FuncOp>()) {
    for (BlockArgument argument : func.getArguments())
      if (isDonatedArgument(argument))
        func.setArgAttr(argument.getArgNumber(), "test.donated", unit);
    if (func->hasAttr("test.run"))
      names.push_back(func.getName().str());
  }
  if (failed(runPipeline(*copy, "es-bufferize")))
    return failure();
  std::string calls, text;
  llvm::raw_string_ostream stream(calls);
  for (const std::string &name : names) {
    auto func = copy->lookupSymbol<func::FuncOp>(name);
    func->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), unit);
    writeCall(func, stream);
  }
  if (failed(runPipeline(*copy, kLowering)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> lowered =
      translateModuleToLLVMIR(*copy, context);
  if (!lowered)
    return failure();
  if (std::error_code error = llvm::sys::fs::create_directories(folder)) {
    llvm::errs() << "error: " << folder << ": " << error.message() << "\n";
    return failure();
  }
  auto writeMain = [&](raw_ostream &os) {
    os << "#include \"checked.h\"\n" << calls << "int main(void) {\n";
    for (const std::string &name : names)
      os << "  run_" << name << "();\n";
    os << "  printf(\"" << names.size() << " programs\\n\");\n  return 0;\n}\n";
  };
  return failure(failed(writeFile(
                     folder, "programs.ll",
                     [&](raw_ostream &os) { lowered->print(os, nullptr); })) ||
                 failed(writeFile(folder, "main.c", writeMain)));
}
