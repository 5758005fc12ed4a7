// RUN: es-opt --convert-es-to-gpu %s -split-input-file -verify-diagnostics
// RUN: not es-opt --convert-es-to-gpu=block-size=0 %s -split-input-file 2>&1 | FileCheck %s
// CHECK: error: expects a block of 1 to 1024 threads, got 0

func.func @no_scales_of_blocks(%w: memref<4x4xi8>, %key: i64, %m: index) {
  // expected-error@+1 {{cannot be lowered: parameter "w" has a scale for each block}}
  es.perturb normal16 %w <trainable "w", stored = !quant.uniform<i8:f32:{0:2, 1:2}, {{0.5, 0.25}, {1.0, 2.0}}>> into %w
      key(%key) member(%m) : memref<4x4xi8> into memref<4x4xi8>
  return
}

// -----

func.func @part(%w: memref<1x4xf32>, %key: i64, %m: index, %at: index) {
  // expected-error@+1 {{cannot be lowered to GPU kernels: expects a whole parameter that is perturbed, not a part of it, nor undone}}
  es.perturb normal16 %w <trainable "w"> into %w key(%key) member(%m) at(%at) : memref<1x4xf32> into memref<1x4xf32>
  return
}

// -----

func.func @factors(%a: memref<1x8xf32>, %b: memref<1x4xf32>, %key: i64, %m: index) {
  // expected-error@+1 {{cannot be lowered to GPU kernels}}
  es.perturb_factors normal16 <trainable "w"> into %a, %b key(%key) member(%m) : memref<1x8xf32>, memref<1x4xf32>
  return
}
