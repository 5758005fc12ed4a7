//===- RoleFacts.cpp - What an op says of the storages it reads -----------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/OpModel/RoleFacts.h"
#include "es/OpModel/OpModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::es;

//===----------------------------------------------------------------------===//
// Ops known by name
//===----------------------------------------------------------------------===//

namespace {
/// One line: the names, without their dialect, of ops that agree on the
/// operands. A number of -1 is none; vectors and statistics are ranges.
struct NamedLine {
  RoleUse use;
  const char *names;
  int data, weight;
  int firstVector = -1, numVectors = 0;
  int firstStatistic = -1, numStatistics = 0;
};
} // namespace

static const NamedLine namedLines[] = {
    // TOSA. Zero points follow the bias.
    {RoleUse::Contraction, "tosa.matmul", 0, 1},
    {RoleUse::Contraction, "tosa.fully_connected", 0, 1, 2, 1},
    {RoleUse::Convolution,
     "tosa.conv2d tosa.conv3d tosa.depthwise_conv2d tosa.transpose_conv2d", 0,
     1, 2, 1},
    {RoleUse::Lookup, "tosa.gather", 1, 0},
    // StableHLO and MHLO.
    {RoleUse::Contraction,
     "stablehlo.dot stablehlo.dot_general mhlo.dot mhlo.dot_general", 0, 1},
    {RoleUse::Convolution,
     "stablehlo.convolution stablehlo.dynamic_conv mhlo.convolution "
     "mhlo.dynamic_conv",
     0, 1},
    {RoleUse::Lookup,
     "stablehlo.gather stablehlo.dynamic_gather mhlo.gather "
     "mhlo.dynamic_gather stablehlo.torch_index_select "
     "mhlo.torch_index_select",
     1, 0},
    {RoleUse::Normalization,
     "stablehlo.batch_norm_inference mhlo.batch_norm_inference", 0, -1, 1, 2, 3,
     2},
    {RoleUse::Normalization,
     "stablehlo.batch_norm_training mhlo.batch_norm_training", 0, -1, 1, 2},
    // ATen.
    {RoleUse::Contraction,
     "torch.aten.mm torch.aten.bmm torch.aten.matmul torch.aten.mv", 0, 1},
    {RoleUse::Contraction, "torch.aten.linear", 0, 1, 2, 1},
    {RoleUse::Contraction, "torch.aten.addmm torch.aten.baddbmm", 1, 2, 0, 1},
    {RoleUse::Convolution,
     "torch.aten.convolution torch.aten._convolution torch.aten.conv1d "
     "torch.aten.conv2d torch.aten.conv3d torch.aten.conv_transpose1d "
     "torch.aten.conv_transpose2d torch.aten.conv_transpose3d",
     0, 1, 2, 1},
    {RoleUse::Lookup, "torch.aten.embedding", 1, 0},
    {RoleUse::Lookup, "torch.aten.index_select", 2, 0},
    {RoleUse::Normalization,
     "torch.aten.batch_norm torch.aten.native_batch_norm "
     "torch.aten._native_batch_norm_legit_no_training",
     0, -1, 1, 2, 3, 2},
    {RoleUse::Normalization,
     "torch.aten.layer_norm torch.aten.native_layer_norm", 0, -1, 2, 2},
    {RoleUse::Normalization, "torch.aten.group_norm", 0, -1, 2, 2},
    {RoleUse::Normalization, "torch.aten.rms_norm", 0, -1, 2, 1},
    // ONNX.
    {RoleUse::Contraction, "onnx.Gemm", 0, 1, 2, 1},
    {RoleUse::Contraction, "onnx.MatMul", 0, 1},
    {RoleUse::Convolution, "onnx.Conv onnx.ConvTranspose", 0, 1, 2, 1},
    {RoleUse::Lookup, "onnx.Gather", 1, 0},
    {RoleUse::Normalization,
     "onnx.BatchNormalization onnx.BatchNormalizationInferenceMode", 0, -1, 1,
     2, 3, 2},
    {RoleUse::Normalization, "onnx.LayerNormalization", 0, -1, 1, 2},
    // TTIR.
    {RoleUse::Contraction, "ttir.matmul", 0, 1},
    {RoleUse::Contraction, "ttir.linear", 0, 1, 2, 1},
    {RoleUse::Convolution, "ttir.conv2d ttir.convolution", 0, 1, 2, 1},
    {RoleUse::Lookup, "ttir.embedding", 0, 1},
};

static const llvm::StringMap<const NamedLine *> &getNamedLines() {
  static const llvm::StringMap<const NamedLine *> table = [] {
    llvm::StringMap<const NamedLine *> result;
    for (const NamedLine &line : namedLines) {
      SmallVector<StringRef> names;
      StringRef(line.names).split(names, ' ', -1, /*KeepEmpty=*/false);
      for (StringRef name : names)
        result[name] = &line;
    }
    return result;
  }();
  return table;
}

/// The name under which an op stands in the tables: torch-mlir wraps operators
/// it has no op for, and ATen overloads end in a suffix.
static StringRef getModelName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name == "torch.operator")
    if (auto wrapped = op->getAttrOfType<StringAttr>("name"))
      name = wrapped.getValue();
  if (name.starts_with("torch.aten."))
    return name.take_front(name.find('.', strlen("torch.aten.")));
  return name;
}

static bool isInteger(Value value) {
  auto shaped = getCarriedShape(value.getType());
  return shaped && shaped.getElementType().isIntOrIndex();
}

/// A composite that a compiler keeps as a call, such as byteir.layer_norm: what
/// follows the activation are its scale and its offset.
static std::optional<RoleFacts> getCustomCallFacts(Operation *op) {
  if (op->getName().stripDialect() != "custom_call")
    return std::nullopt;
  auto target = op->getAttrOfType<StringAttr>("call_target_name");
  if (!target || !(target.getValue().contains("layer_norm") ||
                   target.getValue().contains("rms_norm")))
    return std::nullopt;
  RoleFacts facts;
  facts.use = RoleUse::Normalization;
  for (unsigned i = 1, e = op->getNumOperands(); i < e; ++i)
    facts.vectors.push_back(i);
  return facts;
}

static RoleFacts getNamedFacts(Operation *op, const NamedLine &line) {
  RoleFacts facts;
  facts.use = line.use;
  facts.data = std::max(line.data, 0);
  facts.weight = std::max(line.weight, 0);
  int count = op->getNumOperands();
  for (int i = 0; i < line.numVectors && line.firstVector + i < count; ++i)
    facts.vectors.push_back(line.firstVector + i);
  for (int i = 0; i < line.numStatistics && line.firstStatistic + i < count;
       ++i)
    facts.statistics.push_back(line.firstStatistic + i);
  if (facts.use == RoleUse::Normalization)
    return facts;
  if (int(facts.data) >= count || int(facts.weight) >= count)
    return {};
  // Looking up by anything but integers, or in integers, is data movement.
  if (facts.use == RoleUse::Lookup && (!isInteger(op->getOperand(facts.data)) ||
                                       isInteger(op->getOperand(facts.weight))))
    return {};
  return facts;
}

//===----------------------------------------------------------------------===//
// Linalg
//===----------------------------------------------------------------------===//

/// What the body of an elementwise structured op computes.
static RoleUse classifyBody(linalg::LinalgOp op) {
  RoleUse use = RoleUse::Follow;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
            arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp,
            arith::ShRSIOp, arith::ShRUIOp, arith::AndIOp>(inner))
      use = RoleUse::Scale;
    else if (!isa<CastOpInterface, arith::ConstantOp>(inner))
      return RoleUse::Map;
  }
  return use;
}

/// Named ops say what they are; a generic one is inspected, which is dear, only
/// if it reduces anything.
static bool isConvolutionOp(linalg::LinalgOp op) {
  if (isa<linalg::ConvolutionOpInterface>(op.getOperation()))
    return true;
  return isa<linalg::GenericOp>(op.getOperation()) &&
         op.getNumReductionLoops() > 0 && op.getNumDpsInputs() > 1 &&
         linalg::isaConvolutionOpInterface(op);
}

static bool isContractionOp(linalg::LinalgOp op) {
  if (isa<linalg::ContractionOpInterface>(op.getOperation()))
    return true;
  return isa<linalg::GenericOp>(op.getOperation()) &&
         op.getNumReductionLoops() > 0 && op.getNumDpsInputs() > 1 &&
         linalg::isaContractionOpInterface(op);
}

static RoleFacts getLinalgFacts(linalg::LinalgOp op) {
  RoleFacts facts;
  Operation *raw = op.getOperation();
  bool isConvolution = isConvolutionOp(op);
  if (isConvolution || isContractionOp(op)) {
    facts.use = isConvolution ? RoleUse::Convolution : RoleUse::Contraction;
    facts.data = 0;
    facts.weight = 1;
    // A bias is where the sums start.
    for (OpOperand &init : op.getDpsInitsMutable())
      facts.vectors.push_back(init.getOperandNumber());
    return op.getNumDpsInputs() > 1 ? facts : RoleFacts();
  }
  if (op.getNumLoops() != op.getNumParallelLoops() || !op.getBlock())
    return facts;
  if (isa<linalg::FillOp>(raw))
    facts.use = RoleUse::Generate;
  else
    facts.use = classifyBody(op);
  for (OpOperand *input : op.getDpsInputOperands())
    if (isMemoryType(input->get().getType()))
      facts.sources.push_back(input->getOperandNumber());
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.payloadUsesValueFromOperand(&init))
      facts.sources.push_back(init.getOperandNumber());
  if (facts.sources.empty())
    facts.use = RoleUse::Generate;
  return facts;
}

/// `tensor.extract %table[%row, %column]` with an index that was itself read:
/// how a lookup looks after lowering to linalg.
static RoleFacts getExtractFacts(tensor::ExtractOp op) {
  RoleFacts facts;
  auto type = op.getTensor().getType();
  if (type.getRank() < 2 || !isa<FloatType>(type.getElementType()))
    return facts;
  bool isLookup = llvm::any_of(op.getIndices(), [](Value index) {
    return index.getDefiningOp<arith::IndexCastOp>() ||
           index.getDefiningOp<arith::IndexCastUIOp>();
  });
  if (isLookup)
    facts.use = RoleUse::Lookup;
  return facts;
}

//===----------------------------------------------------------------------===//
// All the rest, from the memory model
//===----------------------------------------------------------------------===//

/// Ops of arith and math are in no table of names but that of arithmetic.
static bool isInTables(Operation *op) {
  return !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
      op->getDialect());
}

static bool isArithmetic(Operation *op, StringRef name) {
  if (!isInTables(op))
    return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
               arith::AddIOp, arith::SubIOp, arith::MulIOp>(op);
  static const llvm::StringSet<> names = {"tosa.add",
                                          "tosa.sub",
                                          "tosa.mul",
                                          "stablehlo.add",
                                          "stablehlo.subtract",
                                          "stablehlo.divide",
                                          "stablehlo.multiply",
                                          "mhlo.add",
                                          "mhlo.subtract",
                                          "mhlo.divide",
                                          "mhlo.multiply",
                                          "torch.aten.add",
                                          "torch.aten.sub",
                                          "torch.aten.mul",
                                          "torch.aten.div",
                                          "onnx.Add",
                                          "onnx.Sub",
                                          "onnx.Mul",
                                          "onnx.Div",
                                          "ttir.add",
                                          "ttir.subtract",
                                          "ttir.multiply",
                                          "ttir.div",
                                          "chlo.broadcast_add",
                                          "chlo.broadcast_multiply"};
  return names.contains(name);
}

/// Elementwise ops that only change how a number is written.
static bool isConversion(Operation *op, StringRef name) {
  static const llvm::StringSet<> names = {"tosa.cast",
                                          "tosa.rescale",
                                          "stablehlo.convert",
                                          "mhlo.convert",
                                          "stablehlo.uniform_dequantize",
                                          "torch.aten.to",
                                          "torch.prims.convert_element_type",
                                          "quant.dcast",
                                          "quant.qcast",
                                          "quant.scast",
                                          "onnx.Cast",
                                          "onnx.DequantizeLinear",
                                          "ttir.typecast",
                                          "ttir.dequantize"};
  return isa<CastOpInterface>(op) || (isInTables(op) && names.contains(name));
}

static bool isConcatenation(StringRef name) {
  return name.contains("concat") || name == "onnx.Concat" ||
         name == "torch.aten.cat" || name == "torch.aten.stack";
}

static RoleFacts getFactsOfClass(Operation *op, StringRef name) {
  RoleFacts facts;
  OpFacts memory = getOpFacts(op);
  if (op->getNumResults() != 1 || memory.results[0].kind == ResultKind::None ||
      memory.results[0].kind == ResultKind::Destination)
    return facts;
  if (memory.results[0].kind == ResultKind::View) {
    facts.use = RoleUse::Follow;
    facts.sources.push_back(memory.results[0].source);
    return facts;
  }
  for (OpOperand &operand : op->getOpOperands())
    if (memory.operands[operand.getOperandNumber()] == OperandUse::Read ||
        memory.operands[operand.getOperandNumber()] ==
            OperandUse::ReadElementwise)
      facts.sources.push_back(operand.getOperandNumber());
  if (facts.sources.empty()) {
    facts.use = RoleUse::Generate;
    return facts;
  }
  bool isElementwise = memory.opClass == OpClass::Elementwise ||
                       memory.opClass == OpClass::ElementwiseCostly;
  if (isConversion(op, name)) {
    facts.use = RoleUse::Follow;
  } else if (isElementwise) {
    facts.use = isArithmetic(op, name) ? RoleUse::Scale : RoleUse::Map;
  } else if (memory.opClass == OpClass::DataMovement) {
    facts.use = RoleUse::Follow;
    // Other operands say where to cut and what to pad with.
    if (!isConcatenation(name))
      facts.sources.truncate(1);
  }
  return facts;
}

int64_t mlir::es::getRank(Value value) {
  ShapedType type = getCarriedShape(value.getType());
  return type && type.hasRank() ? type.getRank() : 0;
}

RoleFacts mlir::es::getRoleFacts(Operation *op) {
  if (!isInTables(op))
    return getFactsOfClass(op, op->getName().getStringRef());
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return getLinalgFacts(linalgOp);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return getExtractFacts(extract);
  StringRef name = getModelName(op);
  auto it = getNamedLines().find(name);
  if (it != getNamedLines().end()) {
    RoleFacts facts = getNamedFacts(op, *it->second);
    if (facts.use != RoleUse::None)
      return facts;
  }
  if (std::optional<RoleFacts> facts = getCustomCallFacts(op))
    return *facts;
  return getFactsOfClass(op, name);
}
