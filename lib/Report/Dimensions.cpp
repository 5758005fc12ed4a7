//===- Dimensions.cpp - Dynamic dimensions by name ------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dimensions.h"
#include "es/Dialect/ES/IR/ES.h"
#include "es/Foreign/Types.h"
#include "es/OpModel/CustomCalls.h"
#include "es/OpModel/RoleFacts.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::es;

static bool isDynamic(Type type, unsigned dimension) {
  ShapedType shaped = getCarriedShape(type);
  return shaped && shaped.hasRank() && dimension < shaped.getRank() &&
         shaped.isDynamicDim(dimension);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

DimensionNames::DimensionNames(ArrayRef<FunctionOpInterface> entries) {
  for (FunctionOpInterface func : entries)
    addArguments(func);
  for (FunctionOpInterface func : entries) {
    addJaxVariables(func);
    addTorchSymbols(func);
  }
}

ArrayRef<DimensionSite> DimensionNames::lookup(StringRef name) const {
  if (auto it = sites.find(name.str()); it != sites.end())
    return it->second;
  auto it = positions.find(name);
  return it == positions.end() ? ArrayRef<DimensionSite>() : it->second;
}

std::string DimensionNames::list() const {
  std::string text;
  for (const auto &[name, found] : sites)
    text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nothing" : text;
}

/// `batch` first, then `x.0` and so on.
void DimensionNames::addArguments(FunctionOpInterface func) {
  for (BlockArgument argument : func.getArguments())
    if (isDynamic(argument.getType(), 0))
      sites["batch"].push_back({func, argument.getArgNumber(), 0});
  for (BlockArgument argument : func.getArguments()) {
    ShapedType shaped = getCarriedShape(argument.getType());
    if (!shaped || !shaped.hasRank())
      continue;
    unsigned index = argument.getArgNumber();
    std::string name = getArgumentName(func, index);
    std::string position = "arg" + std::to_string(index);
    for (unsigned dim = 0, e = shaped.getRank(); dim < e; ++dim) {
      if (!shaped.isDynamicDim(dim))
        continue;
      std::string suffix = "." + std::to_string(dim);
      sites[name + suffix].push_back({func, index, dim});
      positions[position + suffix].push_back({func, index, dim});
    }
  }
}

/// `b`, `2*b`, `b + 1`, `2*b - 1`: a variable with factor and offset. Nothing
/// for a number, or for more than one variable.
static std::optional<std::pair<StringRef, DimensionSite>>
parseDimension(StringRef text) {
  DimensionSite site;
  size_t sign = text.find_last_of("+-");
  if (sign != StringRef::npos) {
    if (text.drop_front(sign + 1).trim().getAsInteger(10, site.offset))
      return std::nullopt;
    if (text[sign] == '-')
      site.offset = -site.offset;
    text = text.take_front(sign);
  }
  text = text.trim();
  if (text.contains('*')) {
    auto [factor, name] = text.split('*');
    if (factor.trim().getAsInteger(10, site.factor))
      return std::nullopt;
    text = name.trim();
  }
  bool isName =
      !text.empty() && !llvm::isDigit(text.front()) &&
      llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!isName || site.factor < 1)
    return std::nullopt;
  return std::make_pair(text, site);
}

/// JAX repeats the shapes it was given in what it says if an assertion fails:
/// `args[0].shape = (b, 4),args[1].shape = (2*b,).`, one for every argument
/// with a variable, in order.
static SmallVector<SmallVector<StringRef>> getJaxShapes(StringRef message) {
  SmallVector<SmallVector<StringRef>> shapes;
  StringRef text = message.split("polymorphic shapes specifications: ").second;
  text = text.split(". ").first;
  while (true) {
    text = text.split(".shape = (").second;
    if (text.empty())
      return shapes;
    auto [dims, rest] = text.split(')');
    SmallVector<StringRef> &parts = shapes.emplace_back();
    dims.split(parts, ',', -1, /*KeepEmpty=*/false);
    text = rest;
  }
}

void DimensionNames::addJaxVariables(FunctionOpInterface func) {
  SmallVector<SmallVector<StringRef>> shapes;
  func.getFunctionBody().walk([&](Operation *op) {
    StringAttr message = getAssertionMessage(op);
    if (!message)
      return WalkResult::advance();
    shapes = getJaxShapes(message.getValue());
    return shapes.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  SmallVector<BlockArgument> arguments;
  for (BlockArgument argument : func.getArguments())
    if (ShapedType type = getCarriedShape(argument.getType());
        type && type.hasRank() && !type.hasStaticShape())
      arguments.push_back(argument);
  if (arguments.size() != shapes.size())
    return;
  for (auto [argument, shape] : llvm::zip(arguments, shapes)) {
    if (shape.size() != size_t(getCarriedShape(argument.getType()).getRank()))
      continue;
    for (auto [dim, text] : llvm::enumerate(shape)) {
      auto parsed = parseDimension(text);
      if (!parsed || !isDynamic(argument.getType(), dim))
        continue;
      auto [name, site] = *parsed;
      site.func = func;
      site.argument = argument.getArgNumber();
      site.dimension = dim;
      sites[name.str()].push_back(site);
    }
  }
}

/// Names of the symbols that an op of torch.bind_symbolic_shape takes.
static SmallVector<StringAttr> getSymbolNames(Operation *bind) {
  SmallVector<StringAttr> names;
  for (Value symbol : llvm::drop_begin(bind->getOperands())) {
    Operation *def = symbol.getDefiningOp();
    names.push_back(def ? def->getAttrOfType<StringAttr>("symbol_name")
                        : StringAttr());
  }
  return names;
}

static bool isBind(Operation *op) {
  return op->getName().getStringRef() == "torch.bind_symbolic_shape" &&
         op->getNumOperands() > 0;
}

/// A symbol is a name where a dimension of an argument is that symbol, or a
/// multiple of it.
void DimensionNames::addTorchSymbols(FunctionOpInterface func) {
  func.getFunctionBody().walk([&](Operation *op) {
    if (!isBind(op))
      return;
    auto argument = dyn_cast<BlockArgument>(op->getOperand(0));
    auto map = op->getAttrOfType<AffineMapAttr>("shape_expressions");
    if (!argument || !map ||
        argument.getOwner() != &func.getFunctionBody().front())
      return;
    SmallVector<StringAttr> names = getSymbolNames(op);
    for (auto [dim, result] : llvm::enumerate(map.getValue().getResults())) {
      AffineExpr expr = result;
      int64_t factor = 1;
      if (auto product = dyn_cast<AffineBinaryOpExpr>(expr);
          product && product.getKind() == AffineExprKind::Mul)
        if (auto constant = dyn_cast<AffineConstantExpr>(product.getRHS())) {
          factor = constant.getValue();
          expr = product.getLHS();
        }
      auto symbol = dyn_cast<AffineSymbolExpr>(expr);
      if (!symbol || symbol.getPosition() >= names.size() ||
          !names[symbol.getPosition()] || factor < 1 ||
          !isDynamic(argument.getType(), dim))
        continue;
      StringRef name = names[symbol.getPosition()].getValue();
      torchSymbols.insert(name);
      sites[name.str()].push_back(
          {func, argument.getArgNumber(), unsigned(dim), factor});
    }
  });
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

DimensionBounds mlir::es::getDimensionBounds(ModuleOp module, StringRef name) {
  DimensionBounds bounds;
  module.walk([&](Operation *op) {
    if (op->getName().getStringRef() != "torch.symbolic_int")
      return;
    auto symbol = op->getAttrOfType<StringAttr>("symbol_name");
    if (!symbol || symbol.getValue() != name)
      return;
    if (auto min = op->getAttrOfType<IntegerAttr>("min_val"))
      bounds.min = std::max<int64_t>(min.getInt(), 1);
    // torch.export writes the largest integer for no bound.
    if (auto max = op->getAttrOfType<IntegerAttr>("max_val"))
      if (max.getInt() >= 0 && uint64_t(max.getInt()) <= kLargestDimension)
        bounds.max = max.getInt();
  });
  return bounds;
}

//===----------------------------------------------------------------------===//
// Shapes that symbols give
//===----------------------------------------------------------------------===//

void mlir::es::bindTorchSymbols(FunctionOpInterface func,
                                const llvm::StringMap<int64_t> &sizes) {
  func.getFunctionBody().walk([&](Operation *op) {
    if (!isBind(op))
      return;
    auto map = op->getAttrOfType<AffineMapAttr>("shape_expressions");
    Value value = op->getOperand(0);
    ShapedType shaped = getCarriedShape(value.getType());
    if (!map || !shaped || !shaped.hasRank() ||
        shaped.getRank() != map.getValue().getNumResults())
      return;
    SmallVector<AffineExpr> symbols;
    for (auto [index, name] : llvm::enumerate(getSymbolNames(op))) {
      auto it = name ? sizes.find(name.getValue()) : sizes.end();
      symbols.push_back(
          it == sizes.end()
              ? getAffineSymbolExpr(index, func.getContext())
              : getAffineConstantExpr(it->second, func.getContext()));
    }
    SmallVector<int64_t> shape(shaped.getShape());
    for (auto [size, expr] : llvm::zip(shape, map.getValue().getResults()))
      if (auto constant = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
              expr.replaceSymbols(symbols), 0, map.getValue().getNumSymbols()));
          constant && ShapedType::isDynamic(size) && constant.getValue() >= 0)
        size = constant.getValue();
    if (Type bound = withForeignShape(value.getType(), shape))
      value.setType(bound);
  });
}
