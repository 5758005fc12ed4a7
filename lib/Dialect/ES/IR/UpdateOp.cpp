//===- UpdateOp.cpp - The fused update of all parameters ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriterOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mlir::es;

static SmallVector<OpOperand *> getDestinations(UpdateOp op) {
  SmallVector<OpOperand *> destinations;
  for (OpOperand &parameter : op.getParametersMutable())
    destinations.push_back(&parameter);
  for (OpOperand &state : op.getStatesMutable())
    destinations.push_back(&state);
  return destinations;
}

LogicalResult UpdateOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         ValueRange operands,
                                         DictionaryAttr attributes,
                                         OpaqueProperties properties,
                                         RegionRange regions,
                                         SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, *properties.as<Properties *>(),
                  regions);
  writer::appendTensors(TypeRange(adaptor.getParameters()), types);
  writer::appendTensors(TypeRange(adaptor.getStates()), types);
  return success();
}

double UpdateOp::getSigmaOf(unsigned index) {
  FloatAttr own = getParam(index).getSigma();
  return (own ? own.getValueAsDouble() : getSigma().convertToDouble());
}

double UpdateOp::getLrOf(unsigned index) {
  FloatAttr own = getParam(index).getLr();
  return (own ? own.getValueAsDouble() : getLr().convertToDouble());
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

static bool isHalf(Type type) { return isa<BFloat16Type, Float16Type>(type); }

/// The element types of the states of a parameter with elements of `type`.
static SmallVector<Type> getStateElements(UpdateOp op, Type type) {
  Type f32 = Float32Type::get(op.getContext());
  SmallVector<Type> states(op.getNumMoments(),
                           isa<Float64Type>(type) ? type : f32);
  if (isHalf(type) && op.getRounding() == Rounding::compensated)
    states.push_back(type);
  if (isHalf(type) && op.getRounding() == Rounding::master)
    states.push_back(f32);
  if (isa<IntegerType>(type) && op.getFixed() == FixedRounding::error_feedback)
    states.push_back(f32);
  return states;
}

unsigned UpdateOp::getNumMoments() {
  switch (getOptimizer()) {
  case OptimizerKind::momentum:
    return 1;
  case OptimizerKind::adam:
  case OptimizerKind::adamw:
    return 2;
  default:
    return 0;
  }
}

unsigned UpdateOp::getNumStatesOf(unsigned index) {
  return getStateElements(
             *this, getElementTypeOrSelf(getParameters()[index].getType()))
      .size();
}

/// A parameter's moments are of the type of the first, which may have 16 bits.
static Type getMomentElement(UpdateOp op, Type usual, size_t first) {
  if (isa<Float64Type>(usual) || first >= op.getStates().size())
    return usual;
  Type own = getElementTypeOrSelf(op.getStates()[first].getType());
  return isHalf(own) ? own : usual;
}

static LogicalResult verifyStates(UpdateOp op) {
  size_t next = 0;
  for (Value parameter : op.getParameters()) {
    auto type = cast<ShapedType>(parameter.getType());
    SmallVector<Type> elements = getStateElements(op, type.getElementType());
    for (unsigned i = 0, first = next; i < op.getNumMoments(); ++i)
      elements[i] = getMomentElement(op, elements[i], first);
    for (Type element : elements) {
      if (next == op.getStates().size())
        return op.emitOpError()
               << "(U5) expects a state of " << element << " for " << type
               << " after " << next << " states";
      auto state = cast<ShapedType>(op.getStates()[next++].getType());
      if (state.getElementType() != element ||
          failed(verifyCompatibleShape(state, type)))
        return op.emitOpError() << "(U5) expects a state of " << element
                                << " for " << type << ", got " << state;
    }
  }
  if (next != op.getStates().size())
    return op.emitOpError() << "(U5) expects " << next << " states, got "
                            << op.getStates().size();
  return success();
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

static LogicalResult verifyParameters(UpdateOp op) {
  size_t count = op.getParameters().size();
  if (count == 0 || op.getParams().size() != count)
    return op.emitOpError()
           << "(U1) expects an annotation for each of " << count
           << " parameters, got " << op.getParams().size();
  llvm::DenseMap<uint32_t, StringAttr> ids;
  for (auto [index, value] : llvm::enumerate(op.getParameters())) {
    ParamAttr param = op.getParam(index);
    if (param.getTrainability() == Trainability::Frozen)
      return op.emitOpError() << "(U2) expects trainable parameters, "
                              << param.getName() << " is frozen";
    auto [it, isNew] = ids.try_emplace(param.getEffectiveId(), param.getName());
    if (!isNew)
      return op.emitOpError()
             << "(U3) expects ids that differ, " << it->second << " and "
             << param.getName() << " have " << param.getEffectiveId();
    Type element = getElementTypeOrSelf(value.getType());
    if (!writer::isStorageElement(element))
      return op.emitOpError() << "(U4) expects elements of type f32, f64, "
                                 "bf16, f16, i8, i16 or i32, got "
                              << element;
    if (failed(param.verifyFor(value.getType(), [&] {
          return op.emitOpError() << "parameter " << param.getName() << ": ";
        })))
      return failure();
  }
  return success();
}

static LogicalResult verifyRounding(UpdateOp op) {
  auto has = [&](llvm::function_ref<bool(Type)> is) {
    return llvm::any_of(op.getParameters().getTypes(), [&](Type type) {
      return is(getElementTypeOrSelf(type));
    });
  };
  bool integers = has([](Type type) { return isa<IntegerType>(type); });
  if (op.getRounding() != Rounding::nearest && !has(isHalf))
    return op.emitOpError() << "(U6) expects a parameter of 16-bit floats with "
                               "the rounding '"
                            << stringifyRounding(op.getRounding()) << "'";
  if (op.getFixed() != FixedRounding::nearest && !integers)
    return op.emitOpError() << "(U6) expects a parameter of integers with '"
                            << stringifyFixedRounding(op.getFixed()) << "'";
  if (integers && (op.getOptimizer() != OptimizerKind::sgd ||
                   op.getDecay() != DecayKind::none))
    return op.emitOpError()
           << "(U6) expects integers to be updated by 'sgd' without decay";
  return success();
}

//===----------------------------------------------------------------------===//
// Rule and sum
//===----------------------------------------------------------------------===//

static LogicalResult verifyRule(UpdateOp op) {
  OptimizerKind rule = op.getOptimizer();
  if (rule != OptimizerKind::sgd && op.getNumMoments() == 0)
    return op.emitOpError()
           << "(U7) expects one of sgd, momentum, adam and adamw, got "
           << stringifyOptimizerKind(rule);
  if (readsStep(rule) != bool(op.getStep()))
    return op.emitOpError()
           << "(U7) expects " << (readsStep(rule) ? "a" : "no")
           << " step with '" << stringifyOptimizerKind(rule) << "'";
  bool decays = op.getWeightDecay().convertToDouble() != 0;
  if (decays != (op.getDecay() != DecayKind::none))
    return op.emitOpError() << "(U7) expects a weight decay that is not 0 "
                               "together with a kind of decay";
  if (rule == OptimizerKind::adamw && op.getDecay() == DecayKind::coupled)
    return op.emitOpError() << "(U7) expects no coupled decay with 'adamw'";
  return success();
}

/// The bound on the magnitude of any sum, or nothing if it is above 2^63. There
/// are at most 2^32 pairs, as an address has 32 bits for theirs.
static std::optional<int64_t> getSumBound(UpdateOp op) {
  int64_t pairs =
      cast<ShapedType>(op.getCoefficients().getType()).getDimSize(0);
  if (ShapedType::isDynamic(pairs))
    pairs = int64_t(1) << 32;
  int64_t noise = op.getNoise() == NoiseKind::int8 ? 46 : 1;
  int64_t bound = pairs;
  SmallVector<int64_t> factors = {int64_t(*op.getMaxCoefficient()), noise};
  if (op.getRank())
    llvm::append_range(factors,
                       ArrayRef<int64_t>{noise, int64_t(op.getRank())});
  for (int64_t factor : factors)
    if (llvm::MulOverflow(bound, factor, bound))
      return std::nullopt;
  return bound;
}

static LogicalResult verifyExact(UpdateOp op) {
  if (op.getNoise() != NoiseKind::rademacher &&
      op.getNoise() != NoiseKind::int8)
    return op.emitOpError()
           << "(U9) expects 'rademacher' or 'int8' noise with the order "
              "'exact', got "
           << stringifyNoiseKind(op.getNoise());
  // f32 holds whole numbers up to 2^24.
  if (!op.getMaxCoefficient() || *op.getMaxCoefficient() > (1 << 24))
    return op.emitOpError() << "(U9) expects a 'max_coefficient' of at most "
                               "2^24 with the order 'exact'";
  std::optional<int64_t> bound = getSumBound(op);
  bool narrow = op.getAccumulator() == Accumulator::s32;
  if (bound && (!narrow || *bound < int64_t(1) << 31))
    return success();
  return op.emitOpError() << "(U9) expects sums below 2^" << (narrow ? 31 : 63)
                          << " with an accumulator of " << (narrow ? 32 : 64)
                          << " bits, "
                          << (bound ? "got up to " + std::to_string(*bound)
                                    : std::string("cannot bound them"));
}

static LogicalResult verifySum(UpdateOp op) {
  if (op.getChunk().has_value() != (op.getOrder() == SumOrder::chunk))
    return op.emitOpError()
           << "(U8) expects a 'chunk' with the order 'chunk' only";
  if (op.getOrder() == SumOrder::exact && failed(verifyExact(op)))
    return failure();
  auto shaped = op.getMembers().getDefiningOp<ShapeFitnessOp>();
  if (!shaped)
    return success();
  if (shaped.getDirection() != op.getDirection()) {
    InFlightDiagnostic error =
        op.emitOpError() << "(U10) expects the direction of the fitness, '"
                         << stringifyDirection(shaped.getDirection()) << "'";
    error.attachNote(shaped.getLoc()) << "shaped here";
    return error;
  }
  bool whole = shaped.getInteger() || shaped.getShaping() == Shaping::sign;
  if (op.getOrder() == SumOrder::exact && !whole) {
    InFlightDiagnostic error = op.emitOpError()
                               << "(U9) expects whole coefficients with the "
                                  "order 'exact': 'sign', or 'centered_rank' "
                                  "with 'integer'";
    error.attachNote(shaped.getLoc()) << "shaped here";
    return error;
  }
  return success();
}

LogicalResult UpdateOp::verify() {
  if (failed(verifyParameters(*this)) || failed(verifyRounding(*this)) ||
      failed(verifyRule(*this)) || failed(verifyStates(*this)))
    return failure();
  return verifySum(*this);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void UpdateOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  writer::getEffects(*this, getDestinations(*this), true, effects);
}

bool UpdateOp::bufferizesToMemoryRead(OpOperand &operand,
                                      const bufferization::AnalysisState &) {
  return isa<TensorType>(operand.get().getType());
}

bool UpdateOp::bufferizesToMemoryWrite(OpOperand &operand,
                                       const bufferization::AnalysisState &) {
  return llvm::is_contained(getDestinations(*this), &operand);
}

bufferization::AliasingValueList
UpdateOp::getAliasingValues(OpOperand &operand,
                            const bufferization::AnalysisState &) {
  return writer::getAliasingValues(*this, getDestinations(*this), operand);
}

LogicalResult
UpdateOp::bufferize(RewriterBase &rewriter,
                    const bufferization::BufferizationOptions &options,
                    bufferization::BufferizationState &state) {
  return writer::bufferize(*this, getDestinations(*this), rewriter, options,
                           state);
}
