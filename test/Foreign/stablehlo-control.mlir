// RUN: es-opt %s | FileCheck %s
// RUN: es-opt %s | es-opt | FileCheck %s

// CHECK-LABEL: func @loop
func.func @loop(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[R:.*]]:2 = "stablehlo.while"(%arg0, %arg1) ({
  // CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<4xf32>):
  // CHECK-NEXT:   %[[C:.*]] = "stablehlo.compare"(%[[I]], %[[I]])
  // CHECK-NEXT:   "stablehlo.return"(%[[C]]) : (tensor<i1>) -> ()
  // CHECK-NEXT: }, {
  // CHECK-NEXT: ^bb0(%[[J:.*]]: tensor<i32>, %[[Y:.*]]: tensor<4xf32>):
  // CHECK-NEXT:   %[[Z:.*]] = "stablehlo.add"(%[[Y]], %[[Y]])
  // CHECK-NEXT:   "stablehlo.return"(%[[J]], %[[Z]]) : (tensor<i32>, tensor<4xf32>) -> ()
  // CHECK-NEXT: }) {a.b = 1 : i64} : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  %0:2 = stablehlo.while(%i = %n, %y = %x) : tensor<i32>, tensor<4xf32> attributes {a.b = 1 : i64}
  cond {
    %1 = stablehlo.compare  LT, %i, %i,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %y, %y : tensor<4xf32>
    stablehlo.return %i, %1 : tensor<i32>, tensor<4xf32>
  }
  // CHECK: return %[[R]]#1
  return %0#1 : tensor<4xf32>
}

// CHECK-LABEL: func @applied
func.func @applied(%x: tensor<2x3xf32>, %z: tensor<f32>) -> tensor<2xf32> {
  // CHECK: "stablehlo.reduce"(%arg0, %arg1) ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
  // CHECK-NEXT:   %[[S:.*]] = "stablehlo.maximum"(%[[A]], %[[B]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT:   "stablehlo.return"(%[[S]]) : (tensor<f32>) -> ()
  // CHECK-NEXT: }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Printed as pairs; in the op all inputs stand before all initial values.
// CHECK-LABEL: func @reducer
func.func @reducer(%x: tensor<2x3xf32>, %k: tensor<2x3xi32>, %z: tensor<f32>, %c: tensor<i32>) {
  // CHECK: "stablehlo.reduce"(%arg0, %arg1, %arg2, %arg3) ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[I:.*]]: tensor<i32>, %[[B:.*]]: tensor<f32>, %[[J:.*]]: tensor<i32>):
  // CHECK:   "stablehlo.return"(%[[B]], %[[I]])
  // CHECK-NEXT: }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  %0:2 = stablehlo.reduce(%x init: %z), (%k init: %c) across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>)  {
    stablehlo.return %b, %i : tensor<f32>, tensor<i32>
  }
  return
}

// Forms are mixed: regions of a generic op hold printed ones.
// CHECK-LABEL: func @branch
func.func @branch(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: "stablehlo.if"(%arg0) ({
  // CHECK-NEXT:   %{{.*}} = "stablehlo.negate"(%arg1)
  // CHECK: }, {
  // CHECK-NEXT:   "stablehlo.return"(%arg1)
  // CHECK-NEXT: }) : (tensor<i1>) -> tensor<4xf32>
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  // CHECK: "stablehlo.add"(%{{.*}}, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.add"(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.sort"(%arg1)
  %3 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
