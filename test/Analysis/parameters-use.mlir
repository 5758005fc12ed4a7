// What uses say of storages without names: a line each of the inventory.
// RUN: es-opt --allow-unregistered-dialect --es-print-parameters %s -o /dev/null | FileCheck %s

// CHECK-LABEL: @right_hand_side_of_two_arguments:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1 : tensor<8x16xf32> id {{[0-9]+}} from use
// The sums start from it, but it is no vector.
// CHECK-NEXT: input arg2
func.func @right_hand_side_of_two_arguments(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %init: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// CHECK-LABEL: @left_hand_side_if_the_other_is_computed:
// CHECK-NEXT: trainable_parameter arg0
// CHECK-NEXT: input arg1
func.func @left_hand_side_if_the_other_is_computed(%w: tensor<4x8xf32>, %x: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %0 = math.tanh %x : tensor<8x16xf32>
  %1 = "stablehlo.dot"(%w, %0) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// CHECK-LABEL: @left_hand_side_if_the_other_is_an_input_by_name:
// CHECK-NEXT: trainable_parameter arg0
// CHECK-NEXT: input tokens {{.*}} from name
func.func @left_hand_side_if_the_other_is_an_input_by_name(%w: tensor<4x8xf32>, %x: tensor<8x16xf32> loc("tokens")) -> tensor<4x16xf32> {
  %1 = "stablehlo.dot"(%w, %x) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// The gradient of the weight is a product with the input, which stays one.
// CHECK-LABEL: @input_in_a_gradient:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1
func.func @input_in_a_gradient(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.dot"(%x, %w) : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  %2 = "stablehlo.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %3 = "stablehlo.dot"(%2, %1) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// CHECK-LABEL: @filter_and_bias:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1
// CHECK-NEXT: trainable_parameter arg2
func.func @filter_and_bias(%x: tensor<1x8x8x3xf32>, %f: tensor<3x3x3x5xf32>, %b: tensor<5xf32>) -> tensor<1x6x6x5xf32> {
  %e = tensor.empty() : tensor<1x6x6x5xf32>
  %init = linalg.broadcast ins(%b : tensor<5xf32>) outs(%e : tensor<1x6x6x5xf32>) dimensions = [0, 1, 2]
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %f : tensor<1x8x8x3xf32>, tensor<3x3x3x5xf32>) outs(%init : tensor<1x6x6x5xf32>) -> tensor<1x6x6x5xf32>
  return %0 : tensor<1x6x6x5xf32>
}

// Without a stored filter the image is still no weight.
// CHECK-LABEL: @no_filter:
// CHECK-NEXT: input arg0
func.func @no_filter(%x: tensor<1x8x8x3xf32>) -> tensor<1x6x6x5xf32> {
  %f = arith.constant dense<0.5> : tensor<3x3x3x5xf32>
  %e = tensor.empty() : tensor<1x6x6x5xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %f : tensor<1x8x8x3xf32>, tensor<3x3x3x5xf32>) outs(%e : tensor<1x6x6x5xf32>) -> tensor<1x6x6x5xf32>
  return %0 : tensor<1x6x6x5xf32>
}

// CHECK-LABEL: @tosa_bias_and_transposed_weight:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1
// CHECK-NEXT: trainable_parameter arg2
func.func @tosa_bias_and_transposed_weight(%x: tensor<1x4x8xf32>, %w: tensor<1x16x8xf32>, %b: tensor<1x1x16xf32>) -> tensor<1x4x16xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %t = tosa.transpose %w {perms = array<i32: 0, 2, 1>} : (tensor<1x16x8xf32>) -> tensor<1x8x16xf32>
  %0 = tosa.matmul %x, %t, %z, %z : (tensor<1x4x8xf32>, tensor<1x8x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x16xf32>
  %1 = tosa.add %0, %b : (tensor<1x4x16xf32>, tensor<1x1x16xf32>) -> tensor<1x4x16xf32>
  return %1 : tensor<1x4x16xf32>
}

// One row: the bias has as many elements as the activation, and a rank less.
// CHECK-LABEL: @bias_at_batch_one:
// CHECK-NEXT: trainable_parameter arg0
// CHECK-NEXT: input arg1
func.func @bias_at_batch_one(%b: tensor<10xf32>, %x: tensor<1x10xf32>) -> tensor<1x10xf32> {
  %0 = "stablehlo.broadcast_in_dim"(%b) {broadcast_dimensions = array<i64: 1>} : (tensor<10xf32>) -> tensor<1x10xf32>
  %1 = "stablehlo.add"(%x, %0) : (tensor<1x10xf32>, tensor<1x10xf32>) -> tensor<1x10xf32>
  return %1 : tensor<1x10xf32>
}

// A vector among vectors is data, and a matrix is no bias.
// CHECK-LABEL: @no_bias:
// CHECK-NEXT: input arg0
// CHECK-NEXT: input arg1
// CHECK-NEXT: input arg2
func.func @no_bias(%a: tensor<10xf32>, %b: tensor<10xf32>, %m: tensor<4x10xf32>) -> (tensor<10xf32>, tensor<4x10xf32>) {
  %0 = arith.addf %a, %b : tensor<10xf32>
  %1 = math.exp %m : tensor<4x10xf32>
  %2 = arith.addf %1, %m : tensor<4x10xf32>
  return %0, %2 : tensor<10xf32>, tensor<4x10xf32>
}

// Decomposed normalisation: the variance passes through a square root.
// CHECK-LABEL: @normalization:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1
// CHECK-NEXT: trainable_parameter arg2
func.func @normalization(%x: tensor<4x8xf32>, %variance: tensor<8xf32>, %gamma: tensor<8xf32>) -> tensor<4x8xf32> {
  %eps = "stablehlo.constant"() {value = dense<1.0e-5> : tensor<8xf32>} : () -> tensor<8xf32>
  %0 = "stablehlo.add"(%variance, %eps) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = "stablehlo.rsqrt"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "stablehlo.multiply"(%1, %gamma) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = "stablehlo.broadcast_in_dim"(%2) {broadcast_dimensions = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %4 = "stablehlo.multiply"(%x, %3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// Running statistics are kept and not trained.
// CHECK-LABEL: @batch_norm:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1
// CHECK-NEXT: trainable_parameter arg2
// CHECK-NEXT: frozen_parameter arg3 {{.*}} from use{{$}}
// CHECK-NEXT: frozen_parameter arg4 {{.*}} from use{{$}}
func.func @batch_norm(%x: tensor<4x8xf32>, %scale: tensor<8xf32>, %offset: tensor<8xf32>, %mean: tensor<8xf32>, %variance: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance) {epsilon = 1.0e-5 : f32, feature_index = 1 : i64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @composite_normalization:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1
func.func @composite_normalization(%x: tensor<4x8xf32>, %scale: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = "mhlo.custom_call"(%x, %scale) {call_target_name = "vendor.rms_norm"} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// (convert(w) - zero point) * scale: the weight is the integers.
// CHECK-LABEL: @dequantised:
// CHECK-NEXT: input arg0
// CHECK-NEXT: frozen_parameter arg1 : tensor<16x8xi8> {{.*}} from use, trained by es only
// CHECK-NEXT: trainable_parameter arg2 : tensor<16xf32>
func.func @dequantised(%x: tensor<4x16xf32>, %w: tensor<16x8xi8>, %scale: tensor<16xf32>) -> tensor<4x8xf32> {
  %zero = "stablehlo.constant"() {value = dense<3.0> : tensor<16x8xf32>} : () -> tensor<16x8xf32>
  %0 = "stablehlo.convert"(%w) : (tensor<16x8xi8>) -> tensor<16x8xf32>
  %1 = "stablehlo.subtract"(%0, %zero) : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %2 = "stablehlo.broadcast_in_dim"(%scale) {broadcast_dimensions = array<i64: 0>} : (tensor<16xf32>) -> tensor<16x8xf32>
  %3 = "stablehlo.multiply"(%1, %2) : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %4 = "stablehlo.dot"(%x, %3) : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// Weights side by side are weights, each of them; a slice of one is one.
// CHECK-LABEL: @side_by_side:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1
// CHECK-NEXT: trainable_parameter arg2
func.func @side_by_side(%x: tensor<4x8xf32>, %q: tensor<8x2xf32>, %stack: tensor<3x8x2xf32>) -> tensor<4x4xf32> {
  %0 = tensor.extract_slice %stack[1, 0, 0] [1, 8, 2] [1, 1, 1] : tensor<3x8x2xf32> to tensor<8x2xf32>
  %1 = tensor.concat dim(1) %q, %0 : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x4xf32>
  %2 = "stablehlo.dot"(%x, %1) : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// The cache is updated before it is read: what is multiplied is a new value.
// CHECK-LABEL: @cache:
// CHECK-NEXT: state arg0 {{.*}}, donated
// CHECK-NEXT: input arg1
// CHECK-NEXT: input arg2
func.func @cache(%cache: tensor<8x4xf32> {bufferization.writable = true}, %k: tensor<1x4xf32>, %q: tensor<4x1xf32>) -> tensor<8x1xf32> {
  %0 = tensor.insert_slice %k into %cache[0, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  %1 = math.exp %q : tensor<4x1xf32>
  %2 = "stablehlo.dot"(%0, %1) : (tensor<8x4xf32>, tensor<4x1xf32>) -> tensor<8x1xf32>
  return %2 : tensor<8x1xf32>
}

// CHECK-LABEL: @tables:
// CHECK-NEXT: trainable_parameter arg0
// CHECK-NEXT: input arg1
// CHECK-NEXT: trainable_parameter arg2
// Looking integers up is data movement.
// CHECK-NEXT: input arg3
func.func @tables(%t: tensor<1x100x8xf32>, %i: tensor<1x4xi32>, %u: tensor<100x8xf32>, %p: tensor<1x9x1xi32>) -> (tensor<1x4x8xf32>, tensor<4x8xf32>, tensor<1x4x1xi32>) {
  %0 = tosa.gather %t, %i : (tensor<1x100x8xf32>, tensor<1x4xi32>) -> tensor<1x4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<1x4xi32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%row: i32, %out: f32):
    %r = arith.index_cast %row : i32 to index
    %c = linalg.index 1 : index
    %x = tensor.extract %u[%r, %c] : tensor<100x8xf32>
    linalg.yield %x : f32
  } -> tensor<4x8xf32>
  %2 = tosa.gather %p, %i : (tensor<1x9x1xi32>, tensor<1x4xi32>) -> tensor<1x4x1xi32>
  return %0, %1, %2 : tensor<1x4x8xf32>, tensor<4x8xf32>, tensor<1x4x1xi32>
}

// After bufferization, and in a dialect that is not linked in.
// CHECK-LABEL: @memrefs:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1
// CHECK-NEXT: input arg2
func.func @memrefs(%x: memref<4x8xf32>, %w: memref<16x8xf32>, %y: memref<4x4xf32>) {
  %0 = memref.subview %w[0, 0] [8, 4] [1, 1] : memref<16x8xf32> to memref<8x4xf32, strided<[8, 1]>>
  linalg.matmul ins(%x, %0 : memref<4x8xf32>, memref<8x4xf32, strided<[8, 1]>>) outs(%y : memref<4x4xf32>)
  return
}

// CHECK-LABEL: @torch:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1 : !torch.vtensor<[16,8],f32>
// CHECK-NEXT: trainable_parameter arg2
func.func @torch(%x: !torch.vtensor<[4,8],f32>, %w: !torch.vtensor<[16,8],f32>, %b: !torch.vtensor<[16],f32>) -> !torch.vtensor<[4,16],f32> {
  %0 = "torch.aten.linear"(%x, %w, %b) : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[16,8],f32>, !torch.vtensor<[16],f32>) -> !torch.vtensor<[4,16],f32>
  return %0 : !torch.vtensor<[4,16],f32>
}
