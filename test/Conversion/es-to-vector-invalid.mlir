// RUN: es-opt --convert-es-to-vector %s -split-input-file -verify-diagnostics
// RUN: not es-opt --convert-es-to-vector=vector-width=3 %s -split-input-file 2>&1 | FileCheck %s
// CHECK: error: expects a vector width of 1, 4, 8 or 16, got 3
// RUN: not es-opt --convert-es-to-vector=es-threads=0 %s -split-input-file 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: expects at least one thread, got 0

func.func @no_tensors(%w: tensor<4xf32>, %key: i64, %m: index) {
  // expected-error@+1 {{cannot be lowered: expects buffers with the identity layout, got 'tensor<4xf32>'}}
  %p = es.perturb normal16 %w <trainable "w"> into %w key(%key) member(%m) : tensor<4xf32> into tensor<4xf32>
  return
}

// -----

func.func @no_strides(%w: memref<4xf32, strided<[2]>>, %key: i64, %m: index) {
  // expected-error@+1 {{cannot be lowered: expects buffers with the identity layout, got 'memref<4xf32, strided<[2]>>'}}
  es.perturb normal16 %w <trainable "w"> into %w key(%key) member(%m) : memref<4xf32, strided<[2]>> into memref<4xf32, strided<[2]>>
  return
}

// -----

func.func @no_scales_of_blocks(%w: memref<4x2xi8>, %key: i64, %m: index) {
  // expected-error@+1 {{cannot be lowered: parameter "w" has a scale for each block}}
  es.perturb normal16 %w <trainable "w", stored = !quant.uniform<i8:f32:{0:2, 1:1}, {{0.5, 0.25}, {0.5, 0.25}}>> into %w key(%key) member(%m)
      : memref<4x2xi8> into memref<4x2xi8>
  return
}

// -----

// expected-error@+2 {{cannot be lowered: expects to be in a func.func of a module}}
%seed = arith.constant 1 : i64
%no_module_level = es.step_key %seed, %seed

// -----

gpu.module @m {
  gpu.func @no_other_function(%w: memref<4xf32>, %key: i64, %m: index) {
    // expected-error@+1 {{cannot be lowered: expects to be in a func.func of a module}}
    es.perturb normal16 %w <trainable "w"> into %w key(%key) member(%m) : memref<4xf32> into memref<4xf32>
    gpu.return
  }
}
