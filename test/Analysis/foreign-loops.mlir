// RUN: es-opt --memory-report=json --entry=@invariant %s | FileCheck %s --check-prefix=INVARIANT
// RUN: es-opt --memory-report=json --entry=@carried %s | FileCheck %s --check-prefix=CARRIED
// RUN: es-opt --memory-report=json --entry=@invariant_splat %s | FileCheck %s --check-prefix=SPLAT

// w, 1024, is carried unchanged: it is the caller's memory all the way and is
// not copied. x 64 and the limit 4 are the caller's too. The loop has a copy of x,
// 64, and a counter that counts in place, 4; in the body the product is 64:
// 1024 + 64 + 4 + 64 + 4 + 64.
// INVARIANT: "peak_bytes": 1224
func.func @invariant(%w: tensor<16x16xf32>, %x: tensor<1x16xf32>, %n: tensor<i32>) -> tensor<1x16xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %r:3 = "stablehlo.while"(%w, %x, %zero) ({
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<1x16xf32>, %i: tensor<i32>):
    %c = "stablehlo.compare"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<1x16xf32>, %i: tensor<i32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %d = "stablehlo.dot"(%b, %a) : (tensor<1x16xf32>, tensor<16x16xf32>) -> tensor<1x16xf32>
    "stablehlo.return"(%a, %d, %j) : (tensor<16x16xf32>, tensor<1x16xf32>, tensor<i32>) -> ()
  }) : (tensor<16x16xf32>, tensor<1x16xf32>, tensor<i32>) -> (tensor<16x16xf32>, tensor<1x16xf32>, tensor<i32>)
  return %r#1 : tensor<1x16xf32>
}

// Written in the loop, w is copied in front of it, and x is carried unchanged:
// 1024 + 64 + 4, the copy 1024, the counter 4, which is an index after the next
// count, 4, is known.
// CARRIED: "peak_bytes": 2124
func.func @carried(%w: tensor<16x16xf32>, %x: tensor<1x16xf32>, %n: tensor<i32>) -> tensor<16x16xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %r:3 = "stablehlo.while"(%w, %x, %zero) ({
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<1x16xf32>, %i: tensor<i32>):
    %c = "stablehlo.compare"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<1x16xf32>, %i: tensor<i32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %d = "stablehlo.dynamic_update_slice"(%a, %b, %i, %i) : (tensor<16x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<16x16xf32>
    "stablehlo.return"(%d, %b, %j) : (tensor<16x16xf32>, tensor<1x16xf32>, tensor<i32>) -> ()
  }) : (tensor<16x16xf32>, tensor<1x16xf32>, tensor<i32>) -> (tensor<16x16xf32>, tensor<1x16xf32>, tensor<i32>)
  return %r#0 : tensor<16x16xf32>
}

// A splat that is carried unchanged is written once, in front of the loop.
// SPLAT: "peak_bytes": 1224
func.func @invariant_splat(%x: tensor<1x16xf32>, %n: tensor<i32>) -> tensor<1x16xf32> {
  %w = "stablehlo.constant"() <{value = dense<2.0> : tensor<16x16xf32>}> : () -> tensor<16x16xf32>
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %r:3 = "stablehlo.while"(%w, %x, %zero) ({
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<1x16xf32>, %i: tensor<i32>):
    %c = "stablehlo.compare"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<1x16xf32>, %i: tensor<i32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %d = "stablehlo.dot"(%b, %a) : (tensor<1x16xf32>, tensor<16x16xf32>) -> tensor<1x16xf32>
    "stablehlo.return"(%a, %d, %j) : (tensor<16x16xf32>, tensor<1x16xf32>, tensor<i32>) -> ()
  }) : (tensor<16x16xf32>, tensor<1x16xf32>, tensor<i32>) -> (tensor<16x16xf32>, tensor<1x16xf32>, tensor<i32>)
  return %r#1 : tensor<1x16xf32>
}
