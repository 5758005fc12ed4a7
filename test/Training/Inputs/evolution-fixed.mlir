#id = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>

// Fixed point; integers that have no scale count as they are.
func.func @fixed(%W: tensor<5x3xi8> {es.param = #es.param<trainable "W", stored = !quant.uniform<i8:f32, 0.0078125>, sigma = 0.05 : f32, lr = 0.05 : f32>},
                 %V: tensor<5x3xi16> {es.param = #es.param<trainable "V", sigma = 5.0 : f32, lr = 5.0 : f32>}) -> f32 {
  %e = tensor.empty() : tensor<5x3xf32>
  %q = arith.constant 0.0078125 : f32
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%W, %V : tensor<5x3xi8>, tensor<5x3xi16>) outs(%e : tensor<5x3xf32>) {
  ^bb0(%w: i8, %v: i16, %out: f32):
    %a = arith.sitofp %w : i8 to f32
    %b = arith.sitofp %v : i16 to f32
    %s = arith.addf %a, %b : f32
    %t = arith.mulf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<5x3xf32>
  %l = func.call @squares(%y) : (tensor<5x3xf32>) -> f32
  return %l : f32
}

func.func private @squares(%y: tensor<5x3xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%y : tensor<5x3xf32>) outs(%f : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %q = arith.mulf %in, %in : f32
    %m = arith.addf %q, %out : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  %l = tensor.extract %s[] : tensor<f32>
  return %l : f32
}
