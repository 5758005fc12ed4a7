// RUN: es-opt %s | FileCheck %s
// RUN: es-opt %s | es-opt | FileCheck %s

// The printed form of an op gives the attributes of its generic form.

// CHECK-LABEL: func @positions
func.func @positions(%x: tensor<2x3x4xf32>, %s: tensor<f32>, %n: tensor<i32>) {
  // CHECK: "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x3xi32>
  %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
  // CHECK: "stablehlo.transpose"(%arg0) {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  // CHECK: "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<5xf32>
  %2 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<5xf32>
  // CHECK: "stablehlo.reverse"(%arg0) {dimensions = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %3 = stablehlo.reverse %x, dims = [0, 2] : tensor<2x3x4xf32>
  // CHECK: "stablehlo.concatenate"(%arg0, %arg0) {dimension = 2 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  %4 = stablehlo.concatenate %x, %x, dim = 2 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  // CHECK: "stablehlo.get_dimension_size"(%arg0) {dimension = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<i32>
  %5 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3x4xf32>) -> tensor<i32>
  // CHECK: "stablehlo.slice"(%arg0) {limit_indices = array<i64: 2, 3, 4>, start_indices = array<i64: 0, 1, 0>, strides = array<i64: 1, 1, 2>} : (tensor<2x3x4xf32>) -> tensor<2x2x2xf32>
  %6 = stablehlo.slice %x [0:2, 1:3, 0:4:2] : (tensor<2x3x4xf32>) -> tensor<2x2x2xf32>
  // CHECK: "stablehlo.dynamic_slice"(%arg0, %arg2, %arg2, %arg2) {slice_sizes = array<i64: 1, 3, 4>} :
  %7 = stablehlo.dynamic_slice %x, %n, %n, %n, sizes = [1, 3, 4] : (tensor<2x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x4xf32>
  // CHECK: "stablehlo.pad"(%arg0, %arg1) {edge_padding_high = array<i64: 0, 0, 1>, edge_padding_low = array<i64: -1, 0, 0>, interior_padding = array<i64: 0, 1, 0>} :
  %8 = stablehlo.pad %x, %s, low = [-1, 0, 0], high = [0, 0, 1], interior = [0, 1, 0] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<1x5x5xf32>
  return
}

// CHECK-LABEL: func @words
func.func @words(%x: tensor<4xf32>, %c: tensor<16xcomplex<f32>>, %state: tensor<2xui64>, %shape: tensor<1xi64>, %s: tensor<f32>) {
  // CHECK: "stablehlo.compare"(%arg0, %arg0) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %0 = stablehlo.compare LT, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: "stablehlo.compare"({{.*}}) {compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction EQ>}
  %1 = stablehlo.compare  EQ, %x, %x,  TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: "stablehlo.fft"(%arg1) {fft_length = array<i64: 16>, fft_type = #stablehlo<fft_type FFT>} :
  %2 = stablehlo.fft %c, type =  FFT, length = [16] : (tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>>
  // CHECK: "stablehlo.rng_bit_generator"(%arg2) {rng_algorithm = #stablehlo<rng_algorithm PHILOX>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  %3, %4 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  // CHECK: "stablehlo.rng"(%arg4, %arg4, %arg3) {rng_distribution = #stablehlo<rng_distribution UNIFORM>}
  %5 = stablehlo.rng %s, %s, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<9xf32>
  // CHECK: "stablehlo.reduce_precision"(%arg0) {exponent_bits = 5 : i32, mantissa_bits = 10 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %6 = stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>
  // CHECK: "chlo.top_k"(%arg0) {k = 2 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  %7, %8 = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  return
}

// CHECK-LABEL: func @products
func.func @products(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %m: tensor<3x4xf32>, %n: tensor<4x5xf32>) {
  // CHECK: "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]} :
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: "stablehlo.dot_general"(%arg2, %arg3) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} :
  %1 = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  // CHECK: algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>
  %2 = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  // CHECK: "stablehlo.dot"(%arg2, %arg3) {precision_config = []} :
  %3 = stablehlo.dot %m, %n, precision = [] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  // CHECK: "stablehlo.einsum"(%arg2, %arg3) {einsum_config = "ab,bc->ac"} :
  %4 = stablehlo.einsum %m, %n, config = "ab,bc->ac" : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return
}

// An op over several lines.
// CHECK-LABEL: func @convolution
func.func @convolution(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x16xf32>) -> tensor<1x8x8x16xf32> {
  // CHECK: "stablehlo.convolution"(%arg0, %arg1) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<{{\[}}[0, 1], [2, 3]]> : tensor<2x2xi64>, rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: false, true>, window_strides = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x8x8x16xf32>
  %0 = stablehlo.convolution(%x, %w)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [1, 1], pad = [[0, 1], [2, 3]],
              lhs_dilate = [1, 1], rhs_dilate = [1, 2], reverse = [false, true]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x8x8x16xf32>
  return %0 : tensor<1x8x8x16xf32>
}

// CHECK-LABEL: func @calls
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: "stablehlo.custom_call"(%arg0) {backend_config = "", call_target_name = "Sharding", mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.custom_call"(%{{.*}}) {call_target_name = "not-an-id"}
  %1 = stablehlo.custom_call @"not-an-id"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.composite"(%{{.*}}) {composite_attributes = {k = 1 : i64}, decomposition = @calls, name = "chlo.f", version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.composite "chlo.f" %1 {composite_attributes = {k = 1 : i64}, decomposition = @calls, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// The same in MHLO, under its own name.
// CHECK-LABEL: func @mhlo
func.func @mhlo(%x: tensor<2x3xf32>) {
  // CHECK: "mhlo.compare"(%arg0, %arg0) {comparison_direction = #mhlo<comparison_direction GE>}
  %0 = mhlo.compare GE, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}
