// Attention of 2 heads, in batches of 2, over 8 tokens of width 8, as StableHLO.
// attention-fused.test has the sums.
!x = tensor<16x8xf32>
!w = tensor<8x8xf32>
!split = tensor<2x8x2x4xf32>
!heads = tensor<2x2x8x4xf32>
!scores = tensor<2x2x8x8xf32>
!rows = tensor<2x2x8xf32>

func.func @f(%x: !x, %Wq: !w {es.param = #es.param<trainable "Wq">}, %Wk: !w {es.param = #es.param<trainable "Wk">},
             %Wv: !w {es.param = #es.param<trainable "Wv">}, %Wo: !w {es.param = #es.param<trainable "Wo">}) -> !x {
  %q0 = "stablehlo.dot"(%x, %Wq) : (!x, !w) -> !x
  %k0 = "stablehlo.dot"(%x, %Wk) : (!x, !w) -> !x
  %v0 = "stablehlo.dot"(%x, %Wv) : (!x, !w) -> !x
  %q1 = stablehlo.reshape %q0 : (!x) -> !split
  %k1 = stablehlo.reshape %k0 : (!x) -> !split
  %v1 = stablehlo.reshape %v0 : (!x) -> !split
  %q = stablehlo.transpose %q1, dims = [0, 2, 1, 3] : (!split) -> !heads
  %k = stablehlo.transpose %k1, dims = [0, 2, 1, 3] : (!split) -> !heads
  %v = stablehlo.transpose %v1, dims = [0, 2, 1, 3] : (!split) -> !heads
  %s0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (!heads, !heads) -> !scores
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %scale = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> !scores
  %s = stablehlo.multiply %s0, %scale : !scores
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [3] : (!scores, tensor<f32>) -> !rows
  %maxb = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (!rows) -> !scores
  %d = stablehlo.subtract %s, %maxb : !scores
  %e = stablehlo.exponential %d : !scores
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (!scores, tensor<f32>) -> !rows
  %sumb = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (!rows) -> !scores
  %weights = stablehlo.divide %e, %sumb : !scores
  %o0 = stablehlo.dot_general %weights, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (!scores, !heads) -> !heads
  %o1 = stablehlo.transpose %o0, dims = [0, 2, 1, 3] : (!heads) -> !split
  %o = stablehlo.reshape %o1 : (!split) -> !x
  %y = "stablehlo.dot"(%o, %Wo) : (!x, !w) -> !x
  return %y : !x
}
