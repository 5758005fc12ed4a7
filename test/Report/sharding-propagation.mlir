// RUN: es-opt --memory-report --graphs=inference --entry='*' %s | FileCheck %s

// Shardings reach what states none, from operands to results and back.

sdy.mesh @mesh = <["data"=2, "model"=4]>

// An iota is made as it is needed: 16 / 2 x 4 = 32 B, as x; the sum takes its
// memory over.
// CHECK-LABEL: @generated
// CHECK: arguments {{ *}}32 (32 B)
// CHECK: peak {{ *}}64 (64 B)
func.func @generated(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<16xf32>
  %1 = stablehlo.add %x, %0 : tensor<16xf32>
  return %1 : tensor<16xf32>
}

// Needed whole and in halves it is made twice, 64 and 32 B: nothing is moved. x and
// y 32 + 64, both sums 96.
// CHECK-LABEL: @generated_twice
// CHECK: arguments {{ *}}96 (96 B)
// CHECK-NEXT: results {{ *}}96 (96 B)
// CHECK-NEXT: peak {{ *}}192 (192 B)
// CHECK-NOT: values are communicated
// CHECK: parameters:
func.func @generated_twice(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}, %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = stablehlo.iota dim = 0 : tensor<16xf32>
  %1 = stablehlo.add %x, %0 : tensor<16xf32>
  %2 = stablehlo.add %y, %0 : tensor<16xf32>
  return %1, %2 : tensor<16xf32>, tensor<16xf32>
}

// Only w2's rows are stated, split four ways: so is what is contracted with them, and
// w1's columns. w1 16 x 32 / 4 x 4 = 512 B, w2 32 / 4 x 8 x 4 = 256, x 6 x 16 x 4 = 384:
// 1152. h = x w1 6 x 8 x 4 = 192, its part of the sum 6 x 8 x 4 = 192; then the sum of
// the parts in a buffer of its own while h is dead: 1152 + 384.
// CHECK-LABEL: @from_contraction
// CHECK: arguments {{ *}}at most 1152 (1.1 KiB)
// CHECK-NEXT: results {{ *}}at most 192 (192 B)
// CHECK-NEXT: peak {{ *}}at most 1536 (1.5 KiB)
// CHECK: 0 values are communicated to be split otherwise, 1 sums
func.func @from_contraction(%w1: tensor<16x32xf32>,
    %w2: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
    %x: tensor<6x16xf32>) -> tensor<6x8xf32> {
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<6x16xf32>, tensor<16x32xf32>) -> tensor<6x32xf32>
  %1 = stablehlo.dot_general %0, %w2, contracting_dims = [1] x [0] : (tensor<6x32xf32>, tensor<32x8xf32>) -> tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}

// From the result through transpose, broadcast and reduction: of x 8 x 4 x 2 the
// second dimension, 4, becomes the first of the transpose of its sums, 4 x 8, and the
// second of the result, 6 x 4 x 8, which is split four ways. x 8 x 1 x 2 x 4 = 64 B, the
// result 6 x 1 x 8 x 4 = 192.
// CHECK-LABEL: @through_shapes
// CHECK: arguments {{ *}}64 (64 B)
// CHECK-NEXT: results {{ *}}192 (192 B)
func.func @through_shapes(%x: tensor<8x4x2xf32>) -> (tensor<6x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [2] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<8x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<6x4x8xf32>
  return %2 : tensor<6x4x8xf32>
}

// A reshape: of 4 x 6 that become 24 the 4 is the major one, and takes 4 of the 8
// parts; 2 are left for nobody.
// CHECK-LABEL: @through_reshape
// CHECK: arguments {{ *}}24 (24 B)
func.func @through_reshape(%x: tensor<4x6xf32>) -> (tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", "data"}]>}) {
  %0 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}

// A closed dimension stays as it is said, and is gathered: x 16 x 4 = 64 B, y 8 x 4 = 32; an
// open one follows.
// CHECK-LABEL: @closed
// CHECK: arguments {{ *}}96 (96 B)
func.func @closed(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  %0 = stablehlo.add %x, %y : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// An open dimension that has an axis takes a further one: 16 / 8 x 4 = 8 B.
// CHECK-LABEL: @further
// CHECK: arguments {{ *}}16 (16 B)
func.func @further(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}]>}, %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "model"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.add %x, %y : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// z could be split as x, two ways, or as y, four ways: y's comes first. 16 x 4 / 4 = 16 B
// of z; x is 32, y 16.
// CHECK-LABEL: @priorities
// CHECK: arguments {{ *}}64 (64 B)
func.func @priorities(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}p1]>}, %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}p0]>}, %z: tensor<16xf32>) -> tensor<16xf32> {
  %0 = stablehlo.add %x, %z : tensor<16xf32>
  %1 = stablehlo.add %y, %z : tensor<16xf32>
  %2 = stablehlo.add %0, %1 : tensor<16xf32>
  return %2 : tensor<16xf32>
}

// An axis that is said to be replicated splits nothing.
// CHECK-LABEL: @replicated
// CHECK: arguments {{ *}}96 (96 B)
func.func @replicated(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}], replicated={"data"}>}, %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.add %x, %y : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// Weights of rows split over the devices that split the batch are gathered: w 8 x 4 x 4 /
// 2 = 64 B, x 6 x 8 x 4 / 2 = 96; w in full 128, the result 3 x 4 x 4 = 48.
// CHECK-LABEL: @gathered_weights
// CHECK: arguments {{ *}}160 (160 B)
// CHECK-NEXT: results {{ *}}48 (48 B)
// CHECK-NEXT: peak {{ *}}336 (336 B)
// CHECK: 1 values are communicated to be split otherwise, 0 sums
func.func @gathered_weights(%w: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %x: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<6x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// And the gradient of such weights, x^T g, is a part of a sum on each device, 8 x 4 x 4 =
// 128 B, of which each keeps its rows, 64. x 96, g 6 x 4 x 4 / 2 = 48.
// CHECK-LABEL: @scattered_gradient
// CHECK: arguments {{ *}}144 (144 B)
// CHECK-NEXT: results {{ *}}64 (64 B)
// CHECK-NEXT: peak {{ *}}336 (336 B)
// CHECK: 0 values are communicated to be split otherwise, 1 sums
func.func @scattered_gradient(%x: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %g: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<6x8xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// What a loop carries is split as its body needs it: the state starts from a splat and
// meets x, 16 / 2 x 4 = 32 B. x 32, n 4; state 32, sum in its place, counter 4, condition
// 1: 73.
// CHECK-LABEL: @loop
// CHECK: arguments {{ *}}36 (36 B)
// CHECK-NEXT: results {{ *}}32 (32 B)
// CHECK-NEXT: peak {{ *}}73 (73 B)
func.func @loop(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}, %n: tensor<i32>) -> tensor<16xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<16xf32>
  %0:2 = stablehlo.while(%i = %c, %y = %zero) : tensor<i32>, tensor<16xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.add %y, %x : tensor<16xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<16xf32>
  }
  return %0#1 : tensor<16xf32>
}

// Both sides of a branch make what the result is split as, 32 B.
// CHECK-LABEL: @branch
// CHECK: arguments {{ *}}65 (65 B)
// CHECK-NEXT: results {{ *}}32 (32 B)
func.func @branch(%p: tensor<i1>, %x: tensor<16xf32>, %y: tensor<16xf32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.exponential %x : tensor<16xf32>
    stablehlo.return %1 : tensor<16xf32>
  }, {
    %1 = stablehlo.tanh %y : tensor<16xf32>
    stablehlo.return %1 : tensor<16xf32>
  }) : (tensor<i1>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// Through a private function, which is inlined.
// CHECK-LABEL: @call
// CHECK: arguments {{ *}}32 (32 B)
// CHECK-NEXT: results {{ *}}32 (32 B)
func.func @call(%x: tensor<16xf32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  %0 = func.call @helper(%x) : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @helper(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = stablehlo.tanh %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// A named computation is its body between two constraints. x is split in two for it, 32
// B of 64, and its result comes out whole: 32, gathered 64. The tanh is in place.
// CHECK-LABEL: @named
// CHECK: arguments {{ *}}32 (32 B)
// CHECK-NEXT: results {{ *}}64 (64 B)
// CHECK-NEXT: peak {{ *}}128 (128 B)
// CHECK: 1 values are communicated
// CHECK-NOT: treated conservatively
// CHECK-LABEL: @partly_manual
func.func @named(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = sdy.named_computation<"foo">(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{}]>] (%a: tensor<16xf32>) {
    %1 = stablehlo.exponential %a : tensor<16xf32>
    sdy.return %1 : tensor<16xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  %2 = stablehlo.tanh %0 : tensor<16xf32>
  return %2 : tensor<16xf32>
}

// Rows are manual, two ways, and columns are left to be split, four ways: the body says
// 4 x 8 of 8 x 8, of which a device has 4 x 2 x 4 = 32 B.
// CHECK: arguments {{ *}}32 (32 B)
// CHECK-NEXT: results {{ *}}32 (32 B)
// CHECK-NEXT: peak {{ *}}64 (64 B)
func.func @partly_manual(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {"model"}]>] out_shardings=[<@mesh, [{"data"}, {"model"}]>] manual_axes={"data"} (%a: tensor<4x8xf32>) {
    %1 = stablehlo.exponential %a : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
