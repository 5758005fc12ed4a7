// RUN: es-opt --memory-report --graphs=inference --donate=cache %s | FileCheck %s
// RUN: es-opt --memory-report --graphs=inference %s | FileCheck %s --check-prefix=KEPT
// RUN: es-opt --memory-report --graphs=inference --donate=cache --memory-model=eager %s | FileCheck %s --check-prefix=EAGER

// A key-value cache of 1 x 8 x 4 f32, 128 B, of which one row, 16 B, is new at a
// position, 8 B. Donated, it is written in place: 128 + 16 + 8 = 152. Kept by the
// caller or run op by op, the new cache is another 128: 280.
// CHECK: peak: inference 152 B
// KEPT: peak: inference 280 B
// EAGER: peak: inference 280 B
func.func @decode(%cache: tensor<1x8x4xf32>, %row: tensor<1x1x4xf32>, %at: tensor<1xi64>) -> tensor<1x8x4xf32> {
  %0 = "onnx.TensorScatter"(%cache, %row, %at) {axis = 1 : si64, mode = "linear"} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
  return %0 : tensor<1x8x4xf32>
}
