// Two losses and what belongs to none of them: of x w and of its square.
func.func @two(%x: tensor<4x3xf64>, %w: tensor<3x2xf64> {es.param = #es.param<trainable "w">}, %v: tensor<3x2xf64> {es.param = #es.param<trainable "v">}) -> (tensor<f64>, tensor<4x2xf64>, tensor<f64>) {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4x2xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<4x2xf64>) -> tensor<4x2xf64>
  %a = linalg.matmul ins(%x, %w : tensor<4x3xf64>, tensor<3x2xf64>) outs(%f : tensor<4x2xf64>) -> tensor<4x2xf64>
  %b = linalg.matmul ins(%x, %v : tensor<4x3xf64>, tensor<3x2xf64>) outs(%f : tensor<4x2xf64>) -> tensor<4x2xf64>
  %es = tensor.empty() : tensor<f64>
  %fs = linalg.fill ins(%zero : f64) outs(%es : tensor<f64>) -> tensor<f64>
  %first = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<4x2xf64>) outs(%fs : tensor<f64>) {
  ^bb0(%p: f64, %s: f64):
    %q = arith.mulf %p, %p : f64
    %t = arith.addf %s, %q : f64
    linalg.yield %t : f64
  } -> tensor<f64>
  %second = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%a, %b : tensor<4x2xf64>, tensor<4x2xf64>) outs(%fs : tensor<f64>) {
  ^bb0(%p: f64, %r: f64, %s: f64):
    %q = arith.mulf %p, %r : f64
    %t = arith.addf %s, %q : f64
    linalg.yield %t : f64
  } -> tensor<f64>
  return %first, %a, %second : tensor<f64>, tensor<4x2xf64>, tensor<f64>
}
