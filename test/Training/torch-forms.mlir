// RUN: es-opt --memory-report=json --graphs=backprop --memory-model=eager --optimizer=sgd --optimizer-impl=loop --entry=@dropped --live-ranges=%t.csv %s
// RUN: %python %S/Inputs/sum_roles.py %t.csv saved_activation | FileCheck %s --check-prefix=DROPPED
// RUN: es-opt --memory-report=json --graphs=backprop --memory-model=eager --optimizer=sgd --optimizer-impl=loop --entry=@kernel --live-ranges=%t.csv %s
// RUN: %python %S/Inputs/sum_roles.py %t.csv saved_activation | FileCheck %s --check-prefix=KERNEL
// RUN: es-opt --memory-report=json --graphs=backprop --memory-model=eager --optimizer=sgd --optimizer-impl=loop --entry=@biased --live-ranges=%t.csv %s
// RUN: %python %S/Inputs/sum_roles.py %t.csv saved_activation | FileCheck %s --check-prefix=BIASED
// RUN: es-opt --memory-report --graphs=backprop --entry=@dropped %s | FileCheck %s --check-prefix=INPLACE

// With dropout PyTorch has no kernel of attention: what its operators keep is the
// scaled query and keys, 256 each, and of 2 x 4 x 4 floats, 128, the softmax, the
// mask of the dropout, and what that leaves: 896.
// DROPPED: {{^}}896{{$}}
// INPLACE-NOT: no known derivative
func.func @dropped(%q: tensor<1x2x4x8xf32> {es.param = #es.param<trainable "q">}, %k: tensor<1x2x4x8xf32> {es.param = #es.param<trainable "k">}, %v: tensor<1x2x4x8xf32> {es.param = #es.param<trainable "v">}) -> tensor<f32> {
  %o = "torch.aten.scaled_dot_product_attention"(%q, %k, %v) {dropout_p = 5.000000e-01, is_causal = true} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  %s = "torch.aten.sum"(%o) : (tensor<1x2x4x8xf32>) -> tensor<f32>
  return %s : tensor<f32>
}

// The kernel keeps its result, 256, and the logarithms of 2 x 4 sums, 32.
// KERNEL: {{^}}288{{$}}
func.func @kernel(%q: tensor<1x2x4x8xf32> {es.param = #es.param<trainable "q1">}, %k: tensor<1x2x4x8xf32> {es.param = #es.param<trainable "k1">}, %v: tensor<1x2x4x8xf32> {es.param = #es.param<trainable "v1">}) -> tensor<f32> {
  %o = "torch.aten.scaled_dot_product_attention"(%q, %k, %v) {dropout_p = 0.000000e+00, is_causal = true} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  %s = "torch.aten.sum"(%o) : (tensor<1x2x4x8xf32>) -> tensor<f32>
  return %s : tensor<f32>
}

// Nor has the kernel a gradient of a mask: where that is trained, the scaled query
// and keys and the softmax are kept, 256 + 256 + 128.
// BIASED: {{^}}640{{$}}
func.func @biased(%q: tensor<1x2x4x8xf32> {es.param = #es.param<trainable "q2">}, %k: tensor<1x2x4x8xf32> {es.param = #es.param<trainable "k2">}, %v: tensor<1x2x4x8xf32> {es.param = #es.param<trainable "v2">}, %bias: tensor<1x2x4x4xf32> {es.param = #es.param<trainable "bias">}) -> tensor<f32> {
  %o = "torch.aten.scaled_dot_product_attention"(%q, %k, %v, %bias) {dropout_p = 0.000000e+00} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x8xf32>
  %s = "torch.aten.sum"(%o) : (tensor<1x2x4x8xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
