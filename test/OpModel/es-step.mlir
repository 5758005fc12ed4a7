// What the ops of Evolution Strategies do to memory.
// RUN: es-opt --memory-report --entry=@update,@kept,@perturbed %s | FileCheck %s
// RUN: es-opt --es-bufferize %s | FileCheck %s --check-prefix=BUF

// Parameters are updated in place: 4000 + 32 for the coefficients.
// CHECK-LABEL: @update
// CHECK: peak {{ *}}4032
// BUF-LABEL: @update
// BUF-NOT: alloc
// BUF: es.update
func.func @update(%w: tensor<100x10xf32> {bufferization.writable = true, es.param = #es.param<trainable "w">}, %c: tensor<8xf32>, %n: i64, %u: f64, %key: i64) -> tensor<100x10xf32> {
  %0 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>)
      params(%w : tensor<100x10xf32>) as [#es.param<trainable "w">]
  return %0 : tensor<100x10xf32>
}

// Without leave to overwrite the parameter: a copy.
// CHECK-LABEL: @kept
// CHECK: peak {{ *}}8032
// BUF-LABEL: @kept
func.func @kept(%w: tensor<100x10xf32> {es.param = #es.param<trainable "w">}, %c: tensor<8xf32>, %n: i64, %u: f64, %key: i64) -> tensor<100x10xf32> {
  %0 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>)
      params(%w : tensor<100x10xf32>) as [#es.param<trainable "w">]
  return %0 : tensor<100x10xf32>
}

// Parameter 4000, perturbed copy 4000, x 800, y 80.
// CHECK-LABEL: @perturbed
// CHECK: peak {{ *}}8880
// BUF-LABEL: @perturbed
// BUF: %[[P:.*]] = memref.alloc() {{.*}} : memref<100x10xf32>
// BUF: es.perturb normal16 %{{.*}} <trainable "w"> into %[[P]]
// BUF: linalg.matmul
// BUF: memref.dealloc %[[P]]
func.func @perturbed(%w: tensor<100x10xf32> {es.param = #es.param<trainable "w">}, %x: tensor<2x100xf32>, %key: i64, %m: index) -> tensor<2x10xf32> {
  %e = tensor.empty() : tensor<100x10xf32>
  %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%m) : tensor<100x10xf32> into tensor<100x10xf32>
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<2x10xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<2x10xf32>) -> tensor<2x10xf32>
  %y = linalg.matmul ins(%x, %p : tensor<2x100xf32>, tensor<100x10xf32>) outs(%f1 : tensor<2x10xf32>) -> tensor<2x10xf32>
  return %y : tensor<2x10xf32>
}
