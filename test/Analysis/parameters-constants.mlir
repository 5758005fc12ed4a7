// Constants and globals.
// RUN: es-opt --allow-unregistered-dialect --es-print-parameters %s -o /dev/null | FileCheck %s
// RUN: es-opt --allow-unregistered-dialect --symbol-dce --es-print-parameters %s -o /dev/null | FileCheck %s --check-prefix=DCE

module attributes {es.parameters = [
    {param = #es.param<frozen "stated", id = 9 : i32>, type = tensor<2xf32>, symbol = @stated},
    {param = #es.param<frozen "folded away">, type = tensor<2xf32>}]} {
ml_program.global private @stated(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @small(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @fc.weight(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private mutable @step(dense<0> : tensor<i64>) : tensor<i64>
memref.global "private" constant @table : memref<300xf32> = dense_resource<blob>
memref.global "private" @scratch : memref<300xf32> = uninitialized
memref.global "private" constant @filler : memref<300xf32> = dense<1.0>
memref.global "private" constant @unread : memref<300xf32> = dense_resource<blob>
util.global private @packed = #stream.parameter.named<"model"::"blk.0.weight"> : tensor<2xf32>

// CHECK-LABEL: @sizes:
// CHECK-NEXT: frozen_parameter x
// A resource is named, never read; one that was left out is numbered.
// CHECK-NEXT: trainable_parameter blob : tensor<16x16xf32>
// CHECK-NEXT: trainable_parameter cst2 : tensor<256xf32>
// 255 elements are too few, unless they are a weight.
// CHECK-NEXT: constant blob_1 : tensor<255xf32> from default
// CHECK-NEXT: trainable_parameter my_matrix : tensor<2x2xf32> id {{[0-9]+}} from use
// Splats are nothing at all. What the module states and nothing reads is last.
// CHECK-NEXT: frozen_parameter folded away : tensor<2xf32> id {{[0-9]+}} from es.param, never read
// CHECK-NEXT: trainable_parameter unread : memref<300xf32> id {{[0-9]+}} from use, never read
func.func @sizes(%x: tensor<4x2xf32> {es.param = #es.param<frozen "x">}) -> tensor<4x2xf32> {
  %0 = arith.constant dense_resource<blob> : tensor<16x16xf32>
  %1 = arith.constant dense_resource<__elided__> : tensor<256xf32>
  %2 = arith.constant dense_resource<blob> : tensor<255xf32>
  %3 = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> loc("my_matrix")
  %4 = arith.constant dense<1.0> : tensor<2x2xf32>
  "test.use"(%0, %1, %2) : (tensor<16x16xf32>, tensor<256xf32>, tensor<255xf32>) -> ()
  %5 = "stablehlo.dot"(%x, %3) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %6 = "stablehlo.dot"(%5, %4) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %6 : tensor<4x2xf32>
}

// CHECK-LABEL: @globals:
// CHECK-NEXT: frozen_parameter stated : tensor<2xf32> id 9 from es.param
// CHECK-NEXT: constant small
// CHECK-NEXT: trainable_parameter fc.weight {{.*}} from name
// CHECK-NEXT: state step : tensor<i64>
// CHECK-NEXT: trainable_parameter table : memref<300xf32> id {{[0-9]+}} from use
// CHECK-NEXT: state scratch
// CHECK-NEXT: constant filler
// CHECK-NEXT: trainable_parameter blk.0.weight : tensor<2xf32> id {{[0-9]+}} from metadata
func.func @globals() {
  %0 = ml_program.global_load @stated : tensor<2xf32>
  %1 = ml_program.global_load @small : tensor<2xf32>
  %2 = ml_program.global_load @fc.weight : tensor<2xf32>
  // Loaded twice, listed once.
  %3 = ml_program.global_load @fc.weight : tensor<2xf32>
  %4 = ml_program.global_load @step : tensor<i64>
  ml_program.global_store @step = %4 : tensor<i64>
  %5 = memref.get_global @table : memref<300xf32>
  %6 = memref.get_global @scratch : memref<300xf32>
  %7 = memref.get_global @filler : memref<300xf32>
  %8 = util.global.load @packed : tensor<2xf32>
  "test.use"(%0, %1, %2, %3, %5, %6, %7, %8) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, memref<300xf32>, memref<300xf32>, memref<300xf32>, tensor<2xf32>) -> ()
  return
}

// Equal constants were merged: two parameters in one constant. And an inlined
// callee brought its constant along twice: one parameter in two constants.
// CHECK-LABEL: @merged_and_cloned:
// CHECK-NEXT: frozen_parameter a : tensor<2xf32>
// CHECK-NEXT: frozen_parameter tied : tensor<2xf32>
// CHECK-NEXT: trainable_parameter b : tensor<2xf32>
// CHECK-NEXT: frozen_parameter folded away
// CHECK-NEXT: trainable_parameter unread
func.func @merged_and_cloned() {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %a = es.param %0 <frozen "a"> : tensor<2xf32>
  %b = es.param %0 <trainable "b"> : tensor<2xf32>
  %1 = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %t1 = es.param %1 <frozen "tied"> : tensor<2xf32>
  %2 = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %t2 = es.param %2 <frozen "tied"> : tensor<2xf32>
  "test.use"(%a, %b, %t1, %t2) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  return
}

// An inventory entry outlives its global.
// DCE-LABEL: @merged_and_cloned:
// DCE-NOT: unread : memref
// DCE: frozen_parameter folded away : tensor<2xf32> id {{[0-9]+}} from es.param, never read
}

{-#
  dialect_resources: {
    builtin: { blob: "0x0400000000000000" }
  }
#-}
