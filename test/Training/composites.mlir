// RUN: es-opt --pass-pipeline="builtin.module(es-build-training-graph{loss=sum optimizer=sgd save-policy=attention-fused})" %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: es-opt %t.mlir -o /dev/null

// Layer norm reads its operand, the scale and the statistics of each row: mean and
// reciprocal deviation. The offset is summed.
// CHECK-LABEL: func.func @layer_norm.training_step
// CHECK: %[[N:.*]]:3 = es.composite layer_norm(%[[X:.*]], %{{.*}}, %{{.*}}) : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK: es.vjp rowwise "es.composite" saved(operand 0 = %[[X]], operand 1 = %{{.*}}, result 1 = %[[N]]#1, result 2 = %[[N]]#2) {{.*}} wrt [0]
func.func @layer_norm(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {es.param = #es.param<trainable "w">},
                      %g: tensor<8xf32> {es.param = #es.param<trainable "g">},
                      %b: tensor<8xf32> {es.param = #es.param<trainable "b">}) -> tensor<4x8xf32> {
  %h = "stablehlo.dot"(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<4x1xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<4x1xf32>
  %s = stablehlo.reduce(%h init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %s1 = stablehlo.reshape %s : (tensor<4xf32>) -> tensor<4x1xf32>
  %m = stablehlo.divide %s1, %n : tensor<4x1xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %c = stablehlo.subtract %h, %mb : tensor<4x8xf32>
  %cc = stablehlo.multiply %c, %c : tensor<4x8xf32>
  %v = stablehlo.reduce(%cc init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %v1 = stablehlo.reshape %v : (tensor<4xf32>) -> tensor<4x1xf32>
  %var = stablehlo.divide %v1, %n : tensor<4x1xf32>
  %ve = stablehlo.add %var, %eps : tensor<4x1xf32>
  %r = stablehlo.rsqrt %ve : tensor<4x1xf32>
  %rb = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %y0 = stablehlo.multiply %c, %rb : tensor<4x8xf32>
  %gb = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %y1 = stablehlo.multiply %y0, %gb : tensor<4x8xf32>
  %bb = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %y = stablehlo.add %y1, %bb : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// The same over structured ops, whose bodies compute several steps at once.
// CHECK-LABEL: func.func @layer_norm_linalg.training_step
// CHECK: %[[N:.*]]:3 = es.composite layer_norm(%[[X:.*]], %{{.*}}, %{{.*}}) : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK: es.vjp rowwise "es.composite" saved(operand 0 = %[[X]], operand 1 = %{{.*}}, result 1 = %[[N]]#1, result 2 = %[[N]]#2) {{.*}} wrt [0]
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @layer_norm_linalg(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {es.param = #es.param<trainable "w">},
                             %g: tensor<8xf32> {es.param = #es.param<trainable "g">},
                             %b: tensor<8xf32> {es.param = #es.param<trainable "b">}) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 8.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>
  %er = tensor.empty() : tensor<4xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%h : tensor<4x8xf32>) outs(%zr : tensor<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %t = arith.addf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %sum: f32, %out: f32):
    %m = arith.divf %sum, %n : f32
    %t = arith.subf %a, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  %v = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<4x8xf32>) outs(%zr : tensor<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %acc, %q : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %v, %g, %b : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %sum: f32, %scale: f32, %offset: f32, %out: f32):
    %var = arith.divf %sum, %n : f32
    %ve = arith.addf %var, %eps : f32
    %r = math.rsqrt %ve : f32
    %t0 = arith.mulf %a, %r : f32
    %t1 = arith.mulf %t0, %scale : f32
    %t2 = arith.addf %t1, %offset : f32
    linalg.yield %t2 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// GELU reads its operand; by the error function here, by tanh below.
// CHECK-LABEL: func.func @gelu_erf.training_step
// CHECK: es.composite gelu(%[[X:.*]]) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: es.vjp elementwise "es.composite" saved(operand 0 = %[[X]]) cotangents({{.*}}) wrt [0]
func.func @gelu_erf(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {es.param = #es.param<trainable "w">}) -> tensor<4x8xf32> {
  %h = "stablehlo.dot"(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %rsqrt2 = stablehlo.constant dense<0.707106769> : tensor<4x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %half = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %0 = stablehlo.multiply %h, %rsqrt2 : tensor<4x8xf32>
  %1 = "chlo.erf"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.add %1, %one : tensor<4x8xf32>
  %3 = stablehlo.multiply %h, %half : tensor<4x8xf32>
  %4 = stablehlo.multiply %3, %2 : tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @gelu_tanh.training_step
// CHECK: es.composite gelu(%[[X:.*]]) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: es.vjp elementwise "es.composite" saved(operand 0 = %[[X]]) cotangents({{.*}}) wrt [0]
func.func @gelu_tanh(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {es.param = #es.param<trainable "w">}) -> tensor<4x8xf32> {
  %h = "stablehlo.dot"(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %k = arith.constant dense<0.044715> : tensor<4x8xf32>
  %a = arith.constant dense<0.7978846> : tensor<4x8xf32>
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %half = arith.constant dense<0.5> : tensor<4x8xf32>
  %0 = arith.mulf %h, %h : tensor<4x8xf32>
  %1 = arith.mulf %0, %h : tensor<4x8xf32>
  %2 = arith.mulf %1, %k : tensor<4x8xf32>
  %3 = arith.addf %h, %2 : tensor<4x8xf32>
  %4 = arith.mulf %3, %a : tensor<4x8xf32>
  %5 = math.tanh %4 : tensor<4x8xf32>
  %6 = arith.addf %5, %one : tensor<4x8xf32>
  %7 = arith.mulf %6, %half : tensor<4x8xf32>
  %8 = arith.mulf %h, %7 : tensor<4x8xf32>
  return %8 : tensor<4x8xf32>
}

// Cross entropy keeps its log-probabilities and the labels, here as integers from
// which the weights of classes are computed inside.
// CHECK-LABEL: func.func @cross_entropy.training_step
// CHECK: %[[L:.*]]:2 = es.composite cross_entropy(%{{.*}}, %[[Y:.*]]) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4x8xf32>)
// CHECK: es.vjp rowwise "es.composite" saved(operand 1 = %[[Y]], result 1 = %[[L]]#1) {{.*}} wrt [0]
func.func @cross_entropy(%x: tensor<4x8xf32>, %labels: tensor<4xi32>,
                         %w: tensor<8x8xf32> {es.param = #es.param<trainable "w">}) -> tensor<4xf32> {
  %h = "stablehlo.dot"(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%h init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %h, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %p = stablehlo.subtract %d, %lb : tensor<4x8xf32>
  %i = stablehlo.iota dim = 1 : tensor<4x8xi32>
  %yb = stablehlo.broadcast_in_dim %labels, dims = [0] : (tensor<4xi32>) -> tensor<4x8xi32>
  %is = stablehlo.compare EQ, %i, %yb : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
  %onehot = stablehlo.convert %is : (tensor<4x8xi1>) -> tensor<4x8xf32>
  %picked = stablehlo.multiply %onehot, %p : tensor<4x8xf32>
  %nll = stablehlo.reduce(%picked init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %neg = stablehlo.negate %nll : tensor<4xf32>
  return %neg : tensor<4xf32>
}

// A mean that is not of what it is subtracted from, a product without an error
// function, and a sum of exponentials of something else, are what they are.
// CHECK-LABEL: func.func @no_composite.training_step
// CHECK-NOT: es.composite
func.func @no_composite(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {es.param = #es.param<trainable "w">}) -> tensor<4x8xf32> {
  %h = "stablehlo.dot"(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<4xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<4xf32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %m = stablehlo.divide %s, %n : tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %c = stablehlo.subtract %h, %mb : tensor<4x8xf32>
  %cc = stablehlo.multiply %c, %c : tensor<4x8xf32>
  %v = stablehlo.reduce(%cc init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %ve = stablehlo.add %v, %eps : tensor<4xf32>
  %r = stablehlo.rsqrt %ve : tensor<4xf32>
  %rb = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = stablehlo.multiply %c, %rb : tensor<4x8xf32>
  %sig = stablehlo.logistic %y : tensor<4x8xf32>
  %silu = stablehlo.multiply %y, %sig : tensor<4x8xf32>
  %e = stablehlo.exponential %silu : tensor<4x8xf32>
  %e2 = stablehlo.exponential %h : tensor<4x8xf32>
  %es = stablehlo.reduce(%e2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %eb = stablehlo.broadcast_in_dim %es, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %q = stablehlo.divide %e, %eb : tensor<4x8xf32>
  return %q : tensor<4x8xf32>
}
