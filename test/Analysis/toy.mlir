// RUN: es-opt --memory-report=json --memory-model=inplace %s | FileCheck %s
// RUN: es-opt --memory-report=json --memory-model=fused %s | FileCheck %s
// RUN: es-opt --memory-report=json --memory-model=eager %s | FileCheck %s --check-prefix=EAGER

// Resident: x 4*8*4 = 128, W1 8*16*4 = 512, W2 16*2*4 = 128, together 768.
// In place, z becomes r; at the second product r 4*16*4 = 256 and
// y 4*2*4 = 32 are live: 768 + 288 = 1056. Eagerly, z and r are both live at
// the relu: 768 + 512 = 1280.
// CHECK: "peak_bytes": 1056
// EAGER: "peak_bytes": 1280
func.func @toy(%x: tensor<4x8xf32>, %w1: tensor<8x16xf32>, %w2: tensor<16x2xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<4x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %z = linalg.matmul ins(%x, %w1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %e2 = tensor.empty() : tensor<4x16xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<4x16xf32>) outs(%e2 : tensor<4x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4x16xf32>
  %e3 = tensor.empty() : tensor<4x2xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.matmul ins(%r, %w2 : tensor<4x16xf32>, tensor<16x2xf32>) outs(%f3 : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
