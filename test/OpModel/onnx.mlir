// RUN: es-opt --memory-report=json --entry=@named %s | FileCheck %s --check-prefix=NAMED
// RUN: es-opt --memory-report=json --entry=@wrapped %s | FileCheck %s --check-prefix=WRAPPED
// RUN: es-opt --memory-report=json --entry=@unknown %s | FileCheck %s --check-prefix=UNKNOWN

// x 256, the product 256, relu in its place, its reshape a view: 512.
// NAMED: "peak_bytes": 512
// NAMED: "exact": true
func.func @named(%x: tensor<8x8xf32>, %s: tensor<0xi64>) -> tensor<64xf32> {
  %y = "onnx.MatMul"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = "onnx.Relu"(%y) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = "onnx.Reshape"(%z, %s) : (tensor<8x8xf32>, tensor<0xi64>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// The same through torch-mlir's wrapper, with a dropout whose mask of 64 bytes
// is a result of its own: 576.
// WRAPPED: "peak_bytes": 576
// WRAPPED: "exact": true
func.func @wrapped(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xi1>) {
  %y = "torch.operator"(%x, %x) {name = "onnx.MatMul"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = "torch.operator"(%y) {name = "onnx.Relu"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %d:2 = "torch.operator"(%z) {name = "onnx.Dropout"} : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xi1>)
  return %d#0, %d#1 : tensor<8x8xf32>, tensor<8x8xi1>
}

// UNKNOWN: "exact": false
// UNKNOWN: 1 x 'onnx.NoSuchOp' treated conservatively
func.func @unknown(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = "onnx.NoSuchOp"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}
