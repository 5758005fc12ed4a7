// RUN: es-opt --memory-report=json --entry=@views %s | FileCheck %s --check-prefix=VIEWS
// RUN: es-opt --memory-report=json --entry=@elementwise %s | FileCheck %s --check-prefix=ELEMENTWISE
// RUN: es-opt --memory-report=json --entry=@splats %s | FileCheck %s --check-prefix=SPLATS
// RUN: es-opt --memory-report=json --entry=@update %s | FileCheck %s --check-prefix=UPDATE
// RUN: es-opt --memory-report=json --entry=@donated_update %s | FileCheck %s --check-prefix=DONATED
// RUN: es-opt --memory-report=json --entry=@two_results %s | FileCheck %s --check-prefix=TWO
// RUN: es-opt --memory-report=json --entry=@unknown %s | FileCheck %s --check-prefix=UNKNOWN

// x 8*16*4 = 512. The product y 8*8*4 = 256 is reshaped, bit cast, broadcast to
// its own size and passed through a barrier, all without memory: 768.
// VIEWS: "peak_bytes": 768
// VIEWS: "exact": true
func.func @views(%x: tensor<8x16xf32>) -> tensor<1x64xi32> {
  %y = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %a = "stablehlo.reshape"(%y) : (tensor<8x8xf32>) -> tensor<64xf32>
  %b = "stablehlo.bitcast_convert"(%a) : (tensor<64xf32>) -> tensor<64xi32>
  %c = "stablehlo.broadcast_in_dim"(%b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xi32>) -> tensor<1x64xi32>
  %d = "stablehlo.optimization_barrier"(%c) : (tensor<1x64xi32>) -> tensor<1x64xi32>
  return %d : tensor<1x64xi32>
}

// x 256, its exponential 256 is squared in place; the comparison with x, one
// byte an element, is 64, and both are live there: 576. A reversal of the
// dimensions moves elements: 64 more while the square is dead, 384.
// ELEMENTWISE: "peak_bytes": 576
func.func @elementwise(%x: tensor<4x16xf32>) -> tensor<16x4xi1> {
  %a = "stablehlo.exponential"(%x) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %b = "chlo.square"(%a) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %c = "stablehlo.compare"(%b, %x) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xi1>
  %d = "stablehlo.broadcast_in_dim"(%c) <{broadcast_dimensions = array<i64: 1, 0>}> : (tensor<4x16xi1>) -> tensor<16x4xi1>
  return %d : tensor<16x4xi1>
}

// x 256 and the sum 256: neither the constant nor its broadcast has memory.
// SPLATS: "peak_bytes": 512
func.func @splats(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %s = "stablehlo.broadcast_in_dim"(%c) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
  %y = "stablehlo.add"(%x, %s) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// The cache 256 is the caller's, so that the update of one row 16 copies it
// (256); the index is a scalar of 4: 532.
// UPDATE: "peak_bytes": 532
func.func @update(%cache: tensor<16x4xf32>, %row: tensor<1x4xf32>, %i: tensor<i32>) -> tensor<16x4xf32> {
  %y = "stablehlo.dynamic_update_slice"(%cache, %row, %i, %i) : (tensor<16x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<16x4xf32>
  return %y : tensor<16x4xf32>
}

// Given away, the cache is written in place: 276.
// DONATED: "peak_bytes": 276
func.func @donated_update(%cache: tensor<16x4xf32> {tf.aliasing_output = 0 : i32}, %row: tensor<1x4xf32>, %i: tensor<i32>) -> tensor<16x4xf32> {
  %y = "stablehlo.dynamic_update_slice"(%cache, %row, %i, %i) : (tensor<16x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<16x4xf32>
  return %y : tensor<16x4xf32>
}

// Two scatters in one op write two fresh squares in place: arguments 256 + 256
// + index 4 + updates 4 + 4, squares 512.
// TWO: "peak_bytes": 1036
func.func @two_results(%a: tensor<64xf32>, %b: tensor<64xf32>, %i: tensor<1xi32>, %u: tensor<f32>, %v: tensor<f32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %p = "chlo.square"(%a) : (tensor<64xf32>) -> tensor<64xf32>
  %q = "chlo.square"(%b) : (tensor<64xf32>) -> tensor<64xf32>
  %r:2 = "stablehlo.scatter"(%p, %q, %i, %u, %v) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
    "stablehlo.return"(%z, %w) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<64xf32>, tensor<64xf32>, tensor<1xi32>, tensor<f32>, tensor<f32>) -> (tensor<64xf32>, tensor<64xf32>)
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}

// A name outside the specification is counted as conservative.
// UNKNOWN: "exact": false
// UNKNOWN: 1 x 'stablehlo.no_such_op' treated conservatively
func.func @unknown(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = "stablehlo.no_such_op"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}
