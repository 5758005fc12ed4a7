// RUN: es-opt --memory-report=json --graphs=backprop --loss=sum --optimizer=sgd --save-policy=all --live-ranges=%t.result.csv %s -o /dev/null
// RUN: es-opt --memory-report=json --graphs=backprop --loss=sum --optimizer=sgd --save-policy=all --relu=mask --live-ranges=%t.mask.csv %s -o /dev/null
// RUN: %python %S/Inputs/sum_roles.py %t.result.csv saved_activation | FileCheck %s --check-prefix=RESULT
// RUN: %python %S/Inputs/sum_roles.py %t.mask.csv saved_activation | FileCheck %s --check-prefix=MASK
// RUN: es-opt --memory-report --graphs=backprop --loss=sum --relu=mask %s | FileCheck %s --check-prefix=TEXT
// RUN: es-opt --pass-pipeline="builtin.module(es-build-training-graph{loss=sum optimizer=sgd save-policy=all relu=mask})" %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=IR
// RUN: es-opt %t.mlir -o /dev/null
// RUN: not es-opt --memory-report --relu=both %s 2>&1 | FileCheck %s --check-prefix=ERROR

// h = x W is 8*8*4 = 256 B, r = relu h and y = r + c as well; nothing but its own
// gradient reads r. It reads either r, 256, or a mask of 64 elements of i1, a byte
// each: 64.
// RESULT: {{^}}256{{$}}
// MASK: {{^}}64{{$}}
// TEXT: assumed: {{.*}}relu keeps a mask (--relu), softmax its result, dropout a mask
// ERROR: error: --relu expects result or mask, got 'both'
// IR-LABEL: func.func @f.training_step
// IR: %[[R:.*]]:2 = es.composite relu(%{{.*}}) : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xi1>)
// IR: es.vjp elementwise "es.composite" saved(result 1 = %[[R]]#1) cotangents(0 = %{{.*}}) wrt [0]
func.func @f(%x: tensor<8x8xf32>, %c: tensor<8x8xf32>, %W: tensor<8x8xf32> {es.param = #es.param<trainable "W">}) -> tensor<8x8xf32> {
  %h = "stablehlo.dot"(%x, %W) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %r = stablehlo.maximum %h, %zero : tensor<8x8xf32>
  %y = stablehlo.add %r, %c : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
