// Storages are followed into loops and callees.
// RUN: es-opt --allow-unregistered-dialect --es-print-parameters %s -o /dev/null | FileCheck %s

// What every iteration hands on is the weight; what it computes is not.
// CHECK-LABEL: @for_loop:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1
func.func @for_loop(%h: tensor<4x8xf32>, %w: tensor<8x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %h, %v = %w) -> (tensor<4x8xf32>, tensor<8x8xf32>) {
    %0 = "stablehlo.dot"(%a, %v) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    scf.yield %0, %v : tensor<4x8xf32>, tensor<8x8xf32>
  }
  return %r#0 : tensor<4x8xf32>
}

// CHECK-LABEL: @while_loop:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1
func.func @while_loop(%h: tensor<4x8xf32>, %w: tensor<8x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %r:2 = scf.while (%a = %h, %v = %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<4x8xf32>) {
    %c = "test.condition"() : () -> i1
    scf.condition(%c) %v, %a : tensor<8x8xf32>, tensor<4x8xf32>
  } do {
  ^bb0(%v: tensor<8x8xf32>, %a: tensor<4x8xf32>):
    %0 = "stablehlo.dot"(%a, %v) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    scf.yield %0, %v : tensor<4x8xf32>, tensor<8x8xf32>
  }
  return %r#1 : tensor<4x8xf32>
}

// A stack of layers, one of which is cut out in each iteration.
// CHECK-LABEL: @scan:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1
func.func @scan(%h: tensor<4x8xf32>, %w: tensor<3x8x8xf32>, %i0: tensor<i32>) -> tensor<4x8xf32> {
  %zero = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %r:3 = "stablehlo.while"(%i0, %h, %w) ({
  ^bb0(%i: tensor<i32>, %a: tensor<4x8xf32>, %v: tensor<3x8x8xf32>):
    %c = "test.condition"(%i) : (tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<4x8xf32>, %v: tensor<3x8x8xf32>):
    %0 = "stablehlo.dynamic_slice"(%v, %i, %zero, %zero) {slice_sizes = array<i64: 1, 8, 8>} : (tensor<3x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %1 = "stablehlo.reshape"(%0) : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    %2 = "stablehlo.dot"(%a, %1) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %3 = "stablehlo.add"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%3, %2, %v) : (tensor<i32>, tensor<4x8xf32>, tensor<3x8x8xf32>) -> ()
  }) : (tensor<i32>, tensor<4x8xf32>, tensor<3x8x8xf32>) -> (tensor<i32>, tensor<4x8xf32>, tensor<3x8x8xf32>)
  return %r#1 : tensor<4x8xf32>
}

// One layer, two calls: the second gets a computed activation. Its operands
// stand the wrong way round, which the activation settles. Its constant is one
// storage.
// CHECK-LABEL: @calls:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter arg1
// CHECK-NEXT: trainable_parameter arg2
// CHECK-NEXT: trainable_parameter cst3 : tensor<8x4xf32>
// CHECK-NOT: parameter
func.func @calls(%x: tensor<8x4xf32>, %w1: tensor<8x8xf32>, %w2: tensor<8x8xf32>) -> tensor<8x4xf32> {
  %0 = call @layer(%w1, %x) : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = call @layer(%w2, %0) : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
func.func private @layer(%w: tensor<8x8xf32>, %x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.dot"(%w, %x) : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %c = arith.constant dense_resource<__elided__> : tensor<8x4xf32>
  %1 = tensor.empty() : tensor<8x8xf32>
  %2 = "stablehlo.dot"(%0, %c) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// CHECK-LABEL: @recursion:
// CHECK-NEXT: input arg0
// CHECK-NEXT: input arg1
func.func @recursion(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = call @recursion(%w, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
