// Small models: predicted == counted.
// RUN: test-es-run %s | FileCheck %s

#m2 = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#col = affine_map<(i, j) -> (i)>

// Softmax over the last dimension, then the weighted sum of values.
// CHECK: @attention: {{.*}} equal, values equal
func.func @attention(%q: tensor<6x4xf32>, %kt: tensor<4x6xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {test.run} {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e30 : f32
  %scale = arith.constant dense<0.5> : tensor<6x6xf32>
  %es = tensor.empty() : tensor<6x6xf32>
  %er = tensor.empty() : tensor<6xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<6x6xf32>) -> tensor<6x6xf32>
  %s0 = linalg.matmul ins(%q, %kt : tensor<6x4xf32>, tensor<4x6xf32>) outs(%fs : tensor<6x6xf32>) -> tensor<6x6xf32>
  %s = arith.mulf %s0, %scale : tensor<6x6xf32>
  %fm = linalg.fill ins(%low : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %max = linalg.generic {indexing_maps = [#m2, #col], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<6x6xf32>) outs(%fm : tensor<6xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %r = arith.maximumf %in, %acc : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %e = linalg.generic {indexing_maps = [#m2, #col, #m2], iterator_types = ["parallel", "parallel"]}
      ins(%s, %max : tensor<6x6xf32>, tensor<6xf32>) outs(%es : tensor<6x6xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %d = arith.subf %in, %m : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> tensor<6x6xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %sum = linalg.generic {indexing_maps = [#m2, #col], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<6x6xf32>) outs(%fz : tensor<6xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %r = arith.addf %in, %acc : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %p = linalg.generic {indexing_maps = [#m2, #col, #m2], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : tensor<6x6xf32>, tensor<6xf32>) outs(%es : tensor<6x6xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %d = arith.divf %in, %m : f32
    linalg.yield %d : f32
  } -> tensor<6x6xf32>
  %eo = tensor.empty() : tensor<6x4xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<6x4xf32>) -> tensor<6x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<6x6xf32>, tensor<6x4xf32>) outs(%fo : tensor<6x4xf32>) -> tensor<6x4xf32>
  return %o : tensor<6x4xf32>
}

// CHECK: @layer_norm: {{.*}} equal, values equal
func.func @layer_norm(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>) -> tensor<4x8xf32> attributes {test.run} {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 8.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %er = tensor.empty() : tensor<4xf32>
  %ex = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#m2, #col], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %r = arith.addf %in, %acc : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#m2, #col, #m2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<4x8xf32>, tensor<4xf32>) outs(%ex : tensor<4x8xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %mean = arith.divf %s, %n : f32
    %d = arith.subf %in, %mean : f32
    linalg.yield %d : f32
  } -> tensor<4x8xf32>
  %var = linalg.generic {indexing_maps = [#m2, #col], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %sq = arith.mulf %in, %in : f32
    %r = arith.addf %sq, %acc : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#m2, #col, #row, #row, #m2], iterator_types = ["parallel", "parallel"]}
      ins(%c, %var, %gamma, %beta : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>) outs(%ex : tensor<4x8xf32>) {
  ^bb0(%in: f32, %v: f32, %g: f32, %b: f32, %out: f32):
    %m = arith.divf %v, %n : f32
    %me = arith.addf %m, %eps : f32
    %sd = math.sqrt %me : f32
    %norm = arith.divf %in, %sd : f32
    %gn = arith.mulf %norm, %g : f32
    %r = arith.addf %gn, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK: @conv_net: {{.*}} equal, values equal
func.func @conv_net(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>, %w: tensor<36x5xf32>) -> tensor<1x5xf32> attributes {test.run} {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e30 : f32
  %ec = tensor.empty() : tensor<1x6x6x4xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>)
      outs(%fc : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %z = arith.constant dense<0.0> : tensor<1x6x6x4xf32>
  %r = arith.maximumf %c, %z : tensor<1x6x6x4xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %ep = tensor.empty() : tensor<1x3x3x4xf32>
  %fp = linalg.fill ins(%low : f32) outs(%ep : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %p = linalg.pooling_nhwc_max {strides = dense<2> : vector<2xi64>}
      ins(%r, %window : tensor<1x6x6x4xf32>, tensor<2x2xf32>)
      outs(%fp : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %flat = tensor.collapse_shape %p [[0], [1, 2, 3]] : tensor<1x3x3x4xf32> into tensor<1x36xf32>
  %eo = tensor.empty() : tensor<1x5xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x5xf32>) -> tensor<1x5xf32>
  %o = linalg.matmul ins(%flat, %w : tensor<1x36xf32>, tensor<36x5xf32>) outs(%fo : tensor<1x5xf32>) -> tensor<1x5xf32>
  return %o : tensor<1x5xf32>
}

// CHECK: @lstm: {{.*}} equal, values equal
func.func @lstm(%xs: tensor<5x4xf32>, %wx: tensor<4x16xf32>, %wh: tensor<4x16xf32>) -> (tensor<1x4xf32>, tensor<5x4xf32>) attributes {test.run} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %h0 = arith.constant dense<0.0> : tensor<1x4xf32>
  %hs0 = tensor.empty() : tensor<5x4xf32>
  %r:3 = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %h0, %c = %h0, %hs = %hs0)
      -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<5x4xf32>) {
    %x = tensor.extract_slice %xs[%t, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<1x4xf32>
    %e = tensor.empty() : tensor<1x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16xf32>) -> tensor<1x16xf32>
    %g0 = linalg.matmul ins(%x, %wx : tensor<1x4xf32>, tensor<4x16xf32>) outs(%f : tensor<1x16xf32>) -> tensor<1x16xf32>
    %g = linalg.matmul ins(%h, %wh : tensor<1x4xf32>, tensor<4x16xf32>) outs(%g0 : tensor<1x16xf32>) -> tensor<1x16xf32>
    %i = tensor.extract_slice %g[0, 0] [1, 4] [1, 1] : tensor<1x16xf32> to tensor<1x4xf32>
    %fg = tensor.extract_slice %g[0, 4] [1, 4] [1, 1] : tensor<1x16xf32> to tensor<1x4xf32>
    %u = tensor.extract_slice %g[0, 8] [1, 4] [1, 1] : tensor<1x16xf32> to tensor<1x4xf32>
    %o = tensor.extract_slice %g[0, 12] [1, 4] [1, 1] : tensor<1x16xf32> to tensor<1x4xf32>
    %fc = arith.mulf %fg, %c : tensor<1x4xf32>
    %tu = math.tanh %u : tensor<1x4xf32>
    %iu = arith.mulf %i, %tu : tensor<1x4xf32>
    %cn = arith.addf %fc, %iu : tensor<1x4xf32>
    %tc = math.tanh %cn : tensor<1x4xf32>
    %hn = arith.mulf %o, %tc : tensor<1x4xf32>
    %hsn = tensor.insert_slice %hn into %hs[%t, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<5x4xf32>
    scf.yield %hn, %cn, %hsn : tensor<1x4xf32>, tensor<1x4xf32>, tensor<5x4xf32>
  }
  return %r#0, %r#2 : tensor<1x4xf32>, tensor<5x4xf32>
}

// CHECK: @softmax_op: {{.*}} equal, values equal
func.func @softmax_op(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {test.run} {
  %a = arith.addf %x, %x : tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %s = linalg.softmax dimension(1) ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// CHECK: 5 programs
