//===- Elementwise.cpp - Ops on elements ----------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// arith and math apply to numbers and to tensors of them alike, so that one
// table serves whole ops and the reducers in regions.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::es;
using namespace mlir::es::hlo;

namespace {
/// One op in the making.
struct Element {
  OpBuilder &builder;
  Operation *op;
  ValueRange in;
  Type type;

  Location loc() const { return op->getLoc(); }
  Type element(unsigned i = 0) const {
    return getElementTypeOrSelf(in[i].getType());
  }
  bool isFloat() const { return isa<FloatType>(element()); }
  bool isBool() const { return element().isInteger(1); }
  Value number(Type of, double value) const {
    return createConstant(builder, loc(), of, value);
  }
  template <typename Op, typename... Args> Value make(Args... args) const {
    return Op::create(builder, loc(), args...);
  }
};
} // namespace

using Rule = Value (*)(const Element &);

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The same function of floats, of integers, and of truth values.
template <typename FloatOp, typename IntOp, typename BoolOp = IntOp>
static Value binary(const Element &e) {
  if (e.isFloat())
    return e.make<FloatOp>(e.in[0], e.in[1]);
  if (e.isBool())
    return e.make<BoolOp>(e.in[0], e.in[1]);
  return e.make<IntOp>(e.in[0], e.in[1]);
}

template <typename Op> static Value bitwise(const Element &e) {
  return e.isFloat() ? Value() : e.make<Op>(e.in[0], e.in[1]);
}

template <typename Op> static Value unary(const Element &e) {
  return e.isFloat() ? e.make<Op>(e.in[0]) : Value();
}

static Value negate(const Element &e) {
  if (e.isFloat())
    return e.make<arith::NegFOp>(e.in[0]);
  return e.make<arith::SubIOp>(e.number(e.type, 0), e.in[0]);
}

static Value absolute(const Element &e) {
  return e.isFloat() ? e.make<math::AbsFOp>(e.in[0])
                     : e.make<math::AbsIOp>(e.in[0]);
}

static Value invert(const Element &e) {
  return e.isFloat() ? Value()
                     : e.make<arith::XOrIOp>(e.in[0], e.number(e.type, -1));
}

static Value square(const Element &e) {
  return e.isFloat() ? e.make<arith::MulFOp>(e.in[0], e.in[0])
                     : e.make<arith::MulIOp>(e.in[0], e.in[0]);
}

static Value logistic(const Element &e) {
  if (!e.isFloat())
    return nullptr;
  Value one = e.number(e.type, 1);
  Value decay = e.make<math::ExpOp>(e.make<arith::NegFOp>(e.in[0]));
  return e.make<arith::DivFOp>(one, e.make<arith::AddFOp>(one, decay));
}

/// Zeros, with their sign, and numbers that are none stay as they are.
static Value sign(const Element &e) {
  Value zero = e.number(e.type, 0), one = e.number(e.type, 1);
  if (e.isFloat()) {
    Value same =
        e.make<arith::CmpFOp>(arith::CmpFPredicate::UEQ, e.in[0], zero);
    Value signs = e.make<math::CopySignOp>(one, e.in[0]);
    return e.make<arith::SelectOp>(same, e.in[0], signs);
  }
  Value lessOrOne = e.make<arith::MaxSIOp>(e.in[0], e.number(e.type, -1));
  return e.make<arith::MinSIOp>(lessOrOne, one);
}

static Value isFinite(const Element &e) {
  if (!e.isFloat())
    return nullptr;
  return e.make<math::IsFiniteOp>(e.in[0]);
}

/// `#stablehlo<comparison_direction LT>`, `"LT"`: the last word.
static StringRef getWord(Attribute attribute) {
  StringRef text;
  if (auto opaque = dyn_cast_if_present<OpaqueAttr>(attribute))
    text = opaque.getAttrData();
  else if (auto string = dyn_cast_if_present<StringAttr>(attribute))
    text = string.getValue();
  return text.rtrim('>').rsplit(' ').second.empty()
             ? text.rtrim('>')
             : text.rtrim('>').rsplit(' ').second;
}

static Value compare(const Element &e) {
  using FP = arith::CmpFPredicate;
  using IP = arith::CmpIPredicate;
  struct Predicates {
    FP ofFloats;
    IP ofIntegers, ofBools;
  };
  static const llvm::StringMap<Predicates> table = {
      {"EQ", {FP::OEQ, IP::eq, IP::eq}},   {"NE", {FP::UNE, IP::ne, IP::ne}},
      {"LT", {FP::OLT, IP::slt, IP::ult}}, {"LE", {FP::OLE, IP::sle, IP::ule}},
      {"GT", {FP::OGT, IP::sgt, IP::ugt}}, {"GE", {FP::OGE, IP::sge, IP::uge}},
  };
  auto it = table.find(getWord(e.op->getAttr("comparison_direction")));
  if (it == table.end() ||
      getWord(e.op->getAttr("compare_type")) == "TOTALORDER")
    return nullptr;
  const Predicates &predicates = it->second;
  if (e.isFloat())
    return e.make<arith::CmpFOp>(predicates.ofFloats, e.in[0], e.in[1]);
  return e.make<arith::CmpIOp>(e.isBool() ? predicates.ofBools
                                          : predicates.ofIntegers,
                               e.in[0], e.in[1]);
}

static Value convertFloat(const Element &e, FloatType from, Type to) {
  if (to.isInteger(1))
    return e.make<arith::CmpFOp>(arith::CmpFPredicate::UNE, e.in[0],
                                 e.number(e.in[0].getType(), 0));
  if (to.isInteger())
    return e.make<arith::FPToSIOp>(e.type, e.in[0]);
  unsigned width = to.getIntOrFloatBitWidth();
  if (from.getWidth() < width)
    return e.make<arith::ExtFOp>(e.type, e.in[0]);
  if (from.getWidth() > width)
    return e.make<arith::TruncFOp>(e.type, e.in[0]);
  // Two formats of one width: through the one that holds both.
  auto wide = Float32Type::get(to.getContext());
  Type between = wide;
  if (auto tensor = dyn_cast<RankedTensorType>(e.type))
    between = tensor.clone(wide);
  Value extended = e.make<arith::ExtFOp>(between, e.in[0]);
  return e.make<arith::TruncFOp>(e.type, extended);
}

static Value convertInteger(const Element &e, IntegerType from, Type to) {
  if (isa<FloatType>(to))
    return e.isBool() ? e.make<arith::UIToFPOp>(e.type, e.in[0])
                      : e.make<arith::SIToFPOp>(e.type, e.in[0]);
  if (to.isInteger(1))
    return e.make<arith::CmpIOp>(arith::CmpIPredicate::ne, e.in[0],
                                 e.number(e.in[0].getType(), 0));
  if (from.getWidth() > to.getIntOrFloatBitWidth())
    return e.make<arith::TruncIOp>(e.type, e.in[0]);
  return e.isBool() ? e.make<arith::ExtUIOp>(e.type, e.in[0])
                    : e.make<arith::ExtSIOp>(e.type, e.in[0]);
}

static Value convert(const Element &e) {
  Type from = e.element(), to = getElementTypeOrSelf(e.type);
  if (from == to)
    return e.in[0];
  if (auto type = dyn_cast<FloatType>(from))
    return to.isIntOrFloat() ? convertFloat(e, type, to) : Value();
  auto type = dyn_cast<IntegerType>(from);
  return type && to.isIntOrFloat() ? convertInteger(e, type, to) : Value();
}

static Value select(const Element &e) {
  return e.make<arith::SelectOp>(e.in[0], e.in[1], e.in[2]);
}

/// The lower bound, the value, the upper bound.
static Value clamp(const Element &e) {
  if (e.isFloat())
    return e.make<arith::MinimumFOp>(
        e.make<arith::MaximumFOp>(e.in[1], e.in[0]), e.in[2]);
  return e.make<arith::MinSIOp>(e.make<arith::MaxSIOp>(e.in[1], e.in[0]),
                                e.in[2]);
}

static const llvm::StringMap<Rule> &getRules() {
  static const llvm::StringMap<Rule> rules = {
      {"add", binary<arith::AddFOp, arith::AddIOp, arith::OrIOp>},
      {"subtract", binary<arith::SubFOp, arith::SubIOp>},
      {"multiply", binary<arith::MulFOp, arith::MulIOp, arith::AndIOp>},
      {"divide", binary<arith::DivFOp, arith::DivSIOp>},
      {"remainder", binary<arith::RemFOp, arith::RemSIOp>},
      {"maximum", binary<arith::MaximumFOp, arith::MaxSIOp, arith::OrIOp>},
      {"minimum", binary<arith::MinimumFOp, arith::MinSIOp, arith::AndIOp>},
      {"power", binary<math::PowFOp, math::IPowIOp>},
      {"and", bitwise<arith::AndIOp>},
      {"or", bitwise<arith::OrIOp>},
      {"xor", bitwise<arith::XOrIOp>},
      {"shift_left", bitwise<arith::ShLIOp>},
      {"shift_right_arithmetic", bitwise<arith::ShRSIOp>},
      {"shift_right_logical", bitwise<arith::ShRUIOp>},
      {"not", invert},
      {"negate", negate},
      {"abs", absolute},
      {"sign", sign},
      {"square", square},
      {"logistic", logistic},
      {"is_finite", isFinite},
      {"exponential", unary<math::ExpOp>},
      {"exponential_minus_one", unary<math::ExpM1Op>},
      {"log", unary<math::LogOp>},
      {"log_plus_one", unary<math::Log1pOp>},
      {"sqrt", unary<math::SqrtOp>},
      {"rsqrt", unary<math::RsqrtOp>},
      {"cbrt", unary<math::CbrtOp>},
      {"sine", unary<math::SinOp>},
      {"cosine", unary<math::CosOp>},
      {"tan", unary<math::TanOp>},
      {"tanh", unary<math::TanhOp>},
      {"floor", unary<math::FloorOp>},
      {"ceil", unary<math::CeilOp>},
      {"round_nearest_even", unary<math::RoundEvenOp>},
      {"round_nearest_afz", unary<math::RoundOp>},
      {"erf", unary<math::ErfOp>},
      {"erfc", unary<math::ErfcOp>},
      {"acos", unary<math::AcosOp>},
      {"acosh", unary<math::AcoshOp>},
      {"asin", unary<math::AsinOp>},
      {"asinh", unary<math::AsinhOp>},
      {"atan", unary<math::AtanOp>},
      {"atanh", unary<math::AtanhOp>},
      {"cosh", unary<math::CoshOp>},
      {"sinh", unary<math::SinhOp>},
      {"atan2",
       [](const Element &e) {
         return e.isFloat() ? e.make<math::Atan2Op>(e.in[0], e.in[1]) : Value();
       }},
      {"compare", compare},
      {"convert", convert},
      {"select", select},
      {"clamp", clamp},
  };
  return rules;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value hlo::createElementwise(OpBuilder &builder, Operation *op,
                             ValueRange operands, Type type) {
  auto it = getRules().find(op->getName().stripDialect());
  if (!isHlo(op) || it == getRules().end() || operands.empty())
    return nullptr;
  return it->second(Element{builder, op, operands, type});
}

Lowered hlo::lowerElementwise(OpBuilder &builder, Operation *op) {
  if (!getRules().contains(op->getName().stripDialect()))
    return std::nullopt;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  // The predicate of a select and the bounds of a clamp may be single elements.
  Values operands;
  for (Value operand : op->getOperands()) {
    auto from = cast<RankedTensorType>(operand.getType());
    if (from.getRank() == 0 && type.getRank() != 0)
      operand = broadcast(builder, op->getLoc(), operand,
                          type.clone(from.getElementType()), {});
    operands.push_back(operand);
  }
  Value value = createElementwise(builder, op, operands, type);
  if (!value)
    return FailureOr<Values>(emitNoLowering(op)
                             << "on elements of type "
                             << getElementTypeOrSelf(operands[0].getType()));
  return FailureOr<Values>(Values{value});
}
