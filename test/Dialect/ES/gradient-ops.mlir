// RUN: es-opt --allow-unregistered-dialect %s | es-opt --allow-unregistered-dialect | FileCheck %s
// RUN: es-opt --allow-unregistered-dialect --emit-bytecode %s | es-opt --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: @weight_gradient
// CHECK: es.vjp contraction "stablehlo.dot" saved(operand 0 = %{{.*}}) cotangents(0 = %{{.*}}) wrt [1] original {precision = 1 : i32} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
func.func @weight_gradient(%x: tensor<4x8xf32>, %dy: tensor<4x2xf32>) -> tensor<8x2xf32> {
  %dw = es.vjp contraction "stablehlo.dot" saved(operand 0 = %x) cotangents(0 = %dy) wrt [1]
      original {precision = 1 : i32} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %dw : tensor<8x2xf32>
}

// CHECK-LABEL: @both_and_result
// CHECK: %{{.*}}:2 = es.vjp elementwise "t.div" saved(operand 1 = %{{.*}}, result 0 = %{{.*}}) cotangents(0 = %{{.*}}) wrt [0, 1] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func @both_and_result(%b: tensor<4xf32>, %y: tensor<4xf32>, %dy: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %d:2 = es.vjp elementwise "t.div" saved(operand 1 = %b, result 0 = %y) cotangents(0 = %dy) wrt [0, 1]
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d#0, %d#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @foreign_types
// CHECK: es.vjp view "torch.aten.view" cotangents(0 = %{{.*}}) wrt [0]
func.func @foreign_types(%dy: !torch.vtensor<[4,2],f32>) -> !torch.vtensor<[8],f32> {
  %d = es.vjp view "torch.aten.view" cotangents(0 = %dy) wrt [0]
      : (!torch.vtensor<[8],f32>) -> !torch.vtensor<[4,2],f32>
  return %d : !torch.vtensor<[8],f32>
}

// CHECK-LABEL: @with_region
// CHECK: es.vjp elementwise "linalg.generic" saved(result 0 = %{{.*}}) cotangents(0 = %{{.*}}) wrt [0] : {{.*}} {
// CHECK: ^bb0(%[[X:.*]]: tensor<4xf32>, %[[E:.*]]: tensor<4xf32>):
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<4xf32>) outs(%[[E]] : tensor<4xf32>)
func.func @with_region(%y: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  %d = es.vjp elementwise "linalg.generic" saved(result 0 = %y) cotangents(0 = %dy) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %e: tensor<4xf32>):
    %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = math.exp %in : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
  }
  return %d : tensor<4xf32>
}

// CHECK-LABEL: @loss
// CHECK: es.loss xent(%{{.*}}, %{{.*}}) : (tensor<4x10xbf16>, tensor<4xi32>) -> (tensor<f32>, tensor<4x10xf32>)
// CHECK: es.loss mse(%{{.*}}, %{{.*}})
// CHECK: es.loss sum(%{{.*}})
// CHECK: es.splat 1.000000e+00 : tensor<f32>
// CHECK: es.accumulate %{{.*}}, %{{.*}} : tensor<f32>
// CHECK: es.accumulate %{{.*}}, %{{.*}} apart : tensor<f32>
// CHECK: es.release %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
func.func @loss(%y: tensor<4x10xbf16>, %labels: tensor<4xi32>) -> tensor<f32> {
  %l:2 = es.loss xent(%y, %labels) : (tensor<4x10xbf16>, tensor<4xi32>) -> (tensor<f32>, tensor<4x10xf32>)
  %m = es.loss mse(%y, %y) : (tensor<4x10xbf16>, tensor<4x10xbf16>) -> tensor<f32>
  %s = es.loss sum(%y) : (tensor<4x10xbf16>) -> tensor<f32>
  %one = es.splat 1.0 : tensor<f32>
  %b = es.accumulate %m, %one : tensor<f32>
  %a = es.accumulate %b, %one apart : tensor<f32>
  es.release %l#0, %s : tensor<f32>, tensor<f32>
  return %a : tensor<f32>
}

// CHECK-LABEL: @optimizers
// CHECK: es.optimizer_step sgd fused params(%{{.*}} : tensor<4x8xf32>) grads(%{{.*}} : tensor<4x8xf32>) {decay = #es.decay_kind<coupled>, lr = 1.000000e-01 : f64, weight_decay = 1.000000e-02 : f64}
// CHECK: %{{.*}}:3 = es.optimizer_step adamw loop params({{.*}}) grads({{.*}}) states(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xf32>) step(%{{.*}}) {temporaries = 2 : i64}
// CHECK: %{{.*}}:3 = es.optimizer_step adafactor fused params({{.*}}) grads({{.*}}) states(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<8xf32>)
// CHECK: %{{.*}}:4 = es.optimizer_step momentum foreach
func.func @optimizers(%w: tensor<4x8xf32>, %g: tensor<4x8xf32>, %m: tensor<4x8xf32>, %v: tensor<4x8xf32>,
                      %row: tensor<4xf32>, %column: tensor<8xf32>, %t: i64) {
  %0 = es.optimizer_step sgd fused params(%w : tensor<4x8xf32>) grads(%g : tensor<4x8xf32>)
      {lr = 0.1, decay = #es.decay_kind<coupled>, weight_decay = 0.01}
  %1:3 = es.optimizer_step adamw loop params(%w : tensor<4x8xf32>) grads(%g : tensor<4x8xf32>)
      states(%m, %v : tensor<4x8xf32>, tensor<4x8xf32>) step(%t) {temporaries = 2}
  %2:3 = es.optimizer_step adafactor fused params(%w : tensor<4x8xf32>) grads(%g : tensor<4x8xf32>)
      states(%row, %column : tensor<4xf32>, tensor<8xf32>)
  %3:4 = es.optimizer_step momentum foreach params(%w, %w : tensor<4x8xf32>, tensor<4x8xf32>)
      grads(%g, %g : tensor<4x8xf32>, tensor<4x8xf32>) states(%m, %v : tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// CHECK-LABEL: @composite
// CHECK: %[[Y:.*]]:2 = es.composite relu(%{{.*}}) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
// CHECK: ^bb0(%[[A:.*]]: tensor<4xf32>):
// CHECK: "t.relu"(%[[A]])
func.func @composite(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  %y:2 = es.composite relu(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  ^bb0(%a: tensor<4xf32>):
    %r = "t.relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  }
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xi1>
}
