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
#include "es/OpModel/Torch.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

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
  if (isEmpty())
    return;
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

void DimensionNames::claim(StringRef name, FunctionOpInterface func) {
  auto it = sites.find(name.str());
  if (it != sites.end())
    llvm::erase_if(it->second, [&](auto &site) { return site.func == func; });
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
  llvm::StringSet<> claimed;
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
      if (claimed.insert(name).second)
        claim(name, func);
      sites[name.str()].push_back(site);
    }
  }
}

/// `s0`, `s0 * 2`, `s0 * 2 - 1`: the symbol, with factor and offset.
static std::optional<std::pair<unsigned, DimensionSite>>
parseDimension(AffineExpr expr) {
  DimensionSite site;
  auto takeConstant = [&](AffineExprKind kind, int64_t &constant) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary || binary.getKind() != kind)
      return;
    if (auto right = dyn_cast<AffineConstantExpr>(binary.getRHS())) {
      constant = right.getValue();
      expr = binary.getLHS();
    }
  };
  takeConstant(AffineExprKind::Add, site.offset);
  takeConstant(AffineExprKind::Mul, site.factor);
  auto symbol = dyn_cast<AffineSymbolExpr>(expr);
  constexpr int64_t most = kLargestDimension;
  if (!symbol || site.factor < 1 || site.factor > most || site.offset > most ||
      site.offset < -most)
    return std::nullopt;
  return std::make_pair(symbol.getPosition(), site);
}

static DimensionBounds readBounds(const SymbolicSize &symbol) {
  DimensionBounds bounds;
  bounds.min =
      std::clamp<int64_t>(symbol.min.value_or(1), 1, kLargestDimension);
  // torch.export writes the largest integer for no bound.
  if (symbol.max && *symbol.max >= 0 &&
      uint64_t(*symbol.max) <= kLargestDimension)
    bounds.max = *symbol.max;
  return bounds;
}

/// A symbol is a name where a dimension of an argument follows from that symbol
/// alone.
void DimensionNames::addTorchSymbols(FunctionOpInterface func) {
  llvm::MapVector<StringRef, DimensionSymbol> symbols;
  func.getFunctionBody().walk([&](Operation *op) {
    std::optional<SymbolicShape> shape = getSymbolicShape(op);
    if (!shape)
      return;
    auto argument = dyn_cast<BlockArgument>(shape->value);
    if (!argument || argument.getOwner() != &func.getFunctionBody().front())
      return;
    for (auto [dim, expr] : llvm::enumerate(shape->sizes.getResults())) {
      auto parsed = parseDimension(expr);
      if (!parsed || !shape->symbols[parsed->first] ||
          !isDynamic(argument.getType(), dim))
        continue;
      const SymbolicSize &size = *shape->symbols[parsed->first];
      DimensionSite site = parsed->second;
      site.func = func;
      site.argument = argument.getArgNumber();
      site.dimension = dim;
      DimensionSymbol &entry = symbols[size.name];
      entry.name = size.name.str();
      entry.bounds = readBounds(size);
      entry.sites.push_back(site);
    }
  });
  for (auto &[name, symbol] : symbols) {
    claim(name, func);
    llvm::append_range(sites[symbol.name], symbol.sites);
    torchSymbols.push_back(std::move(symbol));
  }
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

static bool isSamePlace(const DimensionSite &a, const DimensionSite &b) {
  return a.func == b.func && a.argument == b.argument &&
         a.dimension == b.dimension;
}

/// The sizes of `site`'s name for which its dimension is one of `symbol`, where
/// that is within `bounds`.
static DimensionBounds translate(const DimensionBounds &bounds,
                                 const DimensionSite &symbol,
                                 const DimensionSite &site) {
  auto dimension = [&](uint64_t size) {
    return int64_t(size) * symbol.factor + symbol.offset - site.offset;
  };
  DimensionBounds result;
  int64_t min = llvm::divideCeilSigned(dimension(bounds.min), site.factor);
  result.min = std::max<int64_t>(min, 1);
  if (bounds.max)
    result.max = std::max<int64_t>(
        llvm::divideFloorSigned(dimension(*bounds.max), site.factor), 0);
  return result;
}

DimensionBounds DimensionNames::getBounds(StringRef name) const {
  DimensionBounds bounds;
  for (const DimensionSite &site : lookup(name))
    for (const DimensionSymbol &symbol : torchSymbols)
      for (const DimensionSite &other : symbol.sites) {
        if (!isSamePlace(site, other))
          continue;
        DimensionBounds here = translate(symbol.bounds, other, site);
        bounds.min = std::max(bounds.min, here.min);
        if (here.max)
          bounds.max = std::min(bounds.max.value_or(*here.max), *here.max);
      }
  return bounds;
}

//===----------------------------------------------------------------------===//
// Shapes that symbols give
//===----------------------------------------------------------------------===//

void mlir::es::bindTorchSymbols(FunctionOpInterface func,
                                const llvm::StringMap<int64_t> &sizes) {
  func.getFunctionBody().walk([&](Operation *op) {
    std::optional<SymbolicShape> stated = getSymbolicShape(op);
    if (!stated)
      return;
    Value value = stated->value;
    AffineMap map = stated->sizes;
    ShapedType shaped = getCarriedShape(value.getType());
    if (!shaped || !shaped.hasRank() || shaped.getRank() != map.getNumResults())
      return;
    SmallVector<AffineExpr> symbols;
    for (auto [index, symbol] : llvm::enumerate(stated->symbols)) {
      auto it = symbol ? sizes.find(symbol->name) : sizes.end();
      symbols.push_back(
          it == sizes.end()
              ? getAffineSymbolExpr(index, func.getContext())
              : getAffineConstantExpr(it->second, func.getContext()));
    }
    SmallVector<int64_t> shape(shaped.getShape());
    for (auto [size, expr] : llvm::zip(shape, map.getResults()))
      if (auto constant = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
              expr.replaceSymbols(symbols), 0, map.getNumSymbols()));
          constant && ShapedType::isDynamic(size) && constant.getValue() >= 0)
        size = constant.getValue();
    if (Type bound = withForeignShape(value.getType(), shape))
      value.setType(bound);
  });
}
