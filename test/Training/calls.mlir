// RUN: es-opt --es-build-training-graph="loss=sum optimizer=sgd" %s | FileCheck %s

// A private callee is part of its caller, and so of the caller's gradient.
// CHECK-LABEL: func.func @f.training_step
// CHECK-NOT: call
// CHECK: es.vjp elementwise "math.sin"
// CHECK-SAME: es.gradient_of = "w"
func.func @f(%w: tensor<4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4xf32> {
  %y = func.call @callee(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.sin %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
