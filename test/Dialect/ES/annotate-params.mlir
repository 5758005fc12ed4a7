// RUN: es-opt --es-annotate-params="train=.* freeze=fc1 stored-as=fc1:i8" %s | FileCheck %s
// RUN: es-opt --es-annotate-params %s > %t.once
// RUN: es-opt --es-annotate-params %s | es-opt --es-annotate-params | diff %t.once -
// RUN: es-opt --es-annotate-params="freeze=.* train=blob" %s | FileCheck %s --check-prefix=LAST
// RUN: es-opt --es-annotate-params="train=blob freeze=.*" %s | FileCheck %s --check-prefix=FIRST
// RUN: es-opt --es-annotate-params="params=#2 inputs=#1-1" %s | FileCheck %s --check-prefix=POSITION

// The last rule wins, in the order of the command line.
// LAST-DAG: #es.param<trainable "blob">
// LAST-DAG: #es.param<frozen "fc1.weight">
// FIRST-DAG: #es.param<frozen "blob">

// POSITION: func.func @named(
// POSITION-SAME: %arg1: tensor<16x16xf32>, %arg2: tensor<300xf32> {es.param = #es.param<trainable "arg2">}

// CHECK: module attributes {es.parameters = [
// CHECK-SAME: {param = #es.param<trainable "blob">, type = tensor<16x16xf32>}
// CHECK-SAME: {param = #es.param<trainable "table">, symbol = @table, type = tensor<300xf32>}
// CHECK-SAME: {param = #es.param<trainable "other.blob">, type = tensor<16x16xf32>}
// CHECK-SAME: {param = #es.param<trainable "unread">, symbol = @unread, type = tensor<256xf32>}
ml_program.global private @table(dense_resource<blob> : tensor<300xf32>) : tensor<300xf32>
// A splat is no weight for its size alone, and a counter that is written is
// state.
ml_program.global private @splat(dense<1.0> : tensor<300xf32>) : tensor<300xf32>
ml_program.global private mutable @counter(dense_resource<blob> : tensor<300xf32>) : tensor<300xf32>
// Nothing loads it, and yet the model has it.
ml_program.global private @unread(dense_resource<blob> : tensor<256xf32>) : tensor<256xf32>

// CHECK: func.func @named(
// CHECK-SAME: %arg0: tensor<4x16xf32>,
// CHECK-SAME: %arg1: tensor<16x16xf32> {es.param = #es.param<frozen "fc1.weight", stored = i8>},
// CHECK-SAME: %arg2: tensor<300xf32>, %arg3: tensor<4x16xf32>)
func.func @named(%x: tensor<4x16xf32> loc("batch"), %w: tensor<16x16xf32> loc("fc1.weight"), %y: tensor<300xf32>, %init: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<300xf32>) {
  %0 = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
  // CHECK: %[[C:.*]] = arith.constant dense_resource<blob>
  // CHECK-NEXT: %[[P:.*]] = es.param %[[C]] <trainable "blob"> : tensor<16x16xf32>
  // CHECK: linalg.matmul ins(%{{.*}}, %[[P]] :
  %c = arith.constant dense_resource<blob> : tensor<16x16xf32>
  %1 = linalg.matmul ins(%0, %c : tensor<4x16xf32>, tensor<16x16xf32>) outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
  %t = ml_program.global_load @table : tensor<300xf32>
  %s = ml_program.global_load @splat : tensor<300xf32>
  %n = ml_program.global_load @counter : tensor<300xf32>
  %2 = arith.addf %t, %y : tensor<300xf32>
  %3 = arith.addf %s, %n : tensor<300xf32>
  ml_program.global_store @counter = %3 : tensor<300xf32>
  return %1, %2 : tensor<4x16xf32>, tensor<300xf32>
}

// Another constant of the same contents is another parameter.
// CHECK: func.func @other(
func.func @other(%x: tensor<4x16xf32>, %init: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // CHECK: es.param %{{.*}} <trainable "other.blob"> : tensor<16x16xf32>
  %c = arith.constant dense_resource<blob> : tensor<16x16xf32>
  %1 = linalg.matmul ins(%x, %c : tensor<4x16xf32>, tensor<16x16xf32>) outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

{-#
  dialect_resources: {
    builtin: { blob: "0x0400000000000000" }
  }
#-}
