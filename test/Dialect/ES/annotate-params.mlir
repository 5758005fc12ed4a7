// RUN: es-opt --es-annotate-params="train=.* freeze=fc1 stored-as=fc1:i8" %s 2>/dev/null | FileCheck %s
// RUN: es-opt --es-annotate-params --es-annotate-params --es-strip-annotations %s | FileCheck %s --check-prefix=STRIP
// RUN: not es-opt --es-annotate-params="params=(" %s 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: es-opt --es-annotate-params="freeze=nothing_like_it" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

// BAD: --params expects a regular expression, got '(': parentheses not balanced
// NONE: warning: --freeze='nothing_like_it' matches nothing
// STRIP-NOT: es.param

// CHECK: module attributes {es.parameters = [
// CHECK-SAME: {param = #es.param<trainable "cst{{[0-9]+}}">, type = tensor<16x16xf32>}
// CHECK-SAME: {param = #es.param<trainable "table">, symbol = @table, type = tensor<300xf32>}
ml_program.global private @table(dense<1.0> : tensor<300xf32>) : tensor<300xf32>

// CHECK: func.func @named(
// CHECK-SAME: %arg0: tensor<4x16xf32>,
// CHECK-SAME: %arg1: tensor<16x16xf32> {es.param = #es.param<frozen "fc1.weight", stored = i8>},
// CHECK-SAME: %arg2: tensor<300xf32>
// CHECK-NOT: es.param
// CHECK-SAME: )
func.func @named(%x: tensor<4x16xf32> loc("batch"), %w: tensor<16x16xf32> loc("fc1.weight"), %y: tensor<300xf32>, %init: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<300xf32>) {
  %0 = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
  // CHECK: %[[C:.*]] = arith.constant dense_resource<blob>
  // CHECK-NEXT: es.param %[[C]] <trainable "cst{{[0-9]+}}"> : tensor<16x16xf32>
  %c = arith.constant dense_resource<blob> : tensor<16x16xf32>
  %1 = linalg.matmul ins(%0, %c : tensor<4x16xf32>, tensor<16x16xf32>) outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
  %t = ml_program.global_load @table : tensor<300xf32>
  %2 = arith.addf %t, %y : tensor<300xf32>
  return %1, %2 : tensor<4x16xf32>, tensor<300xf32>
}

{-#
  dialect_resources: {
    builtin: { blob: "0x0400000000000000" }
  }
#-}
