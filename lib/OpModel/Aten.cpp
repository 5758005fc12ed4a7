//===- Aten.cpp - ATen operators in the torch dialect ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `torch.aten.NAME.OVERLOAD`, as torch-mlir and the exporter of es_opt write
// it. Names that PyTorch documents as views are views; a trailing underscore
// means that the first operand is written. Where it depends on strides whether
// an op returns a view (`reshape`, `contiguous`), an attribute `aliases` says
// so if an exporter knew.
//
//===----------------------------------------------------------------------===//

#include "NamedOps.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::es;

static const FamilyTable &getTable() {
  static const FamilyTable table = makeFamilyTable({
      {Family::View,
       "_conj _neg_view _reshape_alias _unsafe_view adjoint alias "
       "as_strided atleast_1d atleast_2d atleast_3d broadcast_tensors "
       "broadcast_to chunk contiguous detach diagonal dsplit expand "
       "expand_as flatten hsplit imag lift_fresh mT matrix_H movedim "
       "moveaxis narrow numpy_T permute pin_memory positive ravel real "
       "reshape reshape_as resolve_conj resolve_neg select slice split "
       "split_with_sizes squeeze swapaxes swapdims t tensor_split "
       "transpose unbind unflatten unfold unsafe_chunk unsafe_split "
       "unsafe_split_with_sizes unsqueeze view view_as view_as_complex "
       "view_as_real vsplit H T to type_as cpu lift lift_fresh_copy "
       "_pin_memory conj resize_as meshgrid"},
      {Family::Elementwise,
       "__and__ __lshift__ __or__ __rshift__ __xor__ _to_copy abs absolute "
       "add addcmul and bitwise_and bitwise_left_shift bitwise_not "
       "bitwise_or bitwise_right_shift bitwise_xor ceil clamp clamp_max "
       "clamp_min clip clone complex conj_physical copy eq fill "
       "fix floor fmax fmin frac ge greater greater_equal gt hardshrink "
       "hardtanh heaviside isfinite isinf isnan isneginf isposinf le "
       "leaky_relu lerp less less_equal logical_and logical_not "
       "logical_or logical_xor lt masked_fill maximum minimum mul "
       "multiply ne neg negative not_equal prelu relu relu6 rrelu round "
       "rsub sgn sign signbit softshrink square sub subtract threshold "
       "threshold_backward hardtanh_backward leaky_relu_backward "
       "trunc where nan_to_num quantize_per_tensor quantize_per_channel "
       "dequantize fake_quantize_per_tensor_affine "
       "_add_relu _functional_assert_async _masked_scale _prelu_kernel "
       "_prelu_kernel_backward _print copysign frexp gcd ldexp lcm nextafter "
       "polar rrelu_with_noise rrelu_with_noise_backward "
       "rrelu_with_noise_functional zero"},
      {Family::Costly,
       "acos acosh addcdiv angle arccos arcsin arctan arctan2 asin asinh "
       "atan atan2 atanh celu cos cosh deg2rad digamma div divide elu erf "
       "erfc erfinv exp exp2 expm1 float_power floor_divide fmod gelu "
       "gelu_backward hardsigmoid hardswish hypot i0 lgamma log log10 "
       "log1p log2 log_sigmoid logaddexp logit mish mvlgamma pow "
       "rad2deg reciprocal remainder rsqrt selu sigmoid "
       "sigmoid_backward silu silu_backward sin sinc sinh softplus "
       "softsign sqrt tan tanh tanh_backward tanhshrink true_divide "
       "xlogy arccosh arcsinh arctanh elu_backward hardsigmoid_backward "
       "hardswish_backward igamma igammac log_sigmoid_backward logaddexp2 "
       "logit_backward mish_backward polygamma softplus_backward "
       "special_airy_ai special_bessel_j0 special_bessel_j1 "
       "special_bessel_y0 special_bessel_y1 "
       "special_chebyshev_polynomial_t special_chebyshev_polynomial_u "
       "special_chebyshev_polynomial_v special_chebyshev_polynomial_w "
       "special_entr special_erfcx special_hermite_polynomial_h "
       "special_hermite_polynomial_he special_i0e special_i1 special_i1e "
       "special_laguerre_polynomial_l special_legendre_polynomial_p "
       "special_log_ndtr special_modified_bessel_i0 "
       "special_modified_bessel_i1 special_modified_bessel_k0 "
       "special_modified_bessel_k1 special_ndtr special_ndtri "
       "special_scaled_modified_bessel_k0 "
       "special_scaled_modified_bessel_k1 "
       "special_shifted_chebyshev_polynomial_t "
       "special_shifted_chebyshev_polynomial_u "
       "special_shifted_chebyshev_polynomial_v "
       "special_shifted_chebyshev_polynomial_w special_spherical_bessel_j0 "
       "special_xlog1py special_zeta"},
      {Family::Movement,
       "cat column_stack concat concatenate constant_pad_nd dstack "
       "expand_copy fliplr flip flipud hstack pad pixel_shuffle "
       "pixel_unshuffle replication_pad1d replication_pad2d "
       "reflection_pad1d reflection_pad2d repeat repeat_interleave roll "
       "rot90 select_copy slice_copy split_copy stack tile tril triu "
       "vstack permute_copy transpose_copy view_copy t_copy "
       "unsqueeze_copy squeeze_copy im2col col2im _chunk_cat _reshape_copy "
       "alias_copy as_strided_copy block_diag diagonal_copy fft_fftshift "
       "fft_ifftshift narrow_copy pad_sequence reflection_pad3d "
       "replication_pad3d split_with_sizes_copy unbind_copy unfold_copy "
       "_resize_output"},
      {Family::Generator,
       "arange empty empty_like empty_permuted empty_strided eye full "
       "full_like linspace logspace new_empty new_empty_strided new_full "
       "new_ones new_zeros ones ones_like scalar_tensor tril_indices "
       "triu_indices zeros zeros_like tensor cauchy exponential geometric "
       "hann_window log_normal uniform _make_dep_token _list_to_tensor"},
      {Family::Reduction,
       "all amax amin aminmax any argmax argmin count_nonzero frobenius_norm "
       "logsumexp max mean median min nansum norm numel_reduce prod std "
       "std_mean sum var var_mean avg_pool1d avg_pool2d avg_pool3d "
       "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
       "_adaptive_avg_pool2d _adaptive_avg_pool3d max_pool1d max_pool2d "
       "max_pool3d linalg_norm linalg_vector_norm linalg_matrix_norm "
       "adaptive_max_pool3d dist nanmedian mode pairwise_distance"},
      {Family::Contraction,
       "_convolution addbmm addmm addmv addr baddbmm bilinear bmm conv1d "
       "conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d "
       "convolution convolution_backward dot einsum ger inner kron linear "
       "matmul mm mv outer tensordot vdot linear_backward _weight_int8pack_mm "
       "_int_mm _addmm_activation _dyn_quant_matmul_4bit _grouped_mm "
       "_scaled_grouped_mm _scaled_mm _scaled_mm_v2 _weight_int4pack_mm "
       "_weight_int4pack_mm_for_cpu "
       "_weight_int4pack_mm_with_scales_and_zeros"},
      {Family::Materializing,
       "_adaptive_avg_pool2d_backward _cdist_forward _ctc_loss _spdiags "
       "_to_dense "
       "_embedding_bag _fused_dropout _log_softmax "
       "_log_softmax_backward_data _native_batch_norm_legit "
       "_native_batch_norm_legit_functional "
       "_native_batch_norm_legit_no_training "
       "_scaled_dot_product_attention_math "
       "_scaled_dot_product_efficient_attention "
       "_scaled_dot_product_flash_attention "
       "_scaled_dot_product_flash_attention_for_cpu _softmax "
       "_softmax_backward_data adaptive_max_pool1d adaptive_max_pool2d "
       "alpha_dropout argsort avg_pool2d_backward batch_norm bernoulli "
       "binary_cross_entropy binary_cross_entropy_with_logits bincount "
       "bucketize cdist channel_shuffle cholesky cosine_similarity "
       "cross_entropy_loss ctc_loss cummax cummin cumprod cumsum cross det "
       "diff "
       "diag diag_embed dropout embedding embedding_bag "
       "embedding_dense_backward fft_fft fft_fft2 fft_fftn fft_ifft "
       "fft_ifft2 fft_irfft fft_rfft fft_rfft2 gather glu grid_sampler "
       "grid_sampler_2d group_norm gru histc huber_loss index "
       "index_select index_add index_copy index_fill index_put "
       "_unsafe_index _unsafe_index_put instance_norm inverse isin "
       "kl_div kthvalue l1_loss layer_norm linalg_cholesky linalg_det "
       "linalg_inv linalg_qr linalg_solve linalg_svd local_response_norm "
       "log_softmax lstm masked_scatter masked_select "
       "max_pool2d_with_indices max_pool2d_with_indices_backward "
       "max_pool3d_with_indices mse_loss multi_head_attention_forward "
       "multinomial native_batch_norm native_batch_norm_backward "
       "native_dropout native_dropout_backward native_group_norm "
       "native_group_norm_backward native_layer_norm "
       "native_layer_norm_backward nll_loss nll_loss2d nll_loss_backward "
       "nll_loss_forward nll_loss2d_forward nonzero normal one_hot poisson "
       "rand rand_like randint randint_like randn randn_like randperm "
       "rms_norm rnn_relu rnn_tanh scaled_dot_product_attention scatter "
       "scatter_add scatter_reduce searchsorted select_backward "
       "select_scatter slice_backward slice_scatter smooth_l1_loss softmax "
       "sort take take_along_dim topk trace unique upsample_bicubic2d "
       "upsample_bilinear2d upsample_nearest1d upsample_nearest2d "
       "_upsample_nearest_exact2d upsample_linear1d weight_norm "
       "diagonal_scatter as_strided_scatter "
       "_adaptive_avg_pool3d_backward _batch_norm_no_update "
       "_batch_norm_with_update _batch_norm_with_update_functional "
       "_cdist_backward _cholesky_solve_helper _convert_weight_to_int4pack "
       "_convert_weight_to_int4pack_for_cpu _dyn_quant_pack_4bit_weight "
       "_efficient_attention_backward _efficient_attention_forward "
       "_embedding_bag_backward _embedding_bag_dense_backward "
       "_embedding_bag_forward_only "
       "_embedding_bag_per_sample_weights_backward _euclidean_dist _fft_c2c "
       "_fft_c2r _fft_r2c _flash_attention_backward _flash_attention_forward "
       "_flash_attention_forward_no_dropout_inplace _fused_rms_norm "
       "_fused_rms_norm_backward _jagged_to_padded_dense_forward _linalg_det "
       "_linalg_eigh _linalg_eigvals _linalg_slogdet _linalg_solve_ex "
       "_linalg_svd _native_multi_head_attention _pack_padded_sequence "
       "_padded_dense_to_jagged_forward _pdist_backward _pdist_forward "
       "_philox_key_fold_in _philox_key_split _safe_softmax "
       "_scaled_dot_product_efficient_attention_backward "
       "_scaled_dot_product_flash_attention_backward "
       "_scaled_dot_product_flash_attention_for_cpu_backward _standard_gamma "
       "_transformer_encoder_layer_fwd _unique _unique2 _unsafe_masked_index "
       "_unsafe_masked_index_put_accumulate _upsample_bicubic2d_aa "
       "_upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward "
       "_upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward "
       "_upsample_nearest_exact1d _upsample_nearest_exact2d_backward "
       "_upsample_nearest_exact3d _weight_norm_interface "
       "_weight_norm_interface_backward adaptive_max_pool2d_backward "
       "adaptive_max_pool3d_backward affine_grid_generator "
       "avg_pool3d_backward batch_norm_backward "
       "binary_cross_entropy_backward cholesky_inverse cholesky_solve "
       "cudnn_batch_norm cudnn_batch_norm_backward "
       "miopen_batch_norm_backward diagonal_backward fft_hfft fft_hfft2 "
       "fft_hfftn fft_ifftn fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft2 "
       "fft_irfftn fft_rfftn fractional_max_pool2d glu_backward "
       "grid_sampler_2d_backward grid_sampler_3d grid_sampler_3d_backward "
       "hinge_embedding_loss huber_loss_backward index_reduce istft "
       "linalg_cholesky_ex linalg_cross linalg_eig linalg_eigvals "
       "linalg_householder_product linalg_inv_ex linalg_ldl_factor_ex "
       "linalg_ldl_solve linalg_lu linalg_lu_factor_ex linalg_lu_solve "
       "linalg_matrix_exp linalg_solve_triangular log_sigmoid_forward "
       "logcumsumexp lu_unpack margin_ranking_loss masked_scatter_backward "
       "max_pool3d_with_indices_backward max_unpool2d max_unpool3d "
       "mse_loss_backward multi_margin_loss multilabel_margin_loss_forward "
       "nll_loss2d_backward nonzero_numpy nonzero_static ormqr pdist "
       "reflection_pad1d_backward reflection_pad2d_backward "
       "reflection_pad3d_backward renorm replication_pad1d_backward "
       "replication_pad2d_backward replication_pad3d_backward resize "
       "smooth_l1_loss_backward soft_margin_loss soft_margin_loss_backward "
       "stft svd triangular_solve unfold_backward unique_consecutive "
       "unique_dim upsample_nearest2d_backward upsample_nearest3d "
       "upsample_trilinear3d"},
      {Family::Query, "dim device dtype is_floating_point item len numel size "
                      "storage_offset stride sym_size sym_numel sym_stride "
                      "_local_scalar_dense "
                      "Bool Int Float IntImplicit FloatImplicit ScalarImplicit "
                      "_assert_async _assert_tensor_metadata _assert_scalar "
                      "_functional_sym_constrain_range "
                      "_functional_sym_constrain_range_for_size dense_dim "
                      "is_coalesced is_complex is_contiguous "
                      "is_non_overlapping_and_dense is_pinned is_same_size "
                      "is_strides_like_format sym_constrain_range "
                      "sym_constrain_range_for_size sym_storage_offset"},
  });
  return table;
}

/// The same memory under another type costs nothing; another element type is a
/// conversion.
static bool changesElementType(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumResults() == 0)
    return false;
  auto from = dyn_cast<ShapedType>(op->getOperand(0).getType());
  auto to = dyn_cast<ShapedType>(op->getResult(0).getType());
  return from && to && from.getElementType() != to.getElementType();
}

static std::optional<Family> getOverride(Operation *op, StringRef name) {
  if (auto aliases = op->getAttrOfType<BoolAttr>("aliases"))
    return aliases.getValue() ? Family::View : Family::Movement;
  if ((name == "to" || name == "type_as") && changesElementType(op))
    return Family::Elementwise;
  // In evaluation dropout returns its operand.
  if (name == "dropout")
    if (auto train = op->getAttrOfType<BoolAttr>("train"))
      if (!train.getValue())
        return Family::View;
  return std::nullopt;
}

static std::optional<OpFacts> getAtenOperatorFacts(Operation *op,
                                                   StringRef name) {
  StringRef base = name.split('.').first;
  if (std::optional<Family> family = getOverride(op, base))
    return getFamilyFacts(op, *family);
  auto it = getTable().find(base);
  if (it != getTable().end()) {
    OpFacts facts = getFamilyFacts(op, it->second);
    facts.workspaceBytes = getAtenWorkspace(op, base);
    return facts;
  }
  // `relu_`, `add_`, `copy_`, `__iand__`: the operand itself; `__and__` is not
  // one.
  bool isOperator = base.ends_with("__");
  if (isOperator ? base.starts_with("__i")
                 : base.ends_with("_") && base.size() > 1) {
    OpFacts facts = getFamilyFacts(op, Family::Mutation);
    facts.workspaceBytes = getAtenWorkspace(op, base.drop_back());
    return facts;
  }
  return std::nullopt;
}

/// Conversions at the border of the torch dialect, literals, lists.
static std::optional<Family> getTorchFamily(StringRef name) {
  static const FamilyTable table = makeFamilyTable({
      {Family::View, "copy.to_tensor copy.to_vtensor tensor_static_info_cast "
                     "copy.to_vtensor to_builtin_tensor from_builtin_tensor "
                     "prim.unchecked_cast derefine"},
      {Family::Mutation, "overwrite.tensor.contents"},
      {Family::Constant, "vtensor.literal tensor.literal"},
      {Family::Generator,
       "constant.bool constant.device constant.float constant.int "
       "constant.none constant.number constant.str symbolic_int "
       "prim.NumToTensor.Scalar prims.iota"},
      {Family::Elementwise, "prims.convert_element_type"},
      {Family::View, "prims.view_of prims.squeeze prims.split_dim "
                     "prims.collapse prims.transpose"},
      {Family::Query,
       "bind_symbolic_shape runtime.assert prim.device prim.dtype "
       "prim.layout prim.RaiseException prim.min.int prim.max.int"},
      {Family::Materializing,
       "prim.ListConstruct prim.ListUnpack prim.TupleConstruct "
       "prim.TupleUnpack prim.tolist"},
  });
  auto it = table.find(name);
  if (it == table.end())
    return std::nullopt;
  return it->second;
}

std::optional<OpFacts> mlir::es::getAtenFacts(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect != "torch" && dialect != "torch_c")
    return std::nullopt;
  StringRef name = op->getName().stripDialect();
  // torch-mlir wraps what it has no op for: torch.operator "onnx.Add".
  if (name == "operator") {
    auto wrapped = op->getAttrOfType<StringAttr>("name");
    if (!wrapped)
      return std::nullopt;
    name = wrapped.getValue();
    if (name.consume_front("onnx."))
      return getOnnxFacts(op, name);
    name.consume_front("torch.");
  }
  if (name.consume_front("aten."))
    return getAtenOperatorFacts(op, name);
  if (std::optional<Family> family = getTorchFamily(name))
    return getFamilyFacts(op, *family);
  if (name == "return")
    return getFamilyFacts(op, Family::Terminator);
  return std::nullopt;
}
