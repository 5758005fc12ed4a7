// Two layers and a mean square error: the model of Inputs/numpy_es.py.

#id = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>

func.func @mlp(%W1: tensor<24x20xf32> {es.param = #es.param<trainable "W1">},
               %b1: tensor<20xf32> {es.param = #es.param<trainable "b1">},
               %W2: tensor<20x3xf32> {es.param = #es.param<trainable "W2">},
               %x: tensor<11x24xf32>, %target: tensor<11x3xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<11x20xf32>
  %f1 = linalg.broadcast ins(%b1 : tensor<20xf32>) outs(%e1 : tensor<11x20xf32>) dimensions = [0]
  %z = linalg.matmul ins(%x, %W1 : tensor<11x24xf32>, tensor<24x20xf32>) outs(%f1 : tensor<11x20xf32>) -> tensor<11x20xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<11x20xf32>) outs(%e1 : tensor<11x20xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<11x20xf32>
  %e2 = tensor.empty() : tensor<11x3xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<11x3xf32>) -> tensor<11x3xf32>
  %y = linalg.matmul ins(%r, %W2 : tensor<11x20xf32>, tensor<20x3xf32>) outs(%f2 : tensor<11x3xf32>) -> tensor<11x3xf32>
  %e3 = tensor.empty() : tensor<f32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#id, #id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%y, %target : tensor<11x3xf32>, tensor<11x3xf32>) outs(%f3 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %d = arith.subf %a, %b : f32
    %q = arith.mulf %d, %d : f32
    %t = arith.addf %acc, %q : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %l = tensor.extract %s[] : tensor<f32>
  %count = arith.constant 33.0 : f32
  %mean = arith.divf %l, %count : f32
  return %mean : f32
}
