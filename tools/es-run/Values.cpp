//===- Values.cpp - What a run starts with and leaves ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Allocator.h"
#include "Arrays.h"
#include "Run.h"

#include "es/Reference/Noise.h"
#include "es/Reference/NoiseVersion1.h"
#include "es/Reference/Storage.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::es;

LogicalResult Run::allocate() {
  for (Slot &slot : slots)
    if (slot.isShaped()) {
      uint64_t bytes = getBytes(cast<ShapedType>(slot.value.type));
      slot.value.data = memory::allocate(bytes);
      std::memset(slot.value.data, 0, bytes);
    }
  return success();
}

/// Normal noise of its own purpose over the square root of what an output sums
/// over: all dimensions but the last. Vectors and scalars start at 0.
void Run::drawInitial(Slot &slot) {
  auto type = cast<ShapedType>(slot.value.type);
  Type element = type.getElementType();
  if (type.getRank() < 2 || type.getNumElements() == 0)
    return;
  double scale = 1 / std::sqrt(double(type.getNumElements() /
                                      type.getDimSize(type.getRank() - 1)));
  bool isInteger = isa<IntegerType>(element);
  unsigned bits = element.getIntOrFloatBitWidth();
  if (isInteger) {
    auto stored = dyn_cast_if_present<quant::UniformQuantizedType>(
        slot.stored ? getElementTypeOrSelf(slot.stored) : Type());
    // Without a scale, a quarter of the range.
    scale = stored ? scale / stored.getScale() : std::ldexp(0.25, bits - 1);
  }
  reference::Stream stream{reference::getStepKey(checkpoint.seed, 0), slot.id,
                           0, noise::kInitialise};
  double most = std::ldexp(1.0, bits - 1) - 1;
  uint64_t bytes = getElementBytes(element);
  auto *at = static_cast<char *>(slot.value.data);
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i, at += bytes) {
    double value =
        scale * reference::getSample(stream, reference::Noise::normal16, i);
    if (isInteger) {
      auto whole =
          int64_t(std::nearbyint(std::min(std::max(value, -most), most)));
      std::memcpy(at, &whole, bytes);
    } else if (element.isF64()) {
      std::memcpy(at, &value, bytes);
    } else if (element.isF32()) {
      auto narrow = float(value);
      std::memcpy(at, &narrow, bytes);
    } else if (element.isBF16() || element.isF16()) {
      uint16_t half = element.isBF16() ? reference::toBf16(float(value))
                                       : reference::toF16(float(value));
      std::memcpy(at, &half, bytes);
    }
  }
}

LogicalResult Run::loadArrays() {
  if (options.load.empty())
    return success();
  for (Slot &slot : slots) {
    std::string path = getArrayPath(options.load, slot.name);
    if (slot.isShaped() && llvm::sys::fs::exists(path))
      if (llvm::Error error = readArray(path, cast<ShapedType>(slot.value.type),
                                        slot.value.data))
        return fail(std::move(error));
  }
  return success();
}

LogicalResult Run::initialise() {
  if (has(".init")) {
    Value64 seed;
    seed.bits = int64_t(checkpoint.seed);
    FailureOr<std::vector<Value64>> values = call(getName(".init"), seed);
    if (failed(values))
      return failure();
    size_t next = 0;
    for (Slot &slot : slots)
      if (slot.isParameter()) {
        std::memcpy(slot.value.data, (*values)[next].data,
                    getBytes(cast<ShapedType>(slot.value.type)));
        memory::release((*values)[next++].data);
      }
  } else {
    for (Slot &slot : slots)
      if (slot.isParameter())
        drawInitial(slot);
  }
  if (failed(loadArrays()))
    return failure();
  for (const Slot &slot : slots)
    if (slot.role == Role::Input && slot.isShaped() && !has(".batch") &&
        (options.load.empty() ||
         !llvm::sys::fs::exists(getArrayPath(options.load, slot.name))))
      return mlir::emitError(loc)
             << "'" << slot.name << "' has no value: expects a function '@"
             << entry << ".batch' that returns it, or a file "
             << getArrayPath(options.load.empty() ? "DIR" : options.load,
                             slot.name)
             << " (--load=DIR)";
  checkpoint.initial = digestParameters();
  // Full copies of parameters, where the rule keeps some, start as they are.
  if (options.evolution.rounding != Rounding::master)
    return success();
  for (const Slot &slot : slots) {
    Type element = getElementTypeOrSelf(slot.value.type);
    if (slot.role != Role::TrainableParameter ||
        !(element.isBF16() || element.isF16()))
      continue;
    for (Slot &state : llvm::reverse(slots))
      if (state.role == Role::OptimizerState &&
          StringRef(state.name).starts_with(slot.name + ".state")) {
        int64_t count = cast<ShapedType>(slot.value.type).getNumElements();
        const auto *from = static_cast<const uint16_t *>(slot.value.data);
        auto *to = static_cast<float *>(state.value.data);
        for (int64_t i = 0; i < count; ++i)
          to[i] = element.isBF16() ? reference::fromBf16(from[i])
                                   : reference::fromF16(from[i]);
        break;
      }
  }
  return success();
}

LogicalResult Run::takeBatch(uint64_t generation) {
  if (!has(".batch"))
    return success();
  Value64 seed, step;
  seed.bits = int64_t(checkpoint.seed);
  step.bits = int64_t(generation);
  FailureOr<std::vector<Value64>> values =
      call(getName(".batch"), {seed, step});
  if (failed(values))
    return failure();
  size_t next = 0;
  for (Slot &slot : slots)
    if (slot.role == Role::Input && slot.isShaped()) {
      std::memcpy(slot.value.data, (*values)[next].data,
                  getBytes(cast<ShapedType>(slot.value.type)));
      memory::release((*values)[next++].data);
    }
  return success();
}

uint64_t Run::digestParameters() {
  uint64_t state = digest("");
  for (const Slot &slot : slots)
    if (slot.isParameter())
      state = digest(StringRef(static_cast<const char *>(slot.value.data),
                               getBytes(cast<ShapedType>(slot.value.type))),
                     state);
  return state;
}

LogicalResult Run::writeArrays() {
  if (options.out.empty())
    return success();
  if (std::error_code error = llvm::sys::fs::create_directories(options.out))
    return fail(
        llvm::createStringError(error, options.out + ": " + error.message()));
  for (const Slot &slot : slots)
    if (slot.isParameter() || slot.role == Role::OptimizerState)
      if (llvm::Error error =
              writeArray(getArrayPath(options.out, slot.name),
                         cast<ShapedType>(slot.value.type), slot.value.data))
        return fail(std::move(error));
  return success();
}
