// The forms that matter to what comes after; values are compared with JAX in
// test/Training/jax-gradients.test.
// RUN: es-opt %s --es-stablehlo-to-linalg | FileCheck %s
// RUN: es-opt %s --mlir-print-op-generic | es-opt --es-stablehlo-to-linalg | FileCheck %s

// A bound of relu is a constant: its gradient reads the result alone.
// CHECK-LABEL: @relu
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<2x3xf32>
// CHECK-NEXT:    arith.maximumf %arg0, %[[ZERO]] : tensor<2x3xf32>
func.func @relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %y = stablehlo.maximum %x, %z : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// Dimensions of size 1 are views; one op repeats.
// CHECK-LABEL: @keepdims
// CHECK:         %[[ROW:.*]] = tensor.collapse_shape %arg0 {{\[}}[0, 1]] : tensor<4x1xf32> into tensor<4xf32>
// CHECK:         linalg.broadcast ins(%[[ROW]] : tensor<4xf32>) outs({{.*}} : tensor<4x3xf32>) dimensions = [1]
func.func @keepdims(%x: tensor<4x1xf32>) -> tensor<4x3xf32> {
  %y = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: @swapped_dims
// CHECK:         linalg.transpose ins(%arg0 : tensor<4x3xf32>) outs({{.*}}) permutation = [1, 0]
// CHECK-NOT:     linalg
func.func @swapped_dims(%x: tensor<4x3xf32>) -> tensor<3x4xf32> {
  %y = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// The weight is passed on unchanged and read from outside; the counter is the
// loop's own. 10 is 1 + 3 * 3, where a loop from 1 below 8 in steps of 3 ends.
// CHECK-LABEL: @counted
// CHECK:         scf.for %[[I:.*]] = %c1{{.*}} to %c10{{.*}} step %c3{{.*}} iter_args(%[[H:.*]] = %arg0) -> (tensor<4xf32>)
// CHECK-NEXT:      arith.mulf %[[H]], %arg1
// CHECK-NEXT:      scf.yield
// CHECK:         arith.constant dense<10> : tensor<i32>
func.func @counted(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %start = stablehlo.constant dense<1> : tensor<i32>
  %r:3 = stablehlo.while(%i = %start, %h = %x, %k = %w) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %n = stablehlo.constant dense<8> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.constant dense<3> : tensor<i32>
    %j = stablehlo.add %i, %s : tensor<i32>
    %m = stablehlo.multiply %h, %k : tensor<4xf32>
    stablehlo.return %j, %m, %k : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#1, %r#0 : tensor<4xf32>, tensor<i32>
}

// CHECK-LABEL: @not_counted
// CHECK:         scf.while
// CHECK:           scf.condition(%{{.*}}) %{{.*}} : tensor<f32>
func.func @not_counted(%x: tensor<f32>) -> tensor<f32> {
  %r = stablehlo.while(%h = %x) : tensor<f32>
  cond {
    %n = stablehlo.constant dense<1.0> : tensor<f32>
    %c = stablehlo.compare GT, %h, %n, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %m = stablehlo.sine %h : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }
  return %r : tensor<f32>
}

// Sums in the wider type of the result.
// CHECK-LABEL: @mixed_dot
// CHECK:         linalg.generic
// CHECK:           arith.extf %{{.*}} : f16 to f32
// CHECK:           arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT:      arith.mulf
func.func @mixed_dot(%x: tensor<2x3xf16>, %w: tensor<3x4xf16>) -> tensor<2x4xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Truth values: or, not 1 + 1 = 0.
// CHECK-LABEL: @bools
// CHECK:         arith.ori
// CHECK:         arith.cmpi ult
func.func @bools(%a: tensor<4xi1>, %b: tensor<4xi1>) -> tensor<4xi1> {
  %c = stablehlo.add %a, %b : tensor<4xi1>
  %d = stablehlo.compare LT, %c, %a, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %d : tensor<4xi1>
}
