// Whole models in f64; the loss of most is cross entropy on their output.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>

func.func @mlp(%x: tensor<4x5xf64>, %w1: tensor<5x6xf64> {es.param = #es.param<trainable "mlp.w1">}, %b1: tensor<6xf64> {es.param = #es.param<trainable "mlp.b1">}, %w2: tensor<6x3xf64> {es.param = #es.param<trainable "mlp.w2">}, %b2: tensor<3xf64> {es.param = #es.param<trainable "mlp.b2">}) -> tensor<4x3xf64> {
  %zero = arith.constant 0.0 : f64
  %zeros = arith.constant dense<0.0> : tensor<4x6xf64>
  %me = tensor.empty() : tensor<4x6xf64>
  %mf = linalg.fill ins(%zero : f64) outs(%me : tensor<4x6xf64>) -> tensor<4x6xf64>
  %m = linalg.matmul ins(%x, %w1 : tensor<4x5xf64>, tensor<5x6xf64>) outs(%mf : tensor<4x6xf64>) -> tensor<4x6xf64>
  %ze = tensor.empty() : tensor<4x6xf64>
  %z = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %b1 : tensor<4x6xf64>, tensor<6xf64>) outs(%ze : tensor<4x6xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %s = arith.addf %p, %q : f64
    linalg.yield %s : f64
  } -> tensor<4x6xf64>
  %r = arith.maximumf %z, %zeros : tensor<4x6xf64>
  %ne = tensor.empty() : tensor<4x3xf64>
  %nf = linalg.fill ins(%zero : f64) outs(%ne : tensor<4x3xf64>) -> tensor<4x3xf64>
  %n = linalg.matmul ins(%r, %w2 : tensor<4x6xf64>, tensor<6x3xf64>) outs(%nf : tensor<4x3xf64>) -> tensor<4x3xf64>
  %ye = tensor.empty() : tensor<4x3xf64>
  %y = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%n, %b2 : tensor<4x3xf64>, tensor<3xf64>) outs(%ye : tensor<4x3xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %s = arith.addf %p, %q : f64
    linalg.yield %s : f64
  } -> tensor<4x3xf64>
  return %y : tensor<4x3xf64>
}

func.func @attention(%x: tensor<4x6xf64>, %wq: tensor<6x6xf64> {es.param = #es.param<trainable "attn.q">}, %wk: tensor<6x6xf64> {es.param = #es.param<trainable "attn.k">}, %wv: tensor<6x6xf64> {es.param = #es.param<trainable "attn.v">}, %wo: tensor<6x3xf64> {es.param = #es.param<trainable "attn.o">}) -> tensor<4x3xf64> {
  %zero = arith.constant 0.0 : f64
  %scale = arith.constant dense<0.40824829> : tensor<4x4xf64>
  %qe = tensor.empty() : tensor<4x6xf64>
  %qf = linalg.fill ins(%zero : f64) outs(%qe : tensor<4x6xf64>) -> tensor<4x6xf64>
  %q = linalg.matmul ins(%x, %wq : tensor<4x6xf64>, tensor<6x6xf64>) outs(%qf : tensor<4x6xf64>) -> tensor<4x6xf64>
  %ke = tensor.empty() : tensor<4x6xf64>
  %kf = linalg.fill ins(%zero : f64) outs(%ke : tensor<4x6xf64>) -> tensor<4x6xf64>
  %k = linalg.matmul ins(%x, %wk : tensor<4x6xf64>, tensor<6x6xf64>) outs(%kf : tensor<4x6xf64>) -> tensor<4x6xf64>
  %ve = tensor.empty() : tensor<4x6xf64>
  %vf = linalg.fill ins(%zero : f64) outs(%ve : tensor<4x6xf64>) -> tensor<4x6xf64>
  %v = linalg.matmul ins(%x, %wv : tensor<4x6xf64>, tensor<6x6xf64>) outs(%vf : tensor<4x6xf64>) -> tensor<4x6xf64>
  %kte = tensor.empty() : tensor<6x4xf64>
  %kt = linalg.transpose ins(%k : tensor<4x6xf64>) outs(%kte : tensor<6x4xf64>) permutation = [1, 0]
  %se = tensor.empty() : tensor<4x4xf64>
  %sf = linalg.fill ins(%zero : f64) outs(%se : tensor<4x4xf64>) -> tensor<4x4xf64>
  %s = linalg.matmul ins(%q, %kt : tensor<4x6xf64>, tensor<6x4xf64>) outs(%sf : tensor<4x4xf64>) -> tensor<4x4xf64>
  %t = arith.mulf %s, %scale : tensor<4x4xf64>
  %pe = tensor.empty() : tensor<4x4xf64>
  %p = linalg.softmax dimension(1) ins(%t : tensor<4x4xf64>) outs(%pe : tensor<4x4xf64>) -> tensor<4x4xf64>
  %ce = tensor.empty() : tensor<4x6xf64>
  %cf = linalg.fill ins(%zero : f64) outs(%ce : tensor<4x6xf64>) -> tensor<4x6xf64>
  %c = linalg.matmul ins(%p, %v : tensor<4x4xf64>, tensor<4x6xf64>) outs(%cf : tensor<4x6xf64>) -> tensor<4x6xf64>
  %res = arith.addf %c, %x : tensor<4x6xf64>
  %ye = tensor.empty() : tensor<4x3xf64>
  %yf = linalg.fill ins(%zero : f64) outs(%ye : tensor<4x3xf64>) -> tensor<4x3xf64>
  %y = linalg.matmul ins(%res, %wo : tensor<4x6xf64>, tensor<6x3xf64>) outs(%yf : tensor<4x3xf64>) -> tensor<4x3xf64>
  return %y : tensor<4x3xf64>
}

func.func @layer_norm_gelu(%x: tensor<4x6xf64>, %w: tensor<6x6xf64> {es.param = #es.param<trainable "ln.w">}, %g: tensor<6xf64> {es.param = #es.param<trainable "ln.g">}, %b: tensor<6xf64> {es.param = #es.param<trainable "ln.b">}) -> tensor<4x6xf64> {
  %zero = arith.constant 0.0 : f64
  %six = arith.constant 6.0 : f64
  %eps = arith.constant 1.0e-5 : f64
  %half = arith.constant dense<0.5> : tensor<4x6xf64>
  %root = arith.constant dense<0.70710678118654752> : tensor<4x6xf64>
  %ones = arith.constant dense<1.0> : tensor<4x6xf64>
  %he = tensor.empty() : tensor<4x6xf64>
  %hf = linalg.fill ins(%zero : f64) outs(%he : tensor<4x6xf64>) -> tensor<4x6xf64>
  %h = linalg.matmul ins(%x, %w : tensor<4x6xf64>, tensor<6x6xf64>) outs(%hf : tensor<4x6xf64>) -> tensor<4x6xf64>
  %sume = tensor.empty() : tensor<4xf64>
  %sumf = linalg.fill ins(%zero : f64) outs(%sume : tensor<4xf64>) -> tensor<4xf64>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<4x6xf64>) outs(%sumf : tensor<4xf64>) {
  ^bb0(%p: f64, %o: f64):
    %s = arith.addf %o, %p : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %ce = tensor.empty() : tensor<4x6xf64>
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%h, %sum : tensor<4x6xf64>, tensor<4xf64>) outs(%ce : tensor<4x6xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %mean = arith.divf %q, %six : f64
    %s = arith.subf %p, %mean : f64
    linalg.yield %s : f64
  } -> tensor<4x6xf64>
  %sqe = tensor.empty() : tensor<4xf64>
  %sqf = linalg.fill ins(%zero : f64) outs(%sqe : tensor<4xf64>) -> tensor<4xf64>
  %sq = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x6xf64>) outs(%sqf : tensor<4xf64>) {
  ^bb0(%p: f64, %o: f64):
    %q = arith.mulf %p, %p : f64
    %s = arith.addf %o, %q : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %ne = tensor.empty() : tensor<4x6xf64>
  %n = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%c, %sq : tensor<4x6xf64>, tensor<4xf64>) outs(%ne : tensor<4x6xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %var = arith.divf %q, %six : f64
    %sum1 = arith.addf %var, %eps : f64
    %r = math.rsqrt %sum1 : f64
    %s = arith.mulf %p, %r : f64
    linalg.yield %s : f64
  } -> tensor<4x6xf64>
  %nge = tensor.empty() : tensor<4x6xf64>
  %ng = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%n, %g : tensor<4x6xf64>, tensor<6xf64>) outs(%nge : tensor<4x6xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %s = arith.mulf %p, %q : f64
    linalg.yield %s : f64
  } -> tensor<4x6xf64>
  %nbe = tensor.empty() : tensor<4x6xf64>
  %nb = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%ng, %b : tensor<4x6xf64>, tensor<6xf64>) outs(%nbe : tensor<4x6xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %s = arith.addf %p, %q : f64
    linalg.yield %s : f64
  } -> tensor<4x6xf64>
  %u = arith.mulf %nb, %root : tensor<4x6xf64>
  %er = math.erf %u : tensor<4x6xf64>
  %er1 = arith.addf %er, %ones : tensor<4x6xf64>
  %hx = arith.mulf %nb, %half : tensor<4x6xf64>
  %y = arith.mulf %hx, %er1 : tensor<4x6xf64>
  return %y : tensor<4x6xf64>
}

func.func @conv_net(%x: tensor<2x6x6x1xf64>, %k: tensor<3x3x1x2xf64> {es.param = #es.param<trainable "cn.k">}, %w: tensor<8x3xf64> {es.param = #es.param<trainable "cn.w">}) -> tensor<2x3xf64> {
  %zero = arith.constant 0.0 : f64
  %zeros = arith.constant dense<0.0> : tensor<2x4x4x2xf64>
  %low = arith.constant -1.0e30 : f64
  %ce = tensor.empty() : tensor<2x4x4x2xf64>
  %cf = linalg.fill ins(%zero : f64) outs(%ce : tensor<2x4x4x2xf64>) -> tensor<2x4x4x2xf64>
  %c = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<2x6x6x1xf64>, tensor<3x3x1x2xf64>) outs(%cf : tensor<2x4x4x2xf64>) -> tensor<2x4x4x2xf64>
  %r = arith.maximumf %c, %zeros : tensor<2x4x4x2xf64>
  %window = tensor.empty() : tensor<2x2xf64>
  %pe = tensor.empty() : tensor<2x2x2x2xf64>
  %pf = linalg.fill ins(%low : f64) outs(%pe : tensor<2x2x2x2xf64>) -> tensor<2x2x2x2xf64>
  %p = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%r, %window : tensor<2x4x4x2xf64>, tensor<2x2xf64>) outs(%pf : tensor<2x2x2x2xf64>) -> tensor<2x2x2x2xf64>
  %flat = tensor.collapse_shape %p [[0], [1, 2, 3]] : tensor<2x2x2x2xf64> into tensor<2x8xf64>
  %ye = tensor.empty() : tensor<2x3xf64>
  %yf = linalg.fill ins(%zero : f64) outs(%ye : tensor<2x3xf64>) -> tensor<2x3xf64>
  %y = linalg.matmul ins(%flat, %w : tensor<2x8xf64>, tensor<8x3xf64>) outs(%yf : tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

// i, f, o, g from one product; two carried values; classes from the last state.
func.func @lstm(%xs: tensor<3x2x4xf64>, %h0: tensor<2x3xf64>, %c0: tensor<2x3xf64>, %wx: tensor<4x12xf64> {es.param = #es.param<trainable "lstm.wx">}, %wh: tensor<3x12xf64> {es.param = #es.param<trainable "lstm.wh">}, %b: tensor<12xf64> {es.param = #es.param<trainable "lstm.b">}, %wo: tensor<3x3xf64> {es.param = #es.param<trainable "lstm.wo">}) -> tensor<2x3xf64> {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i3 = arith.constant 3 : index
  %last:2 = scf.for %t = %i0 to %i3 step %i1 iter_args(%h = %h0, %c = %c0) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
    %x = tensor.extract_slice %xs[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<3x2x4xf64> to tensor<2x4xf64>
    %ae = tensor.empty() : tensor<2x12xf64>
    %af = linalg.fill ins(%zero : f64) outs(%ae : tensor<2x12xf64>) -> tensor<2x12xf64>
    %a = linalg.matmul ins(%x, %wx : tensor<2x4xf64>, tensor<4x12xf64>) outs(%af : tensor<2x12xf64>) -> tensor<2x12xf64>
    %de = tensor.empty() : tensor<2x12xf64>
    %df = linalg.fill ins(%zero : f64) outs(%de : tensor<2x12xf64>) -> tensor<2x12xf64>
    %d = linalg.matmul ins(%h, %wh : tensor<2x3xf64>, tensor<3x12xf64>) outs(%df : tensor<2x12xf64>) -> tensor<2x12xf64>
    %ad = arith.addf %a, %d : tensor<2x12xf64>
    %ze = tensor.empty() : tensor<2x12xf64>
    %z = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%ad, %b : tensor<2x12xf64>, tensor<12xf64>) outs(%ze : tensor<2x12xf64>) {
    ^bb0(%p: f64, %q: f64, %o: f64):
      %s = arith.addf %p, %q : f64
      linalg.yield %s : f64
    } -> tensor<2x12xf64>
    %zi = tensor.extract_slice %z[0, 0] [2, 3] [1, 1] : tensor<2x12xf64> to tensor<2x3xf64>
    %zf = tensor.extract_slice %z[0, 3] [2, 3] [1, 1] : tensor<2x12xf64> to tensor<2x3xf64>
    %zo = tensor.extract_slice %z[0, 6] [2, 3] [1, 1] : tensor<2x12xf64> to tensor<2x3xf64>
    %zg = tensor.extract_slice %z[0, 9] [2, 3] [1, 1] : tensor<2x12xf64> to tensor<2x3xf64>
    %ei = tensor.empty() : tensor<2x3xf64>
    %i = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%zi : tensor<2x3xf64>) outs(%ei : tensor<2x3xf64>) {
    ^bb0(%p: f64, %q: f64):
      %n = arith.negf %p : f64
      %x1 = math.exp %n : f64
      %s = arith.addf %x1, %one : f64
      %r = arith.divf %one, %s : f64
      linalg.yield %r : f64
    } -> tensor<2x3xf64>
    %ef = tensor.empty() : tensor<2x3xf64>
    %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%zf : tensor<2x3xf64>) outs(%ef : tensor<2x3xf64>) {
    ^bb0(%p: f64, %q: f64):
      %n = arith.negf %p : f64
      %x1 = math.exp %n : f64
      %s = arith.addf %x1, %one : f64
      %r = arith.divf %one, %s : f64
      linalg.yield %r : f64
    } -> tensor<2x3xf64>
    %eo = tensor.empty() : tensor<2x3xf64>
    %o = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%zo : tensor<2x3xf64>) outs(%eo : tensor<2x3xf64>) {
    ^bb0(%p: f64, %q: f64):
      %n = arith.negf %p : f64
      %x1 = math.exp %n : f64
      %s = arith.addf %x1, %one : f64
      %r = arith.divf %one, %s : f64
      linalg.yield %r : f64
    } -> tensor<2x3xf64>
    %g = math.tanh %zg : tensor<2x3xf64>
    %fc = arith.mulf %f, %c : tensor<2x3xf64>
    %ig = arith.mulf %i, %g : tensor<2x3xf64>
    %cn = arith.addf %fc, %ig : tensor<2x3xf64>
    %tc = math.tanh %cn : tensor<2x3xf64>
    %hn = arith.mulf %o, %tc : tensor<2x3xf64>
    scf.yield %hn, %cn : tensor<2x3xf64>, tensor<2x3xf64>
  }
  %ye = tensor.empty() : tensor<2x3xf64>
  %yf = linalg.fill ins(%zero : f64) outs(%ye : tensor<2x3xf64>) -> tensor<2x3xf64>
  %y = linalg.matmul ins(%last#0, %wo : tensor<2x3xf64>, tensor<3x3xf64>) outs(%yf : tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
