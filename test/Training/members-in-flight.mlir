// RUN: es-opt --es-build-es-step='population=5 es-sampling=independent es-in-flight=2 loss=sum' %s | FileCheck %s
// RUN: es-opt --memory-report=json --graphs=es --entry=@frozen_first --population=4 --loss=sum %s | FileCheck %s --check-prefix=ONE
// RUN: es-opt --memory-report=json --graphs=es --entry=@frozen_first --population=4 --loss=sum --es-in-flight=2 %s | FileCheck %s --check-prefix=TWO
// RUN: es-opt --memory-report=json --graphs=es --entry=@frozen_first --population=4 --loss=sum --es-in-flight=3 %s | FileCheck %s --check-prefix=THREE

// What is in front of the first trained parameter is computed once for a group, the
// rest for each member of it: two at a time, and the fifth behind the loop.
// CHECK-LABEL: @frozen_first.es_step
// CHECK: scf.for %[[M:[^ ]*]] = %{{.*}} iter_args(%[[F:.*]] =
// CHECK: %[[M1:.*]] = arith.addi %[[M]]
// CHECK: %[[H:.*]] = "stablehlo.dot_general"
// CHECK: %[[P0:.*]] = es.perturb {{.*}} member(%[[M]])
// CHECK-NEXT: %[[P1:.*]] = es.perturb {{.*}} member(%[[M1]])
// CHECK-NEXT: %{{.*}} = "stablehlo.dot_general"(%[[H]], %[[P0]])
// CHECK-NEXT: %{{.*}} = "stablehlo.dot_general"(%[[H]], %[[P1]])
// CHECK-NEXT: es.release %[[P0]], %[[P1]]
// CHECK: %[[F0:.*]] = tensor.insert %{{.*}} into %[[F]][%[[M]]]
// CHECK: %[[F1:.*]] = tensor.insert %{{.*}} into %[[F0]][%[[M1]]]
// CHECK: scf.yield %[[F1]]
// CHECK: "stablehlo.dot_general"
// CHECK: es.perturb {{.*}} member(%[[LAST:[^)]*]])
// CHECK: "stablehlo.dot_general"
// CHECK: %[[ALL:.*]] = tensor.insert %{{.*}}[%[[LAST]]]
// CHECK: es.shape_fitness {{.*}} %[[ALL]]

// x 128, U 512, W 128 and fitness 16 are there: 784. h is 4x16 floats, 256, once; of W'
// (128) and y (32) there is one a member: 784 + 256 + 160 K.
// ONE: "peak_bytes": 1200
// TWO: "peak_bytes": 1360
// THREE: "peak_bytes": 1520
func.func @frozen_first(%x: tensor<4x8xf32>, %U: tensor<8x16xf32> {es.param = #es.param<frozen "U">},
                        %W: tensor<16x2xf32> {es.param = #es.param<trainable "W">}) -> tensor<4x2xf32> {
  %h = stablehlo.dot_general %x, %U, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %y = stablehlo.dot_general %h, %W, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// A loop of the model is one loop for the group; its counter and what no member changes
// are there once.
// CHECK-LABEL: @layers.es_step
// CHECK: scf.for
// CHECK: %[[R:.*]]:2 = scf.for %[[I:[^ ]*]] = %{{.*}} iter_args(%[[A:.*]] = %arg0, %[[B:.*]] = %arg0)
// CHECK: tensor.extract_slice %arg1[%[[I]], 0]
// CHECK-NOT: tensor.extract_slice
// CHECK: es.perturb
// CHECK-NEXT: es.perturb
// CHECK: arith.addf %[[A]]
// CHECK-NEXT: arith.addf %[[B]]
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
func.func @layers(%x: tensor<4xf32>, %W: tensor<3x4xf32> {es.param = #es.param<trainable "W">}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
    %w = tensor.extract_slice %W[%i, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
    %s = arith.addf %h, %w : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// How often this loop runs depends on the member: one member after the other.
// CHECK-LABEL: @no_common_count.es_step
// CHECK: scf.for
// CHECK: es.perturb
// CHECK-NEXT: es.perturb
// CHECK: scf.for {{.*}} iter_args(%{{[^,]*}}) -> (tensor<4xf32>)
// CHECK: scf.for {{.*}} iter_args(%{{[^,]*}}) -> (tensor<4xf32>)
func.func @no_common_count(%x: tensor<4xf32>, %n: tensor<i32> {es.param = #es.param<trainable "n">}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tensor.extract %n[] : tensor<i32>
  %end = arith.index_cast %count : i32 to index
  %y = scf.for %i = %c0 to %end step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
    %s = arith.addf %h, %x : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
