// RUN: es-opt --memory-report=json --graphs=backprop --loss=sum --optimizer=sgd --save-policy=all --live-ranges=%t.all.csv %s
// RUN: %python %S/Inputs/sum_roles.py %t.all.csv saved_activation | FileCheck %s --check-prefix=ALL
// RUN: es-opt --pass-pipeline="builtin.module(es-build-training-graph{loss=sum optimizer=sgd})" %s | FileCheck %s --check-prefix=IR
// RUN: es-opt --memory-report --graphs=backprop --loss=sum --optimizer=sgd %s | FileCheck %s --check-prefix=NOTE
// RUN: not es-opt --memory-report --save-policy=none %s 2>&1 | FileCheck %s --check-prefix=ERROR

// h = x W1 (8*8*4 = 256 B); a = sin h, whose gradient reads h; b = exp a, which
// reads b; y = b W2, whose gradient for W2 reads b. Everything that is read: h
// and b, 512. Kept by a minimum cut: h alone, 256, from which sin and exp give b
// again, once for W2's gradient and once for exp's.
// ALL: {{^}}512{{$}}
// IR-LABEL: func.func @f.training_step
// IR: %[[H:.*]] = "stablehlo.dot"(%arg0, %arg1)
// IR: "stablehlo.dot"
// IR: es.splat
// IR: %[[A1:.*]] = "stablehlo.sine"(%[[H]])
// IR: %[[B1:.*]] = "stablehlo.exponential"(%[[A1]])
// IR: es.vjp contraction "stablehlo.dot" saved(operand 0 = %[[B1]])
// IR: %[[A2:.*]] = "stablehlo.sine"(%[[H]])
// IR: %[[B2:.*]] = "stablehlo.exponential"(%[[A2]])
// IR: es.vjp elementwise "stablehlo.exponential" saved(result 0 = %[[B2]])
// IR: es.vjp elementwise "stablehlo.sine" saved(operand 0 = %[[H]])
// NOTE: note: save policy (--save-policy): all {{.*}}, mincut
// ERROR: error: --save-policy expects all, mincut or attention-fused, got 'none'
func.func @f(%x: tensor<8x8xf32>, %W1: tensor<8x8xf32> {es.param = #es.param<trainable "W1">},
             %W2: tensor<8x8xf32> {es.param = #es.param<trainable "W2">}) -> tensor<8x8xf32> {
  %h = "stablehlo.dot"(%x, %W1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = stablehlo.sine %h : tensor<8x8xf32>
  %b = stablehlo.exponential %a : tensor<8x8xf32>
  %y = "stablehlo.dot"(%b, %W2) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
