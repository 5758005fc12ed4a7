// RUN: es-opt --memory-report=json --entry=@nested %s | FileCheck %s --check-prefix=NESTED
// RUN: es-opt --memory-report=json --entry=@twice %s | FileCheck %s --check-prefix=TWICE
// RUN: not es-opt --memory-report=json --entry=@recursive %s 2>&1 | FileCheck %s --check-prefix=RECURSIVE

func.func private @exp_relu(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = "stablehlo.exponential"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %z = func.call @relu(%y) : (tensor<64xf32>) -> tensor<64xf32>
  return %z : tensor<64xf32>
}
func.func private @relu(%x: tensor<64xf32>) -> tensor<64xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<64xf32>}> : () -> tensor<64xf32>
  %y = "stablehlo.maximum"(%x, %zero) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func private @endless(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = func.call @endless(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// A call inside an op that no dialect describes. x 256, and inside the
// exponential 256 that becomes its relu in place; the result 256 comes later.
// NESTED: "name": "nested"
// NESTED: "peak_bytes": 512
func.func @nested(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = "unknown.region"(%x) ({
    %z = func.call @exp_relu(%x) : (tensor<64xf32>) -> tensor<64xf32>
    "unknown.yield"(%z) : (tensor<64xf32>) -> ()
  }, {}) : (tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// Called twice, and through another callee: x 256, then all in place, 512.
// TWICE: "name": "twice"
// TWICE: "peak_bytes": 512
func.func @twice(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = func.call @exp_relu(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %z = func.call @exp_relu(%y) : (tensor<64xf32>) -> tensor<64xf32>
  %w = func.call @relu(%z) : (tensor<64xf32>) -> tensor<64xf32>
  return %w : tensor<64xf32>
}

// RECURSIVE: error: recursive call of '@endless': its memory has no static bound
func.func @recursive(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = func.call @endless(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}
