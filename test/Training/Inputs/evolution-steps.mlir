// Models that return their loss, with all that a step has to deal with.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

// The sum of squares of two layers with biases; the first layer is frozen.
func.func @layers(%x: tensor<5x8xf32>,
                  %W1: tensor<8x16xf32> {es.param = #es.param<frozen "W1">},
                  %b1: tensor<16xf32> {es.param = #es.param<trainable "b1", sigma = 0.5 : f32>},
                  %W2: tensor<16x3xf32> {es.param = #es.param<trainable "W2">},
                  %b2: tensor<3xf32> {es.param = #es.param<trainable "b2", lr = 0.5 : f32>}) -> f32 {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<5x16xf32>
  %f1 = linalg.broadcast ins(%b1 : tensor<16xf32>) outs(%e1 : tensor<5x16xf32>) dimensions = [0]
  %z = linalg.matmul ins(%x, %W1 : tensor<5x8xf32>, tensor<8x16xf32>) outs(%f1 : tensor<5x16xf32>) -> tensor<5x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<5x16xf32>) outs(%e1 : tensor<5x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<5x16xf32>
  %e2 = tensor.empty() : tensor<5x3xf32>
  %f2 = linalg.broadcast ins(%b2 : tensor<3xf32>) outs(%e2 : tensor<5x3xf32>) dimensions = [0]
  %y = linalg.matmul ins(%r, %W2 : tensor<5x16xf32>, tensor<16x3xf32>) outs(%f2 : tensor<5x3xf32>) -> tensor<5x3xf32>
  %l = func.call @squares(%y) : (tensor<5x3xf32>) -> f32
  return %l : f32
}

// One matrix read twice, once from each side.
func.func @tied(%x: tensor<4x6xf32>,
                %E: tensor<10x6xf32> {es.param = #es.param<trainable "E">}) -> f32 {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<4x10xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x10xf32>) -> tensor<4x10xf32>
  %z = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %E : tensor<4x6xf32>, tensor<10x6xf32>) outs(%f1 : tensor<4x10xf32>) -> tensor<4x10xf32>
  %e2 = tensor.empty() : tensor<4x6xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.matmul ins(%z, %E : tensor<4x10xf32>, tensor<10x6xf32>) outs(%f2 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %e3 = tensor.empty() : tensor<5x3xf32>
  %s = tensor.extract_slice %y[0, 0] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  %p = tensor.pad %s low[0, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x3xf32> to tensor<5x3xf32>
  %l = func.call @squares(%p) : (tensor<5x3xf32>) -> f32
  return %l : f32
}

// A stack of layers, one slice at a time: one layer is perturbed at a time.
func.func @stack(%x: tensor<5x3xf32>,
                 %W: tensor<4x3x3xf32> {es.param = #es.param<trainable "W">}) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %y = scf.for %layer = %c0 to %c4 step %c1 iter_args(%h = %x) -> (tensor<5x3xf32>) {
    %w = tensor.extract_slice %W[%layer, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<4x3x3xf32> to tensor<3x3xf32>
    %e = tensor.empty() : tensor<5x3xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
    %z = linalg.matmul ins(%h, %w : tensor<5x3xf32>, tensor<3x3xf32>) outs(%f : tensor<5x3xf32>) -> tensor<5x3xf32>
    scf.yield %z : tensor<5x3xf32>
  }
  %l = func.call @squares(%y) : (tensor<5x3xf32>) -> f32
  return %l : f32
}

// Layers of more elements than a tile of a kernel has, which start inside tiles.
func.func @parts(%W: tensor<4x40x75xf32> {es.param = #es.param<trainable "W">}) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %y = scf.for %layer = %c0 to %c4 step %c1 iter_args(%sum = %zero) -> (f32) {
    %w = tensor.extract_slice %W[%layer, 0, 0] [1, 40, 75] [1, 1, 1] : tensor<4x40x75xf32> to tensor<40x75xf32>
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%sum : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
        ins(%w : tensor<40x75xf32>) outs(%f : tensor<f32>) {
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

// Rows of a table: only those that are read are perturbed, one of them twice.
func.func @rows(%ids: tensor<5xi32>,
                %T: tensor<100x3xf32> {es.param = #es.param<trainable "T">}) -> f32 {
  %e = tensor.empty() : tensor<5x3xf32>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<5xi32>) outs(%e : tensor<5x3xf32>) {
  ^bb0(%id: i32, %out: f32):
    %r = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %T[%r, %j] : tensor<100x3xf32>
    linalg.yield %v : f32
  } -> tensor<5x3xf32>
  %l = func.call @squares(%y) : (tensor<5x3xf32>) -> f32
  return %l : f32
}

// Narrow floats, widened by the model.
func.func @narrow(%W: tensor<5x3xbf16> {es.param = #es.param<trainable "W">},
                  %V: tensor<5x3xf16> {es.param = #es.param<trainable "V">}) -> f32 {
  %e = tensor.empty() : tensor<5x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%W, %V : tensor<5x3xbf16>, tensor<5x3xf16>) outs(%e : tensor<5x3xf32>) {
  ^bb0(%w: bf16, %v: f16, %out: f32):
    %a = arith.extf %w : bf16 to f32
    %b = arith.extf %v : f16 to f32
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<5x3xf32>
  %l = func.call @squares(%y) : (tensor<5x3xf32>) -> f32
  return %l : f32
}

// Every member has the same fitness.
func.func @flat(%W: tensor<5x3xf32> {es.param = #es.param<trainable "W">}) -> f32 {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%W : tensor<5x3xf32>) outs(%e : tensor<5x3xf32>) {
  ^bb0(%w: f32, %out: f32):
    %n = arith.mulf %w, %zero : f32
    %a = math.absf %n : f32
    linalg.yield %a : f32
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
