// The loss is what a loop gives that is made again with a stack as one more
// result: the step returns the loss of the new loop.
// RUN: es-opt --es-build-training-graph="eager optimizer=sgd" %s | FileCheck %s

#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

// CHECK-LABEL: func.func @squares.training_step
// CHECK: %[[FORWARD:.*]]:2 = scf.for {{.*}} -> (f32, tensor<4x3xf32>)
// CHECK: scf.for
// CHECK: return %[[FORWARD]]#0, %{{.*}} : f32, tensor<4x3xf32>
func.func @squares(%W: tensor<4x3xf32> {es.param = #es.param<trainable "W">}) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %y = scf.for %layer = %c0 to %c4 step %c1 iter_args(%sum = %zero) -> (f32) {
    %w = tensor.extract_slice %W[%layer, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%sum : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
        ins(%w : tensor<3xf32>) outs(%f : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %q = arith.mulf %in, %in : f32
      %m = arith.addf %q, %out : f32
      linalg.yield %m : f32
    } -> tensor<f32>
    %v = tensor.extract %s[] : tensor<f32>
    scf.yield %v : f32
  }
  return %y : f32
}
