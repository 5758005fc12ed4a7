// RUN: es-opt --memory-report=json --memory-model=fused --entry=@chain %s | FileCheck %s --check-prefix=CHAIN
// RUN: es-opt --memory-report=json --memory-model=inplace --entry=@chain %s | FileCheck %s --check-prefix=CHAIN-INPLACE
// RUN: es-opt --memory-report=json --memory-model=fused --entry=@reduction %s | FileCheck %s --check-prefix=REDUCTION
// RUN: es-opt --memory-report=json --memory-model=fused --entry=@cheap_twice %s | FileCheck %s --check-prefix=CHEAP
// RUN: es-opt --memory-report=json --memory-model=fused --entry=@costly_twice %s | FileCheck %s --check-prefix=COSTLY
// RUN: es-opt --memory-report=json --memory-model=fused --entry=@no_product %s | FileCheck %s --check-prefix=PRODUCT
// RUN: es-opt --memory-report=json --memory-model=fused --entry=@transposes %s | FileCheck %s --check-prefix=TRANSPOSES
// RUN: es-opt --memory-report=json --memory-model=fused --entry=@takeover %s | FileCheck %s --check-prefix=TAKEOVER
// RUN: es-opt --memory-report=json --memory-model=fused --entry=@no_longer_life %s | FileCheck %s --check-prefix=LIFE
// RUN: es-opt --memory-report=json --memory-model=fused --entry=@linalg %s | FileCheck %s --check-prefix=LINALG

// x 256; the broadcast bias, 4 * 64 * 4 = 1024, is never in memory: 256 for the
// bias, 1024 for x broadcast too, only the sum 1024: 512 + 1024.
// CHAIN: "peak_bytes": 1536
// In place both broadcasts are, and the sum takes over one: 512 + 2048.
// CHAIN-INPLACE: "peak_bytes": 2560
func.func @chain(%x: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<4x64xf32> {
  %p = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<4x64xf32>
  %q = "stablehlo.broadcast_in_dim"(%b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<4x64xf32>
  %y = "stablehlo.add"(%p, %q) : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// x 256; a reduction squares and exponentiates as it goes; its initial
// value is a constant without memory; the result 4.
// REDUCTION: "peak_bytes": 260
func.func @reduction(%x: tensor<64xf32>) -> tensor<f32> {
  %e = "stablehlo.exponential"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %s = "stablehlo.multiply"(%e, %e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %y = "stablehlo.reduce"(%s, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// A cheap producer is computed for both of its consumers: x 256, results 8.
// CHEAP: "peak_bytes": 264
func.func @cheap_twice(%x: tensor<64xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %n = "stablehlo.negate"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %s = "stablehlo.reduce"(%n, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  %m = "stablehlo.reduce"(%n, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  return %s, %m : tensor<f32>, tensor<f32>
}

// An exponential would have to be computed twice; it is kept, 256 more.
// COSTLY: "peak_bytes": 520
func.func @costly_twice(%x: tensor<64xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %n = "stablehlo.exponential"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %s = "stablehlo.reduce"(%n, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  %m = "stablehlo.reduce"(%n, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  return %s, %m : tensor<f32>, tensor<f32>
}

// A product needs its operand in memory: x 256, its negation 256, product 256.
// PRODUCT: "peak_bytes": 768
func.func @no_product(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %n = "stablehlo.negate"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = "stablehlo.dot"(%n, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// Transposes of matrices before and after a product are part of it: 256 + 256.
// TRANSPOSES: "peak_bytes": 512
func.func @transposes(%x: tensor<4x16xf32>) -> tensor<8x8xf32> {
  %r = "stablehlo.reshape"(%x) : (tensor<4x16xf32>) -> tensor<8x8xf32>
  %t = "stablehlo.transpose"(%r) <{permutation = array<i64: 1, 0>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = "stablehlo.dot"(%t, %r) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = "stablehlo.transpose"(%y) <{permutation = array<i64: 1, 0>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}

// Through what it absorbs, the sum writes the product in place: 256 + 256.
// TAKEOVER: "peak_bytes": 512
func.func @takeover(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = "stablehlo.dot"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = "stablehlo.negate"(%y) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = "stablehlo.sign"(%y) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = "stablehlo.add"(%n, %s) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}

// Keeping the product, 256, instead of its conversion to f16, 128, would cost
// more than it saves: at the end x 256, 128, and two products of 256, and not
// 256 + 3 * 256.
// LIFE: "peak_bytes": 896
func.func @no_longer_life(%x: tensor<8x8xf32>) -> (tensor<8x8xf16>, tensor<8x8xf32>) {
  %y = "stablehlo.dot"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %h = "stablehlo.convert"(%y) : (tensor<8x8xf32>) -> tensor<8x8xf16>
  %z = "stablehlo.dot"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %w = "stablehlo.dot"(%z, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = "stablehlo.negate"(%h) : (tensor<8x8xf16>) -> tensor<8x8xf16>
  return %n, %w : tensor<8x8xf16>, tensor<8x8xf32>
}

#row = affine_map<(i, j) -> (i, j)>

// Both biases, 32 each, are broadcast on the way into their sum, 256.
// LINALG: "peak_bytes": 320
func.func @linalg(%b: tensor<8xf32>, %c: tensor<8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %p = linalg.broadcast ins(%b : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %q = linalg.broadcast ins(%c : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.addf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
