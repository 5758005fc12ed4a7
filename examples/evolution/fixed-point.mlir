// The classifier of classifier.mlir with weights of 8 bits: fixed point, an integer is
// worth 1/32. A point has a third coordinate, 1, so that the first layer has offsets.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#none = affine_map<(i) -> ()>
#each = affine_map<(i) -> (i)>

// The loss: softmax cross entropy of 64 points.
func.func @fixed(
    %W1: tensor<3x16xi8> {es.param = #es.param<trainable "W1", stored = !quant.uniform<i8:f32, 0.03125>>},
    %W2: tensor<16x2xi8> {es.param = #es.param<trainable "W2", stored = !quant.uniform<i8:f32, 0.03125>>},
    %x: tensor<64x3xf32>, %labels: tensor<64xi32>) -> f32 {
  %e = tensor.empty() : tensor<64x2xf32>
  %y = func.call @logits(%W1, %W2, %x)
      : (tensor<3x16xi8>, tensor<16x2xi8>, tensor<64x3xf32>) -> tensor<64x2xf32>
  // log(exp(y0) + exp(y1)) - y of the label, of two classes log(1 + exp(other - own)).
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %count = arith.constant 64.0 : f32
  %s0 = tensor.empty() : tensor<f32>
  %s1 = linalg.fill ins(%zero : f32) outs(%s0 : tensor<f32>) -> tensor<f32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = linalg.generic {indexing_maps = [#each, #none], iterator_types = ["reduction"]}
      ins(%labels : tensor<64xi32>) outs(%s1 : tensor<f32>) {
  ^bb0(%label: i32, %acc: f32):
    %i = linalg.index 0 : index
    %own = arith.index_cast %label : i32 to index
    %other = arith.subi %c1, %own : index
    %a = tensor.extract %y[%i, %own] : tensor<64x2xf32>
    %b = tensor.extract %y[%i, %other] : tensor<64x2xf32>
    %d = arith.subf %b, %a : f32
    %p = arith.maximumf %d, %zero : f32
    %n = math.absf %d : f32
    %m = arith.negf %n : f32
    %x1 = math.exp %m : f32
    %x2 = arith.addf %x1, %one : f32
    %l = math.log %x2 : f32
    %t = arith.addf %p, %l : f32
    %u = arith.addf %acc, %t : f32
    linalg.yield %u : f32
  } -> tensor<f32>
  %total = tensor.extract %sum[] : tensor<f32>
  %mean = arith.divf %total, %count : f32
  return %mean : f32
}

func.func private @logits(%W1: tensor<3x16xi8>, %W2: tensor<16x2xi8>, %x: tensor<64x3xf32>) -> tensor<64x2xf32> {
  %zero = arith.constant 0.0 : f32
  %quantum = arith.constant 0.03125 : f32
  %ew1 = tensor.empty() : tensor<3x16xf32>
  %w1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%W1 : tensor<3x16xi8>) outs(%ew1 : tensor<3x16xf32>) {
  ^bb0(%in: i8, %out: f32):
    %f = arith.sitofp %in : i8 to f32
    %w = arith.mulf %f, %quantum : f32
    linalg.yield %w : f32
  } -> tensor<3x16xf32>
  %e1 = tensor.empty() : tensor<64x16xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x16xf32>) -> tensor<64x16xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<64x3xf32>, tensor<3x16xf32>) outs(%i1 : tensor<64x16xf32>) -> tensor<64x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<64x16xf32>) outs(%e1 : tensor<64x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<64x16xf32>
  %ew2 = tensor.empty() : tensor<16x2xf32>
  %w2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%W2 : tensor<16x2xi8>) outs(%ew2 : tensor<16x2xf32>) {
  ^bb0(%in: i8, %out: f32):
    %f = arith.sitofp %in : i8 to f32
    %w = arith.mulf %f, %quantum : f32
    linalg.yield %w : f32
  } -> tensor<16x2xf32>
  %e2 = tensor.empty() : tensor<64x2xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x2xf32>) -> tensor<64x2xf32>
  %y = linalg.matmul ins(%r, %w2 : tensor<64x16xf32>, tensor<16x2xf32>) outs(%i2 : tensor<64x2xf32>) -> tensor<64x2xf32>
  return %y : tensor<64x2xf32>
}

// Points of a generation: numbers from a counter, as good as needed here.
func.func @fixed.batch(%seed: i64, %step: i64) -> (tensor<64x3xf32>, tensor<64xi32>) {
  %e = tensor.empty() : tensor<64x3xf32>
  %last = arith.constant 2 : index
  %c64 = arith.constant 64 : i64
  %c2 = arith.constant 2 : i64
  %spread = arith.constant 0x9E3779B97F4A7C15 : i64
  %mix = arith.constant 0xBF58476D1CE4E5B9 : i64
  %shift = arith.constant 31 : i64
  %top = arith.constant 40 : i64
  %scale = arith.constant 1.1920929e-07 : f32 // 2^-23
  %one = arith.constant 1.0 : f32
  %x = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<64x3xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i64 = arith.index_cast %i : index to i64
    %j64 = arith.index_cast %j : index to i64
    %s = arith.muli %step, %c64 : i64
    %p = arith.addi %s, %i64 : i64
    %q = arith.muli %p, %c2 : i64
    %r = arith.addi %q, %j64 : i64
    %k = arith.addi %r, %seed : i64
    %a = arith.muli %k, %spread : i64
    %b = arith.shrui %a, %shift : i64
    %c = arith.xori %a, %b : i64
    %d = arith.muli %c, %mix : i64
    %f = arith.shrui %d, %top : i64
    %g = arith.uitofp %f : i64 to f32
    %h = arith.mulf %g, %scale : f32
    %u = arith.subf %h, %one : f32
    %isLast = arith.cmpi eq, %j, %last : index
    %v = arith.select %isLast, %one, %u : f32
    linalg.yield %v : f32
  } -> tensor<64x3xf32>
  %labels = func.call @labels(%x) : (tensor<64x3xf32>) -> tensor<64xi32>
  return %x, %labels : tensor<64x3xf32>, tensor<64xi32>
}

func.func private @labels(%x: tensor<64x3xf32>) -> tensor<64xi32> {
  %e = tensor.empty() : tensor<64xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // Half of the square is inside: pi r^2 = 2.
  %r2 = arith.constant 0.63662 : f32
  %labels = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel"]} outs(%e : tensor<64xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %a = tensor.extract %x[%i, %c0] : tensor<64x3xf32>
    %b = tensor.extract %x[%i, %c1] : tensor<64x3xf32>
    %a2 = arith.mulf %a, %a : f32
    %b2 = arith.mulf %b, %b : f32
    %s = arith.addf %a2, %b2 : f32
    %outside = arith.cmpf ogt, %s, %r2 : f32
    %label = arith.extui %outside : i1 to i32
    linalg.yield %label : i32
  } -> tensor<64xi32>
  return %labels : tensor<64xi32>
}

// The share of points that are classified right, of 16 batches that training never
// saw: those of generations before the first.
func.func @fixed.score(%W1: tensor<3x16xi8>, %W2: tensor<16x2xi8>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %total = arith.constant 1024.0 : f32
  %seed = arith.constant 0 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %right = scf.for %batch = %c0 to %c16 step %c1 iter_args(%before = %zero) -> (f32) {
    %b64 = arith.index_cast %batch : index to i64
    %step = arith.subi %seed, %b64 : i64
    %x, %labels = func.call @fixed.batch(%seed, %step) : (i64, i64) -> (tensor<64x3xf32>, tensor<64xi32>)
    %y = func.call @logits(%W1, %W2, %x)
        : (tensor<3x16xi8>, tensor<16x2xi8>, tensor<64x3xf32>) -> tensor<64x2xf32>
    %s0 = tensor.empty() : tensor<f32>
    %s1 = linalg.fill ins(%before : f32) outs(%s0 : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [#each, #none], iterator_types = ["reduction"]}
        ins(%labels : tensor<64xi32>) outs(%s1 : tensor<f32>) {
    ^bb0(%label: i32, %acc: f32):
      %i = linalg.index 0 : index
      %own = arith.index_cast %label : i32 to index
      %other = arith.subi %c1, %own : index
      %a = tensor.extract %y[%i, %own] : tensor<64x2xf32>
      %b = tensor.extract %y[%i, %other] : tensor<64x2xf32>
      %is = arith.cmpf ogt, %a, %b : f32
      %hit = arith.select %is, %one, %zero : f32
      %u = arith.addf %acc, %hit : f32
      linalg.yield %u : f32
    } -> tensor<f32>
    %n = tensor.extract %sum[] : tensor<f32>
    scf.yield %n : f32
  }
  %share = arith.divf %right, %total : f32
  return %share : f32
}
