//===- Dialects.cpp - Dialects that are not linked in ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One class of dialects, told apart by name. The identity of each is the
// address of its entry in a table that lives as long as the process, so that
// all contexts agree.
//
//===----------------------------------------------------------------------===//

#include "es/Foreign/Dialects.h"
#include "OpReader.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

using namespace mlir;
using namespace mlir::es;

namespace {
/// Nothing in a foreign op depends on where it stands.
struct ForeignInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};

/// False if `text` between `<` and `>` would not be read again: MLIR takes a
/// `-` before the bracket for an arrow.
static bool isPrintable(StringRef text) {
  return !text.empty() && !text.ends_with("-");
}

static void emitUnprintable(DialectAsmParser &parser) {
  parser.emitError(parser.getNameLoc())
      << "expects the text of a type or attribute, got '"
      << parser.getFullSymbolSpec() << "'";
}

class ForeignDialect : public Dialect {
public:
  ForeignDialect(StringRef name, MLIRContext *context, TypeID id)
      : Dialect(name, context, id) {
    allowUnknownOperations();
    allowUnknownTypes();
    addInterfaces<ForeignInlinerInterface>();
  }

  std::optional<ParseOpHook> getParseOperationHook(StringRef) const override {
    return ParseOpHook(readForeignOp);
  }

  Attribute parseAttribute(DialectAsmParser &parser, Type type) const override {
    StringRef text = parser.getFullSymbolSpec();
    if (!isPrintable(text))
      return emitUnprintable(parser), Attribute();
    return OpaqueAttr::get(StringAttr::get(getContext(), getNamespace()), text,
                           type ? type : NoneType::get(getContext()));
  }
  Type parseType(DialectAsmParser &parser) const override {
    StringRef text = parser.getFullSymbolSpec();
    if (!isPrintable(text))
      return emitUnprintable(parser), Type();
    return OpaqueType::get(StringAttr::get(getContext(), getNamespace()), text);
  }
  // Only types and attributes of the dialect's own classes come here, and it
  // has none.
  void printAttribute(Attribute, DialectAsmPrinter &) const override {}
  void printType(Type, DialectAsmPrinter &) const override {}
};

/// A name and the identity of the dialect of that name.
struct alignas(8) Identity {
  TypeID getTypeID() const { return TypeID::getFromOpaquePointer(this); }
};

class IdentityTable {
public:
  /// The lasting copy of `name`, and its identity.
  std::pair<StringRef, TypeID> intern(StringRef name) {
    std::lock_guard<std::mutex> lock(mutex);
    auto &entry = *table.try_emplace(name).first;
    return {entry.getKey(), entry.getValue().getTypeID()};
  }

private:
  std::mutex mutex;
  llvm::StringMap<Identity> table;
};
} // namespace

static std::pair<StringRef, TypeID> intern(StringRef name) {
  static IdentityTable table;
  return table.intern(name);
}

static Dialect *load(MLIRContext *context, StringRef name, TypeID id) {
  return context->getOrLoadDialect(name, id, [=] {
    return std::make_unique<ForeignDialect>(name, context, id);
  });
}

void mlir::es::registerForeignDialect(DialectRegistry &registry,
                                      StringRef name) {
  if (registry.getDialectAllocator(name))
    return;
  auto [lasting, id] = intern(name);
  registry.insert(id, lasting, [lasting = lasting, id = id](MLIRContext *ctx) {
    return load(ctx, lasting, id);
  });
}

void mlir::es::loadForeignDialect(MLIRContext &context, StringRef name) {
  if (context.getOrLoadDialect(name))
    return;
  auto [lasting, id] = intern(name);
  load(&context, lasting, id);
}

static constexpr StringRef kForeignNames[] = {
    // StableHLO and what comes with it in XLA and JAX.
    "stablehlo", "chlo", "mhlo", "lmhlo", "vhlo", "sdy", "mpmd", "check",
    "interpreter", "xla", "triton_xla", "tpu",
    // PyTorch.
    "torch", "torch_c", "tm_tensor",
    // ONNX.
    "onnx", "krnl", "zlow", "zhigh",
    // TensorFlow.
    "tf", "tfl", "tf_executor", "tf_device", "tf_saved_model", "tf_type", "tfg",
    "vhlo_tfl",
    // IREE.
    "util", "flow", "hal", "stream", "vm", "check_iree", "iree_input",
    "iree_linalg_ext", "iree_tensor_ext", "iree_codegen", "iree_encoding",
    // Compilers of vendors.
    "ttir", "ttnn", "ttcore", "ttkernel", "ttmetal", "byre", "ace", "cat",
    "top", "tpu_mlir", "hivm", "hfusion", "mix", "xten_nn",
    // Differentiation and rewriting.
    "enzyme", "enzymexla",
    // Homomorphic encryption.
    "lwe", "ckks", "bgv", "orion", "secret", "tensor_ext", "mgmt", "openfhe",
    "lattigo", "polynomial", "mod_arith", "cggi", "tfhe_rust", "comb"};

bool mlir::es::isForeignDialect(StringRef name) {
  return llvm::is_contained(kForeignNames, name);
}

void mlir::es::registerForeignDialects(DialectRegistry &registry) {
  for (StringRef name : kForeignNames)
    registerForeignDialect(registry, name);
}
