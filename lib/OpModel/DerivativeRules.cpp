//===- DerivativeRules.cpp - How gradients of named ops look --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where mathematics leaves a choice, the table says what PyTorch's autograd
// keeps: relu, tanh, sigmoid, exp and softmax their result, a maximum with a
// constant its result, a quotient both operands.
//
//===----------------------------------------------------------------------===//

#include "DerivativeRules.h"
#include "NamedOps.h"

#include "es/OpModel/RoleFacts.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::es;

namespace {
struct RuleLine {
  GradientRule rule;
  /// Without their dialects, separated by blanks.
  const char *names;
};
using RuleTable = llvm::StringMap<GradientRule>;
} // namespace

static RuleTable makeRuleTable(ArrayRef<RuleLine> lines) {
  RuleTable table;
  SmallVector<StringRef> names;
  for (const RuleLine &line : lines) {
    names.clear();
    StringRef(line.names).split(names, ' ', -1, /*KeepEmpty=*/false);
    for (StringRef name : names)
      table[name] = line.rule;
  }
  return table;
}

/// StableHLO, MHLO, CHLO.
static const RuleTable &getHloTable() {
  static const RuleTable table = makeRuleTable({
      {GradientRule::Cut,
       "compare floor ceil round_nearest_afz round_nearest_even sign is_finite "
       "iota dynamic_iota rng rng_uniform rng_normal rng_bit_generator and or "
       "xor not popcnt shift_left shift_right_arithmetic shift_right_logical "
       "count_leading_zeros get_dimension_size partition_id replica_id "
       "after_all create_token constant constant_like broadcast_compare is_inf "
       "is_neg_inf is_pos_inf uniform_quantize mulhi broadcast_and "
       "broadcast_or "
       "broadcast_xor broadcast_shift_left broadcast_shift_right_arithmetic "
       "broadcast_shift_right_logical"},
      {GradientRule::Linear, "add broadcast_add copy optimization_barrier "
                             "all_reduce cross-replica-sum complex real imag"},
      {GradientRule::Subtract, "subtract broadcast_subtract"},
      {GradientRule::Negate, "negate"},
      {GradientRule::Convert, "convert reduce_precision uniform_dequantize"},
      {GradientRule::Multiply, "multiply broadcast_multiply"},
      {GradientRule::Divide, "divide broadcast_divide"},
      {GradientRule::FromResult, "exponential exponential_minus_one tanh "
                                 "logistic sqrt rsqrt cbrt tan cholesky"},
      {GradientRule::FromOperand,
       "log log_plus_one sine cosine abs square erf erfc erf_inv lgamma "
       "digamma _asin_acos_kernel acos acosh asin asinh atan atanh cosh sinh "
       "bessel_i1e"},
      {GradientRule::FromOperands,
       "maximum minimum power remainder atan2 clamp broadcast_maximum "
       "broadcast_minimum broadcast_power broadcast_atan2 next_after "
       "broadcast_next_after broadcast_remainder polygamma zeta "
       "broadcast_polygamma broadcast_zeta"},
      {GradientRule::Select, "select broadcast_select"},
      {GradientRule::Move,
       "transpose slice real_dynamic_slice dynamic_slice pad dynamic_pad "
       "concatenate reverse gather dynamic_gather torch_index_select "
       "collective_permute all_gather all_to_all reduce_scatter "
       "collective_broadcast fft conj broadcast_complex"},
      {GradientRule::RowsFromOperands, "batch_norm_inference"},
      {GradientRule::Spread, "trace"},
  });
  return table;
}

/// arith and math on tensors; also the scalar ops in bodies of structured ops.
static const RuleTable &getArithTable() {
  static const RuleTable table = makeRuleTable({
      {GradientRule::Cut,
       "constant cmpf cmpi fptosi fptoui floor ceil round roundeven trunc "
       "isfinite isinf isnan isnormal fpclassify"},
      {GradientRule::Linear, "addf"},
      {GradientRule::Subtract, "subf"},
      {GradientRule::Negate, "negf"},
      {GradientRule::Convert, "extf truncf bitcast"},
      {GradientRule::Multiply, "mulf"},
      {GradientRule::Divide, "divf"},
      {GradientRule::FromResult, "exp exp2 expm1 tanh sqrt rsqrt cbrt tan"},
      {GradientRule::FromOperand,
       "log log2 log10 log1p sin cos absf erf erfc acos acosh asin asinh atan "
       "atanh cosh sinh fpowi"},
      {GradientRule::FromOperands,
       "maximumf minimumf maxnumf minnumf powf remf atan2 fma copysign"},
      {GradientRule::Select, "select"},
  });
  return table;
}

static const RuleTable &getTosaTable() {
  static const RuleTable table = makeRuleTable({
      {GradientRule::Cut,
       "const equal greater greater_equal floor ceil argmax logical_and "
       "logical_or logical_not logical_xor reduce_all reduce_any table"},
      {GradientRule::Linear, "add identity"},
      {GradientRule::Subtract, "sub"},
      {GradientRule::Negate, "negate"},
      {GradientRule::Convert, "cast"},
      {GradientRule::Multiply, "mul"},
      {GradientRule::FromResult, "exp tanh sigmoid rsqrt reciprocal clamp"},
      {GradientRule::FromOperand, "log sin cos abs erf"},
      {GradientRule::FromOperands, "maximum minimum pow"},
      {GradientRule::Select, "select"},
      {GradientRule::Move, "transpose concat pad slice reverse gather"},
      {GradientRule::Sum, "tile"},
      {GradientRule::Spread, "reduce_sum"},
      {GradientRule::Average, "avg_pool2d"},
      {GradientRule::Extreme, "reduce_max reduce_min max_pool2d"},
      {GradientRule::FromOperands, "reduce_product"},
  });
  return table;
}

/// ATen operators, without overloads.
static const RuleTable &getAtenTable() {
  static const RuleTable table = makeRuleTable({
      {GradientRule::Cut,
       "eq ne lt le gt ge floor ceil round sign sgn argmax argmin isnan isinf "
       "isfinite logical_and logical_or logical_not logical_xor any all "
       "one_hot detach arange zeros ones full zeros_like ones_like full_like "
       "empty empty_like rand randn rand_like randn_like bernoulli eye "
       "new_zeros new_ones new_full scalar_tensor argsort nonzero "
       "bitwise_not bitwise_and bitwise_or bitwise_xor floor_divide trunc fix "
       "heaviside signbit randperm randint zero greater greater_equal less "
       "less_equal not_equal __and__ __or__ __xor__ __lshift__ __rshift__ and "
       "bitwise_left_shift bitwise_right_shift isin isneginf isposinf "
       "count_nonzero bucketize searchsorted multinomial poisson normal "
       "randint_like gcd lcm histc bincount nextafter"},
      {GradientRule::Linear,
       "add clone alias contiguous lift_fresh_copy frac conj_physical"},
      {GradientRule::Subtract, "sub subtract"},
      {GradientRule::Negate, "neg negative rsub deg2rad rad2deg"},
      {GradientRule::Convert, "_to_copy to type_as"},
      {GradientRule::Multiply, "mul multiply"},
      {GradientRule::Divide, "div divide true_divide"},
      {GradientRule::FromResult,
       "relu tan tanh sigmoid exp expm1 sqrt rsqrt reciprocal elu hardtanh "
       "relu6 selu celu exp2 clamp clamp_min clamp_max clip"},
      {GradientRule::FromOperand,
       "log log1p log2 log10 sin cos abs square erf gelu silu mish softplus "
       "hardswish hardsigmoid leaky_relu log_sigmoid asin acos atan sinh cosh "
       "asinh acosh atanh erfinv cumprod absolute arccos arcsin arctan arccosh "
       "arcsinh arctanh angle erfc lgamma digamma polygamma i0 sinc softsign "
       "tanhshrink hardshrink softshrink threshold logit nan_to_num nansum glu "
       "special_i0e special_i1 special_i1e special_entr special_erfcx "
       "special_ndtr special_ndtri special_log_ndtr"},
      {GradientRule::FromOperands,
       "maximum minimum pow atan2 prelu fmod remainder lerp addcmul addcdiv "
       "hypot grid_sampler grid_sampler_2d grid_sampler_3d arctan2 fmax fmin "
       "float_power logaddexp logaddexp2 xlogy special_xlog1py copysign "
       "_prelu_kernel"},
      {GradientRule::Select, "where masked_fill"},
      {GradientRule::RowsFromResult,
       "softmax _softmax _safe_softmax log_softmax _log_softmax"},
      {GradientRule::RowsFromOperands,
       "layer_norm native_layer_norm group_norm native_group_norm rms_norm "
       "batch_norm native_batch_norm _native_batch_norm_legit "
       "_native_batch_norm_legit_functional "
       "_native_batch_norm_legit_no_training instance_norm"},
      {GradientRule::Move,
       "slice select narrow cat concat stack gather index index_select "
       "embedding constant_pad_nd pad flip roll tril triu permute_copy "
       "slice_scatter select_scatter index_put scatter_add index_add "
       "split chunk unbind take_along_dim pixel_shuffle diagonal unfold "
       "scatter "
       "reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d "
       "replication_pad2d replication_pad3d masked_scatter masked_select "
       "channel_shuffle diag diag_embed take index_copy index_fill "
       "diagonal_scatter "
       "as_strided_scatter"},
      {GradientRule::Sum, "expand broadcast_to repeat repeat_interleave tile "
                          "expand_as expand_copy"},
      {GradientRule::Spread, "sum trace"},
      {GradientRule::Average,
       "mean avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d "
       "adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d "
       "_adaptive_avg_pool3d cumsum "
       "upsample_nearest1d upsample_nearest2d upsample_nearest3d "
       "_upsample_nearest_exact1d _upsample_nearest_exact2d "
       "_upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d "
       "upsample_bicubic2d upsample_trilinear3d"},
      {GradientRule::Extreme,
       "amax amin logsumexp max_pool1d max_pool2d max_pool3d"},
      {GradientRule::ExtremeByIndex,
       "max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool1d "
       "adaptive_max_pool2d adaptive_max_pool3d max min topk sort kthvalue "
       "median nanmedian mode cummax cummin"},
      {GradientRule::FromOperands,
       "var std var_mean std_mean norm linalg_vector_norm linalg_norm "
       "linalg_matrix_norm frobenius_norm prod dist cosine_similarity "
       "pairwise_distance cdist kl_div soft_margin_loss poisson_nll_loss "
       "hinge_embedding_loss margin_ranking_loss triplet_margin_loss "
       "cosine_embedding_loss mse_loss l1_loss smooth_l1_loss huber_loss "
       "cross_entropy_loss nll_loss nll_loss_forward nll_loss_nd nll_loss2d "
       "nll_loss2d_forward "
       "binary_cross_entropy binary_cross_entropy_with_logits"},
      {GradientRule::Select, "dropout native_dropout"},
      {GradientRule::Attention, "scaled_dot_product_attention "
                                "_scaled_dot_product_flash_attention_for_cpu "
                                "_scaled_dot_product_flash_attention "
                                "_scaled_dot_product_efficient_attention"},
  });
  return table;
}

static const RuleTable &getOnnxTable() {
  static const RuleTable table = makeRuleTable({
      {GradientRule::Cut,
       "Equal Greater Less GreaterOrEqual LessOrEqual Not And Or Xor Floor "
       "Ceil Round Sign ArgMax ArgMin Shape Size Constant ConstantOfShape "
       "Range OneHot NonZero IsNaN IsInf BitShift BitwiseAnd BitwiseNot "
       "BitwiseOr BitwiseXor Bernoulli RandomNormal RandomNormalLike "
       "RandomUniform RandomUniformLike Multinomial Hardmax BlackmanWindow "
       "HannWindow HammingWindow NonMaxSuppression QuantizeLinear"},
      {GradientRule::Linear, "Add Sum Identity"},
      {GradientRule::Subtract, "Sub"},
      {GradientRule::Negate, "Neg"},
      {GradientRule::Convert, "Cast CastLike DequantizeLinear"},
      {GradientRule::Multiply, "Mul"},
      {GradientRule::Divide, "Div"},
      {GradientRule::FromResult,
       "Relu Tan Tanh Sigmoid Exp Sqrt Reciprocal Elu Selu Celu Clip "
       "ThresholdedRelu"},
      {GradientRule::FromOperand,
       "Log Sin Cos Abs Erf Gelu Softplus HardSwish HardSigmoid LeakyRelu "
       "Acos Acosh Asin Asinh Atan Atanh Cosh Sinh Mish Softsign Swish Shrink "
       "Det CumProd ReduceL1 ReduceLogSum ReduceSumSquare"},
      {GradientRule::FromOperands,
       "Max Min Pow PRelu Mod GridSample ReduceL2 ReduceLogSumExp ReduceProd"},
      {GradientRule::Select, "Where Dropout"},
      {GradientRule::RowsFromResult, "Softmax LogSoftmax"},
      {GradientRule::RowsFromOperands,
       "LayerNormalization BatchNormalization InstanceNormalization "
       "GroupNormalization RMSNormalization RMSLayerNormalization"},
      {GradientRule::Move, "Slice Concat Pad Gather GatherElements GatherND "
                           "Transpose Split DepthToSpace SpaceToDepth "
                           "Scatter ScatterElements ScatterND TensorScatter "
                           "ReverseSequence "
                           "Compress Trilu"},
      {GradientRule::Sum, "Expand Tile"},
      {GradientRule::Spread, "ReduceSum"},
      {GradientRule::Average,
       "ReduceMean AveragePool GlobalAveragePool Resize Upsample CumSum"},
      {GradientRule::Extreme, "ReduceMax ReduceMin MaxPool GlobalMaxPool"},
  });
  return table;
}

static const RuleTable &getTensorTable() {
  static const RuleTable table = makeRuleTable({
      {GradientRule::Cut, "empty dim rank"},
      {GradientRule::Move,
       "extract_slice insert_slice pad concat gather scatter extract insert "
       "parallel_insert_slice"},
      {GradientRule::Sum, "splat"},
      {GradientRule::Convert, "from_elements"},
      {GradientRule::View, "cast expand_shape collapse_shape reshape"},
  });
  return table;
}

/// Structured ops without a body.
static const RuleTable &getLinalgTable() {
  static const RuleTable table =
      makeRuleTable({{GradientRule::RowsFromResult, "softmax"}});
  return table;
}

static const RuleTable *getTable(StringRef dialect) {
  if (dialect == "linalg")
    return &getLinalgTable();
  if (dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo")
    return &getHloTable();
  if (dialect == "arith" || dialect == "math")
    return &getArithTable();
  if (dialect == "tosa")
    return &getTosaTable();
  if (dialect == "tensor")
    return &getTensorTable();
  if (dialect == "onnx")
    return &getOnnxTable();
  return nullptr;
}

static std::optional<GradientRule> lookUp(const RuleTable &table,
                                          StringRef name) {
  auto it = table.find(name);
  if (it == table.end())
    return std::nullopt;
  return it->second;
}

//===----------------------------------------------------------------------===//
// Ops whose region says what they compute
//===----------------------------------------------------------------------===//

/// The op that a reduction applies, by name without its dialect.
static StringRef getReducer(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return {};
  Block &body = op->getRegion(0).front();
  if (body.getOperations().size() != 2)
    return {};
  return body.front().getName().stripDialect();
}

static GradientRule getReductionRule(Operation *op) {
  StringRef reducer = getReducer(op);
  if (reducer == "add")
    return GradientRule::Spread;
  if (reducer == "maximum" || reducer == "minimum")
    return GradientRule::Extreme;
  if (reducer == "and" || reducer == "or")
    return GradientRule::Cut;
  return GradientRule::Unknown;
}

static std::optional<GradientRule> findHloRule(Operation *op, StringRef name) {
  if (name == "reduce" || name == "reduce_window")
    return getReductionRule(op);
  if (name == "scatter" || name == "dynamic_update_slice")
    return GradientRule::Move;
  return std::nullopt;
}

std::optional<GradientRule> mlir::es::findGradientRule(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  StringRef name = op->getName().stripDialect();
  if (dialect == "torch") {
    if (name == "operator")
      if (auto wrapped = op->getAttrOfType<StringAttr>("name")) {
        name = wrapped.getValue();
        name.consume_front("torch.");
        if (name.consume_front("onnx."))
          return lookUp(getOnnxTable(), name);
      }
    if (name == "prims.convert_element_type")
      return GradientRule::Convert;
    if (!name.consume_front("aten."))
      return std::nullopt;
    name = name.split('.').first;
    // In place: what is written over is the first operand.
    if (name.ends_with("_") && !name.ends_with("__"))
      name = name.drop_back();
    return lookUp(getAtenTable(), name);
  }
  if (dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo")
    if (std::optional<GradientRule> rule = findHloRule(op, name))
      return rule;
  const RuleTable *table = getTable(dialect);
  return table ? lookUp(*table, name) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Exceptions
//===----------------------------------------------------------------------===//

/// A maximum with equal elements is a relu: its result says which side won.
static void refineMaximum(Operation *op, DerivativeFacts &facts) {
  for (unsigned i = 0; i < 2; ++i) {
    DenseElementsAttr constant;
    Value bound = op->getOperand(1 - i);
    bool isSplat =
        isSplatValue(bound) ||
        (matchPattern(bound, m_Constant(&constant)) && constant.isSplat());
    if (isSplat && facts.operands[i].flows) {
      facts.operands[i].operands.assign({1 - i});
      facts.operands[i].results.assign({0});
    }
  }
}

/// What is written over keeps the cotangent outside of the slice, what is
/// written gets the slice of it.
static void refineUpdate(Operation *op, DerivativeFacts &facts) {
  for (OperandGradient &gradient : facts.operands)
    gradient.kind = VjpKind::movement;
  if (!facts.operands.empty() && facts.operands[0].flows)
    facts.operands[0].kind = VjpKind::elementwise;
}

/// Losses of classes read the labels, the weights of classes, and what they
/// return for it: the logarithms of probabilities and the sum of weights. The
/// logits themselves are not read again.
static bool refineClassLoss(Operation *op, StringRef name,
                            DerivativeFacts &facts) {
  bool isCrossEntropy = name == "cross_entropy_loss";
  if (!isCrossEntropy && !name.starts_with("nll_loss"))
    return false;
  // Without them the derivative reads the logits.
  if (isCrossEntropy && op->getNumResults() < 2)
    return true;
  for (auto [i, gradient] : llvm::enumerate(facts.operands)) {
    gradient.kind = isCrossEntropy ? VjpKind::rowwise : VjpKind::movement;
    gradient.flows &= i < 2;
    gradient.operands.clear();
    gradient.results.clear();
    for (unsigned read = 1, e = op->getNumOperands(); read < e; ++read)
      gradient.operands.push_back(read);
    for (unsigned read = 1, e = op->getNumResults(); read < e; ++read)
      gradient.results.push_back(read);
  }
  return true;
}

/// Operators that return for their gradients what these read (TrainingForms).
static void refineAten(Operation *op, StringRef name, DerivativeFacts &facts) {
  name = name.split('.').first;
  // The gradient of a sum is expanded, and that of a concatenation cut up,
  // without moving anything.
  if (name == "sum" || name == "cat" || name == "stack")
    for (OperandGradient &gradient : facts.operands)
      gradient.kind = VjpKind::view;
  if (op->getNumResults() < 2 || facts.operands.empty())
    return;
  OperandGradient &gradient = facts.operands[0];
  if (name == "dropout" || name == "native_dropout") {
    gradient.results.assign({1});
  } else if (name.starts_with("max_pool")) {
    gradient.kind = VjpKind::movement;
    gradient.operands.assign({0});
    gradient.results.assign({1});
  }
}

/// The offset of a normalisation is added: its gradient reads nothing, and the
/// others do not read it.
static void refineOffset(Operation *op, DerivativeFacts &facts) {
  unsigned vectors = 0;
  for (auto [i, gradient] : llvm::enumerate(facts.operands)) {
    ShapedType type = getCarriedShape(op->getOperand(i).getType());
    if (!type || !type.hasRank() || type.getRank() > 1 || ++vectors != 2)
      continue;
    gradient.operands.clear();
    gradient.results.clear();
    for (OperandGradient &other : facts.operands)
      llvm::erase(other.operands, unsigned(i));
  }
}

void mlir::es::refineNamedDerivative(Operation *op, DerivativeFacts &facts) {
  StringRef name = op->getName().stripDialect();
  if (name.consume_front("aten.")) {
    if (refineClassLoss(op, name.split('.').first, facts))
      return;
    refineAten(op, name, facts);
  }
  if ((name == "maximum" || name == "minimum" || name == "maximumf" ||
       name == "minimumf" || name == "maxnumf" || name == "minnumf") &&
      op->getNumOperands() == 2)
    return refineMaximum(op, facts);
  if (isSliceUpdate(op) || name == "scatter" || name == "insert_slice")
    return refineUpdate(op, facts);
  // A bias or scale added to rows is summed over them.
  bool isNormalization = false;
  for (auto [i, gradient] : llvm::enumerate(facts.operands)) {
    if (!gradient.flows || gradient.kind != VjpKind::rowwise)
      continue;
    isNormalization |= op->getNumOperands() > 1;
    if (!hasResultShape(op, i))
      gradient.kind = VjpKind::reduction;
  }
  if (isNormalization)
    refineOffset(op, facts);
}
