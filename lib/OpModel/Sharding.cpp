//===- Sharding.cpp - How values are split over devices -------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small parsers of the texts of shardings.
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/Sharding.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::es;

/// More devices than any machine has.
static constexpr int64_t kMostDevices = int64_t(1) << 24;

int64_t SplitDimension::getParts() const {
  int64_t parts = 1;
  for (DeviceAxis axis : axes)
    parts *= axis.size;
  return parts;
}

bool SplitDimension::overlaps(const SplitDimension &other) const {
  return llvm::any_of(axes, [&](DeviceAxis a) {
    return llvm::any_of(other.axes,
                        [&](DeviceAxis b) { return a.overlaps(b); });
  });
}

bool Sharding::isSplit() const {
  return device || llvm::any_of(dimensions, [](const SplitDimension &split) {
           return !split.axes.empty();
         });
}

SmallVector<int64_t> Sharding::getLocalShape(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> local(shape);
  for (auto [size, split] : llvm::zip(local, dimensions))
    if (size >= 0)
      size = llvm::divideCeil(uint64_t(size), uint64_t(split.getParts()));
  return local;
}

bool Sharding::sameAs(const Sharding &other) const {
  if (device != other.device || dimensions.size() != other.dimensions.size())
    return false;
  return llvm::all_of(llvm::zip(dimensions, other.dimensions), [](auto pair) {
    return std::get<0>(pair).axes == std::get<1>(pair).axes;
  });
}

//===----------------------------------------------------------------------===//
// Shardy
//===----------------------------------------------------------------------===//

/// The text between the bracket at the front and its match; `text` goes on
/// behind it.
static StringRef takeGroup(StringRef &text, char open, char close) {
  unsigned depth = 0;
  for (auto [index, c] : llvm::enumerate(text)) {
    depth += c == open;
    if (c == close && --depth == 0) {
      StringRef group = text.slice(1, index);
      text = text.drop_front(index + 1);
      return group;
    }
    if (depth == 0)
      break;
  }
  text = "";
  return "";
}

/// `"x"`; the text goes on behind it.
static StringRef takeQuoted(StringRef &text) {
  text = text.drop_front(std::min(text.find('"'), text.size()));
  text.consume_front("\"");
  auto [name, rest] = text.split('"');
  text = rest;
  return name;
}

static int64_t takeInteger(StringRef &text) {
  int64_t value = 0;
  text = text.ltrim();
  StringRef digits = text.take_while(llvm::isDigit);
  text = text.drop_front(digits.size());
  (void)digits.getAsInteger(10, value);
  return value;
}

/// `<["x"=2, "y"=4], device_ids=[3]>`
ShardingReader::Mesh ShardingReader::readMesh(StringRef text) {
  Mesh mesh;
  StringRef rest = text.drop_front(std::min(text.find('['), text.size()));
  StringRef axes = takeGroup(rest, '[', ']');
  SmallVector<std::pair<StringRef, int64_t>> listed;
  while (axes.contains('"')) {
    StringRef name = takeQuoted(axes);
    axes = axes.ltrim();
    if (!axes.consume_front("="))
      break;
    listed.push_back({name, std::max<int64_t>(takeInteger(axes), 1)});
  }
  int64_t stride = 1;
  for (auto [name, size] : llvm::reverse(listed)) {
    if (size > kMostDevices / stride)
      return mesh;
    mesh.axes[name] = {stride, size};
    stride *= size;
  }
  numDevices = std::max(numDevices, stride);
  size_t ids = rest.find("device_ids=[");
  if (listed.empty() && ids != StringRef::npos) {
    rest = rest.drop_front(ids + StringRef("device_ids=[").size());
    mesh.device = takeInteger(rest);
    numDevices = std::max(numDevices, *mesh.device + 1);
  }
  return mesh;
}

ShardingReader::ShardingReader(Operation *module) {
  if (auto partitions =
          module->getAttrOfType<IntegerAttr>("mhlo.num_partitions"))
    numDevices = std::clamp<int64_t>(partitions.getInt(), 1, kMostDevices);
  module->walk([&](Operation *op) {
    auto name = op->getAttrOfType<StringAttr>("sym_name");
    auto mesh = op->getAttrOfType<OpaqueAttr>("mesh");
    if (op->getName().getStringRef() == "sdy.mesh" && name && mesh)
      meshes[name.getValue()] = readMesh(mesh.getAttrData());
  });
}

/// `"x"`, or `"x":(2)4`: x is 2 x 4 x ..., and this is the 4.
std::optional<DeviceAxis> ShardingReader::takeAxis(StringRef &text,
                                                   const Mesh &mesh) {
  auto it = mesh.axes.find(takeQuoted(text));
  if (it == mesh.axes.end())
    return std::nullopt;
  DeviceAxis axis = it->second;
  if (!text.consume_front(":("))
    return axis;
  int64_t before = std::max<int64_t>(takeInteger(text), 1);
  text.consume_front(")");
  int64_t size = std::max<int64_t>(takeInteger(text), 1);
  if (before > axis.size || size > axis.size / before ||
      axis.size % (before * size))
    return std::nullopt;
  axis.stride *= axis.size / (before * size);
  axis.size = size;
  return axis;
}

/// `@mesh, [{"x", ?}, {"y":(1)2}p1, {}], replicated={"z"}`
std::optional<Sharding>
ShardingReader::readShardy(StringRef text, unsigned index, unsigned rank) {
  // One of several: `<@mesh, [...]>, <@mesh, [...]>`.
  for (unsigned i = 0; text.ltrim().starts_with("<"); ++i) {
    text = text.ltrim();
    StringRef one = takeGroup(text, '<', '>');
    text = text.ltrim(" ,");
    if (i == index)
      return readShardy(one, 0, rank);
  }
  text = text.ltrim();
  Mesh mesh;
  if (text.consume_front("@")) {
    StringRef name = text.take_until([](char c) { return c == ','; }).trim();
    auto it = meshes.find(name.trim('"'));
    if (it == meshes.end())
      return std::nullopt;
    mesh = it->second;
    text = text.split(',').second;
  } else if (text.consume_front("mesh")) {
    mesh = readMesh(takeGroup(text, '<', '>'));
    text = text.split(',').second;
  } else {
    return std::nullopt;
  }
  Sharding sharding;
  sharding.device = mesh.device;
  text = text.drop_front(std::min(text.find('['), text.size()));
  StringRef list = takeGroup(text, '[', ']');
  while (list.contains('{')) {
    list = list.drop_front(list.find('{'));
    StringRef axes = takeGroup(list, '{', '}');
    SplitDimension &split = sharding.dimensions.emplace_back();
    split.isOpen = axes.contains('?');
    if (list.consume_front("p"))
      split.priority = takeInteger(list);
    while (axes.contains('"')) {
      std::optional<DeviceAxis> axis = takeAxis(axes, mesh);
      if (!axis)
        return std::nullopt;
      if (axis->size > 1)
        split.axes.push_back(*axis);
    }
  }
  size_t whole = text.find("replicated=");
  if (whole != StringRef::npos) {
    StringRef names = text.drop_front(whole + StringRef("replicated=").size());
    names = takeGroup(names, '{', '}');
    while (names.contains('"')) {
      std::optional<DeviceAxis> axis = takeAxis(names, mesh);
      if (!axis)
        return std::nullopt;
      sharding.replicated.push_back(*axis);
    }
  }
  // A mesh of one device splits nothing, and no dimensions are listed.
  if (sharding.device)
    sharding.dimensions.resize(rank);
  if (sharding.dimensions.size() != rank)
    return std::nullopt;
  return sharding;
}

//===----------------------------------------------------------------------===//
// XLA
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> parseList(StringRef text) {
  SmallVector<int64_t> values;
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    values.push_back(takeInteger(part));
  return values;
}

/// How far apart neighbours along each dimension of the tiles are:
///   [2,4]<=[8]            row by row: 4, 1
///   [4,2]<=[2,4]T(1,0)    of devices in 2 rows of 4, transposed: 1, 4
///   [2,2]0,2,1,3          as listed
static SmallVector<int64_t> getStrides(ArrayRef<int64_t> tiles,
                                       StringRef text) {
  SmallVector<int64_t> order;
  int64_t total = 1;
  for (int64_t size : tiles)
    total *= size;
  if (text.consume_front("<=")) {
    SmallVector<int64_t> shape = parseList(takeGroup(text, '[', ']'));
    SmallVector<int64_t> permutation;
    if (text.consume_front("T"))
      permutation = parseList(takeGroup(text, '(', ')'));
    for (size_t i = permutation.size(); i < shape.size(); ++i)
      permutation.push_back(i);
    // Strides of the devices' own shape, then walked in permuted order.
    SmallVector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;)
      strides[i - 1] = strides[i] * shape[i];
    order.push_back(0);
    for (int64_t dim : permutation) {
      if (dim < 0 || size_t(dim) >= shape.size() ||
          int64_t(order.size()) >
              kMostDevices / std::max<int64_t>(shape[dim], 1))
        return {};
      SmallVector<int64_t> next;
      for (int64_t base : order)
        for (int64_t i = 0; i < shape[dim]; ++i)
          next.push_back(base + i * strides[dim]);
      order = std::move(next);
    }
  } else {
    order = parseList(text);
  }
  if (int64_t(order.size()) != total)
    return {};
  SmallVector<int64_t> strides(tiles.size(), 1);
  int64_t step = total;
  for (auto [stride, size] : llvm::zip(strides, tiles)) {
    step /= size;
    if (size > 1)
      stride = std::abs(order[step] - order[0]);
  }
  return strides;
}

/// `{devices=[2,1,4]<=[8] last_tile_dim_replicate}`, `{replicated}`,
/// `{maximal device=0}`, `{manual}`, a list of these in braces.
std::optional<Sharding> ShardingReader::readXla(StringRef text, unsigned index,
                                                unsigned rank) {
  text = text.trim();
  StringRef body = takeGroup(text, '{', '}').trim();
  if (body.starts_with("{")) {
    for (unsigned i = 0; body.starts_with("{"); ++i) {
      StringRef rest = body;
      takeGroup(rest, '{', '}');
      if (i == index)
        return readXla(body.drop_back(rest.size()), 0, rank);
      body = rest.ltrim(" ,");
    }
    return std::nullopt;
  }
  Sharding sharding;
  sharding.dimensions.resize(rank);
  if (body.starts_with("replicated") || body.starts_with("manual"))
    return sharding;
  if (body.consume_front("maximal device=")) {
    sharding.device = takeInteger(body);
    numDevices = std::max(numDevices, *sharding.device + 1);
    return sharding;
  }
  if (!body.consume_front("devices="))
    return std::nullopt;
  SmallVector<int64_t> tiles = parseList(takeGroup(body, '[', ']'));
  StringRef devices = body.take_until([](char c) { return c == ' '; });
  int64_t total = 1;
  for (int64_t size : tiles) {
    if (size < 1 || size > kMostDevices / total)
      return std::nullopt;
    total *= size;
  }
  SmallVector<int64_t> strides = getStrides(tiles, devices);
  if (strides.size() != tiles.size() || tiles.size() < rank)
    return std::nullopt;
  numDevices = std::max(numDevices, total);
  // What follows the dimensions of the value are groups of devices.
  for (auto [dim, split] : llvm::enumerate(sharding.dimensions))
    if (tiles[dim] > 1)
      split.axes.push_back({strides[dim], tiles[dim]});
  return sharding;
}

Attribute mlir::es::selectSharding(Attribute attribute, unsigned index) {
  auto opaque = dyn_cast_if_present<OpaqueAttr>(attribute);
  StringRef data = opaque ? opaque.getAttrData() : "";
  if (!data.consume_front("sharding_per_value"))
    return nullptr;
  StringRef body = takeGroup(data, '<', '>').trim();
  StringRef list = takeGroup(body, '[', ']').trim();
  for (unsigned i = 0; list.starts_with("<"); ++i) {
    StringRef one = takeGroup(list, '<', '>');
    list = list.ltrim(" ,");
    if (i == index)
      return OpaqueAttr::get(opaque.getDialectNamespace(),
                             ("sharding<" + one + ">").str(), opaque.getType());
  }
  return nullptr;
}

std::optional<Sharding> ShardingReader::read(Attribute attribute,
                                             unsigned index, unsigned rank) {
  if (!attribute)
    return std::nullopt;
  std::optional<Sharding> sharding;
  if (auto text = dyn_cast<StringAttr>(attribute)) {
    sharding = readXla(text.getValue(), index, rank);
  } else if (auto opaque = dyn_cast<OpaqueAttr>(attribute)) {
    StringRef data = opaque.getAttrData();
    if (data.consume_front("sharding_per_value")) {
      StringRef body = takeGroup(data, '<', '>').trim();
      sharding = readShardy(takeGroup(body, '[', ']'), index, rank);
    } else if (data.consume_front("sharding")) {
      sharding = readShardy(takeGroup(data, '<', '>'), index, rank);
    }
  }
  if (!sharding && unreadable.empty())
    llvm::raw_string_ostream(unreadable) << attribute;
  return sharding;
}
