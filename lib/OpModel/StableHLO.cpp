//===- StableHLO.cpp - StableHLO, CHLO and MHLO ---------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All ops of the StableHLO specification, by name, with the older names that
// the MHLO dialect has for them and the CHLO ops that lower to them. Loops and
// branches are described in ControlFlow.cpp.
//
//===----------------------------------------------------------------------===//

#include "NamedOps.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::es;

static const FamilyTable &getTable() {
  static const FamilyTable table = makeFamilyTable({
      {Family::Elementwise,
       "abs add and ceil clamp compare complex convert count_leading_zeros "
       "floor imag is_finite maximum minimum multiply negate not or popcnt "
       "real reduce_precision round_nearest_afz round_nearest_even select "
       "shift_left shift_right_arithmetic shift_right_logical sign subtract "
       "uniform_dequantize uniform_quantize xor map stochastic_convert copy "
       "batch_norm_inference "
       // CHLO.
       "broadcast_add broadcast_and broadcast_compare broadcast_complex "
       "broadcast_maximum broadcast_minimum broadcast_multiply broadcast_or "
       "broadcast_select broadcast_shift_left "
       "broadcast_shift_right_arithmetic broadcast_shift_right_logical "
       "broadcast_subtract broadcast_xor conj is_inf is_neg_inf is_pos_inf "
       "mulhi square"},
      {Family::Costly,
       "atan2 cbrt cosine divide exponential exponential_minus_one log "
       "log_plus_one logistic power remainder rsqrt sine sqrt tan tanh "
       // CHLO.
       "_asin_acos_kernel acos acosh asin asinh atan atanh bessel_i1e "
       "broadcast_atan2 broadcast_divide broadcast_next_after "
       "broadcast_polygamma broadcast_power broadcast_remainder "
       "broadcast_zeta cosh digamma erf erf_inv erfc lgamma next_after "
       "polygamma sinh zeta"},
      {Family::Movement,
       "broadcast broadcast_in_dim concatenate dynamic_broadcast_in_dim "
       "dynamic_gather dynamic_pad dynamic_slice gather pad "
       "real_dynamic_slice reverse slice torch_index_select transpose"},
      {Family::Generator,
       "iota dynamic_iota constant_like create_token after_all partition_id "
       "replica_id"},
      {Family::Reduction, "reduce reduce_window trace unary_einsum"},
      {Family::Contraction,
       "convolution dot dot_general dynamic_conv einsum ragged_dot"},
      {Family::Materializing,
       "all_gather all_reduce all_to_all batch_norm_grad batch_norm_training "
       "cholesky collective_broadcast collective_permute composite "
       "cross-replica-sum custom_call fft fusion infeed outfeed recv "
       "reduce_scatter rng rng_bit_generator rng_normal rng_uniform scan "
       "send sort top_k topk triangular_solve async_start async_update "
       "async_done xla.rng_get_and_update_state"},
      {Family::View,
       "reshape dynamic_reshape bitcast bitcast_convert get_tuple_element "
       "optimization_barrier tuple set_dimension_size add_dependency domain"},
      {Family::Query,
       "get_dimension_size compute_reshape_shape cstr_reshapable "
       "minimum_broadcast_shapes"},
      {Family::Constant, "constant"},
      {Family::Terminator, "return"},
  });
  return table;
}

/// False if the dimensions of a broadcast are in another order than those of
/// its operand.
static bool keepsOrder(Operation *op) {
  if (auto dims = op->getAttrOfType<DenseI64ArrayAttr>("broadcast_dimensions"))
    return llvm::is_sorted(dims.asArrayRef());
  if (auto dims =
          op->getAttrOfType<DenseIntElementsAttr>("broadcast_dimensions"))
    return llvm::is_sorted(dims.getValues<int64_t>());
  return true;
}

/// A result that has no more elements than its source is the source, seen with
/// another shape; one of equal elements has no memory until something needs it.
static bool movesNothing(Operation *op, StringRef name) {
  if (op->getNumResults() != 1 || op->getNumOperands() != 1)
    return false;
  if (name == "broadcast_in_dim" || name == "broadcast") {
    std::optional<int64_t> from = getStaticElements(op->getOperand(0));
    if (from && from == getStaticElements(op->getResult(0)) && keepsOrder(op))
      return true;
  }
  static const llvm::StringMap<Family> passes =
      makeFamilyTable({{Family::View, "broadcast_in_dim broadcast convert "
                                      "transpose slice"}});
  return passes.contains(name) && isSplatValue(op->getOperand(0));
}

/// The operands that an update writes into.
static unsigned getNumUpdated(Operation *op, StringRef name) {
  if (name == "dynamic_update_slice")
    return 1;
  if (name == "scatter")
    return op->getNumResults();
  return 0;
}

std::optional<OpFacts> mlir::es::getStableHLOFacts(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect != "stablehlo" && dialect != "mhlo" && dialect != "chlo")
    return std::nullopt;
  StringRef name = op->getName().stripDialect();
  if (unsigned count = getNumUpdated(op, name)) {
    OpFacts facts = getFamilyFacts(op, Family::Materializing);
    makeUpdate(op, facts, count);
    return facts;
  }
  if (movesNothing(op, name))
    return getFamilyFacts(op, Family::View);
  if (name == "select_and_scatter")
    return getFamilyFacts(op, Family::Materializing);
  auto it = getTable().find(name);
  if (it == getTable().end())
    return std::nullopt;
  return getFamilyFacts(op, it->second);
}
