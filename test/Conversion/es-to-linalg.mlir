// RUN: es-opt --convert-es-to-linalg -split-input-file -verify-diagnostics %s | FileCheck %s

// One generic over the parameter and its state; the only tensors are those that
// were there.
// CHECK-LABEL: @update
// CHECK-NOT: tensor.empty
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<4x?xf32>, tensor<4x?xf32>)
// CHECK: linalg.index 0
// CHECK: scf.for
// CHECK: tensor.extract
// CHECK: linalg.yield
// CHECK-NOT: linalg.generic
// CHECK-NOT: es.update
func.func @update(%w: tensor<4x?xf32>, %v: tensor<4x?xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64)
    -> (tensor<4x?xf32>, tensor<4x?xf32>) {
  %new:2 = es.update momentum maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>)
      params(%w : tensor<4x?xf32>) as [#es.param<trainable "w">] states(%v : tensor<4x?xf32>)
  return %new#0, %new#1 : tensor<4x?xf32>, tensor<4x?xf32>
}

// -----

func.func @no_buffers(%w: memref<4xf32>, %key: i64, %m: index) {
  // expected-error@+1 {{cannot be lowered to linalg: expects tensors, got 'memref<4xf32>'}}
  es.perturb normal16 %w <trainable "w"> into %w key(%key) member(%m) : memref<4xf32> into memref<4xf32>
  return
}
