// RUN: es-opt --split-input-file --memory-report --graphs=backprop --loss=sum --optimizer=sgd %s | FileCheck %s

// What nothing describes keeps everything, is counted and named.
// CHECK-LABEL: @gru
// CHECK: note: 2 x 'torch.aten.gru.input' has no known derivative: its gradient keeps every operand and result
func.func @gru(%x: tensor<4x4xf32>, %h: tensor<4x4xf32>, %w: tensor<4x4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4x4xf32> {
  %y:2 = "torch.aten.gru.input"(%x, %h, %w) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %z:2 = "torch.aten.gru.input"(%y#0, %y#1, %w) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return %z#0 : tensor<4x4xf32>
}

// -----

// A product of one operand: the text of an op that is not linked in may say so.
// CHECK-LABEL: @one_operand
// CHECK: note: 1 x 'torch.aten.mm' has no known derivative
func.func @one_operand(%w: tensor<4x4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4x4xf32> {
  %y = "torch.aten.mm"(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// The gradient of an arc sine reads its operand, the parameter, and that of the product x:
// no activation is saved.
// CHECK-LABEL: @operand
// CHECK-NOT: saved activation
// CHECK-NOT: derivative
func.func @operand(%x: tensor<4x4xf32>, %w: tensor<4x4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4x4xf32> {
  %a = "torch.aten.arcsin"(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = "torch.aten.mul.Tensor"(%x, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
