// One step of a key-value cache: the new row goes into the cache, then scores.
// RUN: es-opt --memory-report=json --donate=cache %s | FileCheck %s --check-prefix=DONATED
// RUN: es-opt --memory-report=json %s | FileCheck %s --check-prefix=KEPT
// RUN: es-opt --memory-report %s | FileCheck %s --check-prefix=NOTE

// cache 16*4*4 = 256, k 16, q 16: 288 resident. Scores 16*4 = 64.
// Donated, the row is written in place: 288 + 64 = 352.
// DONATED: "peak_bytes": 352
// Undonated, the updated cache is a second one: 352 + 256 = 608.
// KEPT: "peak_bytes": 608
// NOTE: note: donate cache (--donate='^cache$'): saves 256 B (256 B): peak 352 B instead of 608 B
func.func @step(%cache: tensor<16x4xf32> loc("cache"), %k: tensor<1x4xf32>, %q: tensor<4x1xf32>, %at: index) -> (tensor<16x4xf32>, tensor<16x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %new = tensor.insert_slice %k into %cache[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<16x4xf32>
  %e = tensor.empty() : tensor<16x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x1xf32>) -> tensor<16x1xf32>
  %s = linalg.matmul ins(%new, %q : tensor<16x4xf32>, tensor<4x1xf32>) outs(%f : tensor<16x1xf32>) -> tensor<16x1xf32>
  return %new, %s : tensor<16x4xf32>, tensor<16x1xf32>
}
