// RUN: es-opt %s | es-opt | FileCheck %s
// RUN: es-opt --emit-bytecode %s | es-opt | FileCheck %s
// RUN: es-opt --mlir-print-op-generic %s | es-opt | FileCheck %s

// CHECK-LABEL: @step
// CHECK: %[[KEY:.*]] = es.step_key %{{.*}}, %{{.*}}
// CHECK: es.perturb normal16 %{{.*}} <trainable "w"> into %{{.*}} key(%[[KEY]]) member(%{{.*}}) {antithetic, sigma = 1.000000e-01 : f64} : tensor<4x5xf32> into tensor<4x5xf32>
// CHECK: %[[C:.*]], %[[N:.*]], %[[UNIT:.*]] = es.shape_fitness centered_rank maximize %{{.*}} into %{{.*}} {antithetic, nan = #es.nan_policy<drop>} : tensor<8xf32> into tensor<4xf32>
// CHECK: %{{.*}}:4 = es.update momentum maximize normal16 key(%[[KEY]]) weights(%[[C]], %[[N]], %[[UNIT]] : tensor<4xf32>) params(%{{.*}}, %{{.*}} : tensor<4x5xf32>, tensor<5xbf16>) as [#es.param<trainable "w">, #es.param<trainable "b", lr = 1.000000e-03 : f32>] states(%{{.*}}, %{{.*}} : tensor<4x5xf32>, tensor<5xf32>) {rounding = #es.rounding<stochastic>}
func.func @step(%w: tensor<4x5xf32>, %b: tensor<5xbf16>, %v: tensor<4x5xf32>, %vb: tensor<5xf32>,
                %fitness: tensor<8xf32>, %seed: i64, %step: i64, %member: index)
    -> (tensor<4x5xf32>, tensor<5xbf16>, tensor<4x5xf32>, tensor<5xf32>) {
  %key = es.step_key %seed, %step
  %e = tensor.empty() : tensor<4x5xf32>
  %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%member) {antithetic, sigma = 0.1} : tensor<4x5xf32> into tensor<4x5xf32>
  %ec = tensor.empty() : tensor<4xf32>
  %c, %n, %unit = es.shape_fitness centered_rank maximize %fitness into %ec {antithetic, nan = #es.nan_policy<drop>} : tensor<8xf32> into tensor<4xf32>
  %new:4 = es.update momentum maximize normal16 key(%key) weights(%c, %n, %unit : tensor<4xf32>)
      params(%w, %b : tensor<4x5xf32>, tensor<5xbf16>)
      as [#es.param<trainable "w">, #es.param<trainable "b", lr = 1.0e-3 : f32>]
      states(%v, %vb : tensor<4x5xf32>, tensor<5xf32>) {rounding = #es.rounding<stochastic>}
  return %new#0, %new#1, %new#2, %new#3 : tensor<4x5xf32>, tensor<5xbf16>, tensor<4x5xf32>, tensor<5xf32>
}

// CHECK-LABEL: @on_memrefs
// CHECK: es.shape_fitness sign minimize %{{.*}} into %{{.*}} : memref<8xf32> into memref<8xf32>
// CHECK: es.perturb rademacher
// CHECK: es.update sgd minimize rademacher {{.*}} {accumulator = #es.accumulator<s32>, fixed = #es.fixed<threshold>, max_coefficient = 1 : i64, order = #es.order<exact>, tau = 1.500000e+00 : f64}
func.func @on_memrefs(%w: memref<7xi8>, %out: memref<7xi8>, %fitness: memref<8xf32>, %c: memref<8xf32>,
                      %key: i64, %member: index) {
  %n, %unit = es.shape_fitness sign minimize %fitness into %c : memref<8xf32> into memref<8xf32>
  es.perturb rademacher %w <trainable "w"> into %out key(%key) member(%member) : memref<7xi8> into memref<7xi8>
  es.update sgd minimize rademacher key(%key) weights(%c, %n, %unit : memref<8xf32>)
      params(%w : memref<7xi8>) as [#es.param<trainable "w">]
      {order = #es.order<exact>, max_coefficient = 1, accumulator = #es.accumulator<s32>, fixed = #es.fixed<threshold>, tau = 1.5}
  return
}

// Every state of every kind: adam on a master copy, in order.
// CHECK-LABEL: @states
// CHECK: %{{.*}}:7 = es.update adamw {{.*}} step(%{{.*}}) params({{.*}}) as {{.*}} states({{.*}} : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf64>, tensor<2xf64>) {
func.func @states(%w: tensor<3xbf16>, %m: tensor<3xf32>, %v: tensor<3xf32>, %master: tensor<3xf32>, %d: tensor<2xf64>,
                  %key: i64, %t: i64, %c: tensor<?xf32>, %n: i64, %unit: f64) {
  %new:7 = es.update adamw maximize uniform key(%key) weights(%c, %n, %unit : tensor<?xf32>) step(%t)
      params(%w, %d : tensor<3xbf16>, tensor<2xf64>) as [#es.param<trainable "w">, #es.param<trainable "d">]
      states(%m, %v, %master, %d, %d : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf64>, tensor<2xf64>)
      {rounding = #es.rounding<master>, decay = #es.decay_kind<decoupled>, weight_decay = 0.01, scale = #es.scale<mean>}
  return
}
