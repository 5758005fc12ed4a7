// Text and bytecode, and upstream passes that see the op.
// RUN: es-opt %s | es-opt | FileCheck %s
// RUN: es-opt --emit-bytecode %s | es-opt | FileCheck %s
// RUN: es-opt --inline --canonicalize --cse --symbol-dce %s | FileCheck %s --check-prefix=UPSTREAM
// RUN: es-opt --convert-elementwise-to-linalg --one-shot-bufferize=bufferize-function-boundaries %s | FileCheck %s --check-prefix=BUFFER

!q = !quant.uniform<i8:f32, 0.5>

// CHECK: func.func @all_fields(
// CHECK-SAME: #es.param<trainable "w", id = 7 : i32, stored = !quant.uniform<i8:f32, 5.000000e-01>, sigma = 2.500000e-01 : f32, lr = 5.000000e-01 : f32>
func.func @all_fields(%w: tensor<4xf32> {es.param = #es.param<trainable "w", id = 7 : i32, stored = !q, sigma = 0.25 : f32, lr = 0.5 : f32>}) -> tensor<4xf32> {
  // CHECK: es.param %{{.*}} <frozen "v", stored = i4> : tensor<4xf32>
  %0 = es.param %w <frozen "v", stored = i4> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @callee(%w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = es.param %w <frozen "tied"> : tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Inlining twice is legal: the op is a use, not a definition.
// UPSTREAM-LABEL: func.func @inlined_twice(
// UPSTREAM: es.param %arg0 <frozen "tied">
// UPSTREAM-NOT: call
// UPSTREAM: return
// BUFFER-LABEL: func.func @inlined_twice(
// BUFFER-NOT: es.param %
func.func @inlined_twice(%w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = func.call @callee(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @callee(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
