//===- EmitNoise.cpp - Addressed noise in lanes ---------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitNoise.h"
#include "es/Reference/NoiseVersion1.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::kernel;
using namespace mlir::es::noise;

//===----------------------------------------------------------------------===//
// The generator
//===----------------------------------------------------------------------===//

RoundKeys::RoundKeys(ImplicitLocOpBuilder &b, Value key) {
  Lanes s(b, 1);
  Value low = s.whole(0xffffffff, 64);
  Value k0 = s.band(key, low), k1 = s.shr(key, 32);
  for (unsigned round = 0; round < kPhiloxRounds; ++round) {
    int64_t w0 = uint32_t(round * kPhiloxWeyl0);
    int64_t w1 = uint32_t(round * kPhiloxWeyl1);
    first.push_back(s.band(s.add(k0, s.whole(w0, 64)), low));
    second.push_back(s.band(s.add(k1, s.whole(w1, 64)), low));
  }
}

using State = SmallVector<Value, 4>;

/// The state is kept in i64 lanes whose upper halves are not clean: the product
/// of two lower halves is one instruction, and only products and the end read
/// lanes as numbers. A round of all states at a time, so that each is ready
/// when its turn comes.
static void emitRounds(const Lanes &q, const RoundKeys &keys,
                       MutableArrayRef<State> states) {
  Value low = q.whole(0xffffffff, 64);
  Value m0 = q.whole(kPhiloxMultiplier0, 64);
  Value m1 = q.whole(kPhiloxMultiplier1, 64);
  for (unsigned round = 0; round < kPhiloxRounds; ++round) {
    Value k0 = q.splat(keys.first[round]), k1 = q.splat(keys.second[round]);
    for (State &c : states) {
      Value p0 = q.mul(q.band(c[0], low), m0);
      Value p1 = q.mul(q.band(c[2], low), m1);
      c = {q.bxor(q.bxor(q.shr(p1, 32), c[1]), k0), p1,
           q.bxor(q.bxor(q.shr(p0, 32), c[3]), k1), p0};
    }
  }
}

SmallVector<Value, 4> mlir::es::kernel::emitBlocks(const Lanes &l,
                                                   const StreamValues &stream,
                                                   Value block) {
  // Even and odd lanes apart, so that each has 64 bits.
  bool split = l.width > 1;
  Lanes s(l.b, 1), q(l.b, split ? l.width / 2 : 1);
  Value low = s.whole(0xffffffff, 64);
  Value blockLow = s.band(block, low);
  Value high = s.bor(s.band(s.shr(block, 32), s.whole(0xffffff, 64)),
                     s.whole(int64_t(stream.purpose) << 24, 64));
  SmallVector<State, 2> parts;
  for (unsigned part = 0; part < (split ? 2 : 1); ++part) {
    Value counter = q.add(q.splat(blockLow), q.ramp(part, split ? 2 : 1, 64));
    parts.push_back(
        {counter, q.splat(high), q.splat(stream.pair), q.splat(stream.id)});
  }
  emitRounds(q, stream.keys, parts);
  SmallVector<Value, 4> words;
  for (unsigned word = 0; word < 4; ++word) {
    if (!split) {
      words.push_back(s.trunc(parts[0][word], 32));
      continue;
    }
    Value joined = q.bor(q.band(parts[0][word], q.whole(0xffffffff, 64)),
                         q.shl(parts[1][word], 32));
    words.push_back(vector::BitCastOp::create(
        l.b, cast<VectorType>(l.of(l.i(32))), joined));
  }
  return words;
}

Value mlir::es::kernel::emitStepKey(ImplicitLocOpBuilder &b, Value seed,
                                    Value step) {
  Lanes s(b, 1);
  Value low = s.whole(0xffffffff, 64);
  State c = {s.band(step, low), s.shr(step, 32), s.whole(kStepKeyTag, 64),
             s.whole(1, 64)};
  emitRounds(s, RoundKeys(b, seed), c);
  return s.bor(s.band(c[0], low), s.shl(c[1], 32));
}

unsigned mlir::es::kernel::getSamplesPerBlock(NoiseKind noise) {
  switch (noise) {
  case NoiseKind::normal16:
  case NoiseKind::uniform:
    return 8;
  case NoiseKind::normal32:
    return 4;
  case NoiseKind::int8:
    return 16;
  case NoiseKind::rademacher:
    return 128;
  }
  llvm_unreachable("every distribution has a layout");
}

//===----------------------------------------------------------------------===//
// The normal transforms
//===----------------------------------------------------------------------===//

/// 2 h + 1 of the upper half h, so u = (2 h + 1) / 2^17 = 2^e m.
static Value emitRadius16(const Lanes &l, Value word) {
  Value t = l.toFloat(l.bor(l.shr(word, 15), l.whole(1)));
  Value bits = l.bitcast(t, l.i(32));
  Value e = l.toFloat(l.sub(l.shr(bits, 23), l.whole(127 + 17)));
  Value m = l.bitcast(
      l.bor(l.band(bits, l.whole(0x7fffff)), l.whole(0x3f800000)), l.f32());
  return l.sqrt(l.fma(e, l.real(kMinusTwoLn2), l.horner(kLog16, m)));
}

static std::pair<Value, Value> emitSinCos(const Lanes &l, ArrayRef<float> s,
                                          ArrayRef<float> c, Value x) {
  Value square = l.mul(x, x);
  Value sh = l.mul(x, l.horner(s, square));
  Value ch = l.horner(c, square);
  return {l.mul(sh, ch), l.fma(l.neg(sh), sh, l.real(1.0))};
}

/// (2 l + 1) / 2^16 of a signed half l in the upper half of `word`.
static Value emitAngle16(const Lanes &l, Value word) {
  return l.mul(l.toFloat(l.bor(l.sar(word, 15), l.whole(1))), l.real(0x1p-16));
}

static Value emitRadius32(const Lanes &l, Value word) {
  Value t = arith::UIToFPOp::create(l.b, l.of(l.f32()), word);
  Value u = l.fma(t, l.real(0x1p-32), l.real(0x1p-33));
  Value shifted = l.sub(l.bitcast(u, l.i(32)), l.whole(kSqrtHalfBits));
  Value e = l.toFloat(l.sar(shifted, 23));
  Value bits =
      l.add(l.band(shifted, l.whole(0x7fffff)), l.whole(kSqrtHalfBits));
  Value f = l.sub(l.bitcast(bits, l.f32()), l.real(1.0));
  return l.sqrt(l.fma(e, l.real(kMinusTwoLn2), l.mul(f, l.horner(kLog32, f))));
}

static std::pair<Value, Value> emitSinCos32(const Lanes &l, Value word) {
  Value x = l.fma(l.toFloat(word), l.real(0x1p-31), l.real(0x1p-32));
  return emitSinCos(l, kSin32, kCos32, x);
}

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

Value mlir::es::kernel::emitSignBit(const Lanes &l, ArrayRef<Value> words,
                                    unsigned sample) {
  Value flipped = l.bxor(words[sample / 32], l.whole(0xffffffff));
  return l.band(l.shl(flipped, 31 - sample % 32), l.whole(0x80000000));
}

/// The table's entries at the bytes of lanes, i32.
static Value emitInt8Entry(const Lanes &l, Value table, Value byte) {
  auto lookup = [&](Value index) -> Value {
    Lanes s(l.b, 1);
    return s.sext(s.load(s.i(8), table, s.zext(index, 64)), 32);
  };
  if (l.width == 1)
    return lookup(byte);
  Value result = l.whole(0);
  for (unsigned lane = 0; lane < l.width; ++lane) {
    Value index = vector::ExtractOp::create(l.b, byte, int64_t(lane));
    result =
        vector::InsertOp::create(l.b, lookup(index), result, int64_t(lane));
  }
  return result;
}

static SmallVector<char> makeInt8Entries() {
  SmallVector<char> entries(256);
  for (unsigned i = 0; i < 128; ++i) {
    entries[128 + i] = kInt8UpperHalf[i];
    entries[127 - i] = char(-kInt8UpperHalf[i]);
  }
  return entries;
}

DenseElementsAttr mlir::es::kernel::getInt8Entries(ImplicitLocOpBuilder &b) {
  return DenseElementsAttr::getFromRawBuffer(
      RankedTensorType::get({256}, b.getI8Type()), makeInt8Entries());
}

LLVM::GlobalOp mlir::es::kernel::getInt8Table(Operation *module,
                                              ImplicitLocOpBuilder &b) {
  constexpr StringLiteral name = "es_int8_noise";
  if (Operation *found = SymbolTable::lookupSymbolIn(module, name))
    return cast<LLVM::GlobalOp>(found);
  SmallVector<char> entries = makeInt8Entries();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&module->getRegion(0).front());
  return LLVM::GlobalOp::create(
      b, LLVM::LLVMArrayType::get(b.getI8Type(), 256), /*isConstant=*/true,
      LLVM::Linkage::Internal, name,
      b.getStringAttr(StringRef(entries.data(), entries.size())));
}

void mlir::es::kernel::emitIntegerSamples(
    const Lanes &l, NoiseKind noise, ArrayRef<Value> words,
    llvm::function_ref<void(unsigned, Value)> consume) {
  if (noise == NoiseKind::rademacher) {
    // 1 - 2 [bit is 0]: all ones or zero, then its lowest bit set.
    for (unsigned k = 0; k < 128; ++k)
      consume(k, l.bor(l.sar(emitSignBit(l, words, k), 31), l.whole(1)));
    return;
  }
  Value table =
      LLVM::AddressOfOp::create(l.b, getInt8Table(getModule(l.b), l.b));
  for (unsigned k = 0; k < 16; ++k) {
    Value byte = l.band(l.shr(words[k / 4], 8 * (k % 4)), l.whole(255));
    consume(k, emitInt8Entry(l, table, byte));
  }
}

void mlir::es::kernel::emitRoundingBits(
    const Lanes &l, ArrayRef<Value> words,
    llvm::function_ref<void(unsigned, Value)> consume) {
  for (unsigned k = 0; k < 8; ++k)
    consume(k, k % 2 ? l.shr(words[k / 2], 16)
                     : l.band(words[k / 2], l.whole(0xffff)));
}

void mlir::es::kernel::emitSamples(
    const Lanes &l, NoiseKind noise, ArrayRef<Value> words,
    llvm::function_ref<void(unsigned, Value)> consume) {
  switch (noise) {
  case NoiseKind::normal16:
    for (unsigned w = 0; w < 4; ++w) {
      Value radius = emitRadius16(l, words[w]);
      auto [sine, cosine] =
          emitSinCos(l, kSin16, kCos16, emitAngle16(l, l.shl(words[w], 16)));
      consume(2 * w, l.mul(radius, sine));
      consume(2 * w + 1, l.mul(radius, cosine));
    }
    return;
  case NoiseKind::normal32:
    for (unsigned w = 0; w < 4; w += 2) {
      Value radius = emitRadius32(l, words[w]);
      auto [sine, cosine] = emitSinCos32(l, words[w + 1]);
      consume(w, l.mul(radius, sine));
      consume(w + 1, l.mul(radius, cosine));
    }
    return;
  case NoiseKind::rademacher:
    for (unsigned k = 0; k < 128; ++k)
      consume(k, l.bitcast(l.bor(emitSignBit(l, words, k), l.whole(0x3f800000)),
                           l.f32()));
    return;
  case NoiseKind::int8:
    emitIntegerSamples(l, noise, words, [&](unsigned k, Value entry) {
      consume(k, l.mul(l.toFloat(entry), l.real(kInt8Scale)));
    });
    return;
  case NoiseKind::uniform:
    for (unsigned k = 0; k < 8; ++k) {
      Value half = k % 2 ? words[k / 2] : l.shl(words[k / 2], 16);
      consume(k, l.mul(emitAngle16(l, half), l.real(kSqrt3)));
    }
    return;
  }
}
