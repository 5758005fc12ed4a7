//===- Types.cpp - Shapes of foreign types --------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small parser of the texts of opaque types.
//
//===----------------------------------------------------------------------===//

#include "es/Foreign/Types.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static Type getFloatType(StringRef name, MLIRContext *context) {
  Builder b(context);
  return llvm::StringSwitch<Type>(name)
      .Case("f16", b.getF16Type())
      .Case("bf16", b.getBF16Type())
      .Case("tf32", b.getTF32Type())
      .Case("f32", b.getF32Type())
      .Case("f64", b.getF64Type())
      .Case("f80", b.getF80Type())
      .Case("f128", b.getF128Type())
      .Cases({"f8E5M2", "f8e5m2"}, Float8E5M2Type::get(context))
      .Cases({"f8E4M3", "f8e4m3"}, Float8E4M3Type::get(context))
      .Cases({"f8E4M3FN", "f8e4m3fn"}, Float8E4M3FNType::get(context))
      .Cases({"f8E5M2FNUZ", "f8e5m2fnuz"}, Float8E5M2FNUZType::get(context))
      .Cases({"f8E4M3FNUZ", "f8e4m3fnuz"}, Float8E4M3FNUZType::get(context))
      .Cases({"f8E4M3B11FNUZ", "f8e4m3b11fnuz"},
             Float8E4M3B11FNUZType::get(context))
      .Cases({"f8E3M4", "f8e3m4"}, Float8E3M4Type::get(context))
      .Cases({"f8E8M0FNU", "f8e8m0fnu"}, Float8E8M0FNUType::get(context))
      .Cases({"f4E2M1FN", "f4e2m1fn"}, Float4E2M1FNType::get(context))
      .Cases({"f6E2M3FN", "f6e2m3fn"}, Float6E2M3FNType::get(context))
      .Cases({"f6E3M2FN", "f6e3m2fn"}, Float6E3M2FNType::get(context))
      .Default(Type());
}

static Type getIntegerType(StringRef name, MLIRContext *context) {
  auto sign = IntegerType::Signless;
  if (name.consume_front("si"))
    sign = IntegerType::Signed;
  else if (name.consume_front("ui"))
    sign = IntegerType::Unsigned;
  else if (!name.consume_front("i"))
    return Type();
  unsigned width;
  if (name.getAsInteger(10, width) || width == 0 ||
      width > IntegerType::kMaxWidth)
    return Type();
  return IntegerType::get(context, width, sign);
}

/// Quantised elements of torch: `!torch.qint8`.
static Type getTorchScalar(StringRef name, MLIRContext *context) {
  unsigned width = llvm::StringSwitch<unsigned>(name)
                       .Cases({"qint8", "quint8"}, 8)
                       .Case("qint16", 16)
                       .Case("qint32", 32)
                       .Case("quint4x2", 4)
                       .Case("quint2x4", 2)
                       .Default(0);
  if (width == 0)
    return Type();
  bool isUnsigned = name.starts_with("qu");
  return IntegerType::get(
      context, width, isUnsigned ? IntegerType::Unsigned : IntegerType::Signed);
}

static Type getElementType(StringRef text, MLIRContext *context);

/// Elements of VHLO have a version behind their names: `f32_v1`, `bool_v1`.
static Type getVhloScalar(StringRef name, MLIRContext *context) {
  StringRef inner = name;
  if (inner.consume_front("complex_v1<") && inner.consume_back(">")) {
    Type part = getElementType(inner, context);
    return part ? ComplexType::get(part) : Type();
  }
  // `!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, ...>`: stored as the first.
  if (inner.consume_front("quant_v1<"))
    return getElementType(inner.take_until([](char c) { return c == ':'; }),
                          context);
  size_t version = name.rfind("_v");
  if (version == StringRef::npos)
    return Type();
  name = name.take_front(version);
  if (name == "bool")
    return IntegerType::get(context, 1);
  if (name == "index")
    return IndexType::get(context);
  if (Type type = getFloatType(name, context))
    return type;
  return getIntegerType(name, context);
}

static Type getElementType(StringRef text, MLIRContext *context) {
  text = text.trim();
  if (text.consume_front("!torch."))
    return getTorchScalar(text, context);
  if (text.consume_front("!vhlo."))
    return getVhloScalar(text, context);
  if (Type type = getFloatType(text, context))
    return type;
  if (Type type = getIntegerType(text, context))
    return type;
  if (text.consume_front("complex<") && text.consume_back(">")) {
    Type part = getElementType(text, context);
    return part ? ComplexType::get(part) : Type();
  }
  return Type();
}

/// A type of the builtin dialect or `quant`, by MLIR's own parser.
static Type parseBuiltin(StringRef text, MLIRContext *context) {
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) {});
  size_t read = 0;
  Type type = parseType(text, context, &read, /*isKnownNullTerminated=*/false);
  return read == text.size() ? type : Type();
}

//===----------------------------------------------------------------------===//
// Tensors of torch
//===----------------------------------------------------------------------===//

static bool parseDim(StringRef text, int64_t &dim) {
  text = text.trim();
  if (text == "?") {
    dim = ShapedType::kDynamic;
    return true;
  }
  return !text.getAsInteger(10, dim) && dim >= 0;
}

/// What stands for an element type that the text does not tell.
static Type getUnknownElement(MLIRContext *context) {
  return OpaqueType::get(StringAttr::get(context, "torch"), "unk");
}

static std::optional<SmallVector<int64_t>> parseTorchShape(StringRef dims) {
  SmallVector<int64_t> shape;
  SmallVector<StringRef> parts;
  dims.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    if (!parseDim(part, shape.emplace_back()))
      return std::nullopt;
  return shape;
}

/// `[1,?],si64`, `*,f32`, `[2],unk`, `[2],f32,#sparse...`.
static std::optional<Type> parseTorchTensor(StringRef body,
                                            MLIRContext *context) {
  std::optional<SmallVector<int64_t>> shape;
  if (body.consume_front("[")) {
    auto [dims, rest] = body.split(']');
    shape = parseTorchShape(dims);
    if (!shape)
      return std::nullopt;
    body = rest;
  } else if (!body.consume_front("*")) {
    return std::nullopt;
  }
  body = body.ltrim();
  body.consume_front(",");
  StringRef name = body.split(",#").first.trim();
  Type element = name == "unk" || name.empty() ? getUnknownElement(context)
                                               : getElementType(name, context);
  if (!element)
    return std::nullopt;
  if (!shape)
    return UnrankedTensorType::get(element);
  return RankedTensorType::get(*shape, element);
}

/// The text between `prefix<` and the closing `>`.
static bool takeBody(StringRef text, StringRef prefix, StringRef &body) {
  if (!text.consume_front(prefix) || !text.consume_front("<") ||
      !text.consume_back(">"))
    return false;
  body = text;
  return true;
}

static std::optional<Type> getTorchType(StringRef text, MLIRContext *context) {
  StringRef body;
  if (text == "vtensor" || text == "tensor")
    return UnrankedTensorType::get(getUnknownElement(context));
  for (StringRef prefix : {"vtensor", "tensor"})
    if (takeBody(text, prefix, body))
      return parseTorchTensor(body, context);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tensors of VHLO
//===----------------------------------------------------------------------===//

/// `2x?x!vhlo.f32_v1`, with an encoding perhaps.
static std::optional<Type> parseVhloTensor(StringRef body,
                                           MLIRContext *context) {
  SmallVector<int64_t> shape;
  while (!body.empty() && (llvm::isDigit(body.front()) || body[0] == '?')) {
    auto [dim, rest] = body.split('x');
    if (!parseDim(dim, shape.emplace_back()))
      return std::nullopt;
    body = rest;
  }
  Type element = getElementType(body, context);
  if (!element)
    element = getElementType(body.split(", ").first, context);
  if (!element)
    return std::nullopt;
  return RankedTensorType::get(shape, element);
}

static std::optional<Type> getVhloType(StringRef text, MLIRContext *context) {
  StringRef body;
  if (takeBody(text, "tensor_v1", body) ||
      takeBody(text, "ranked_tensor_v1", body))
    return parseVhloTensor(body, context);
  if (takeBody(text, "unranked_tensor_v1", body))
    if (Type element = getElementType(body, context))
      return UnrankedTensorType::get(element);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Wrappers of builtin tensors
//===----------------------------------------------------------------------===//

static std::optional<Type> parseWrapped(StringRef text, MLIRContext *context) {
  Type type = parseBuiltin(text.trim(), context);
  if (isa_and_present<RankedTensorType, UnrankedTensorType>(type))
    return type;
  return std::nullopt;
}

/// `!mpmd.mesh_tensor<"mesh", tensor<4xf32>, sharding=...>`
static std::optional<Type> getMeshTensor(StringRef text, MLIRContext *context) {
  StringRef body;
  if (!takeBody(text, "mesh_tensor", body))
    return std::nullopt;
  size_t start = body.find("tensor<");
  if (start == StringRef::npos)
    return std::nullopt;
  body = body.drop_front(start);
  unsigned depth = 0;
  for (auto [index, c] : llvm::enumerate(body)) {
    depth += c == '<';
    if (c == '>' && --depth == 0)
      return parseWrapped(body.take_front(index + 1), context);
  }
  return std::nullopt;
}

static std::optional<Type> getSecretType(StringRef text, MLIRContext *context) {
  StringRef body;
  if (!takeBody(text, "secret", body))
    return std::nullopt;
  return parseWrapped(body, context);
}

std::optional<Type> mlir::es::getForeignShapedType(Type type) {
  if (isa<TensorType, BaseMemRefType>(type))
    return type;
  auto opaque = dyn_cast<OpaqueType>(type);
  if (!opaque)
    return std::nullopt;
  StringRef dialect = opaque.getDialectNamespace();
  StringRef text = opaque.getTypeData();
  MLIRContext *context = type.getContext();
  if (dialect == "torch")
    return getTorchType(text, context);
  if (dialect == "vhlo")
    return getVhloType(text, context);
  if (dialect == "mpmd")
    return getMeshTensor(text, context);
  if (dialect == "secret")
    return getSecretType(text, context);
  return std::nullopt;
}

/// `vtensor<[?,4],f32>` with other numbers between the square brackets.
static std::string writeTorchShape(StringRef text, ArrayRef<int64_t> shape) {
  auto [front, rest] = text.split('[');
  std::string result = front.str() + "[";
  llvm::raw_string_ostream stream(result);
  llvm::interleave(
      shape, stream,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          stream << '?';
        else
          stream << size;
      },
      ",");
  stream << ']' << rest.split(']').second;
  return result;
}

Type mlir::es::withForeignShape(Type type, ArrayRef<int64_t> shape) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(shape);
  auto opaque = dyn_cast<OpaqueType>(type);
  if (!opaque || opaque.getDialectNamespace() != "torch" ||
      !isa_and_present<RankedTensorType>(
          getForeignShapedType(type).value_or(Type())))
    return Type();
  return OpaqueType::get(opaque.getDialectNamespace(),
                         writeTorchShape(opaque.getTypeData(), shape));
}
