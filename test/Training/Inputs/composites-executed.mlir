// Composites in f64, to be executed: causal attention of two heads, of which a key
// is shared; log-probabilities; a cross entropy that picks labels with weights.
!x = tensor<4x6xf64>
!w = tensor<6x6xf64>
!split = tensor<4x2x3xf64>
!heads = tensor<2x4x3xf64>
!scores = tensor<2x4x4xf64>
!rows = tensor<2x4xf64>

func.func @causal(%x: !x, %wq: !w {es.param = #es.param<trainable "causal.q">},
                  %wk: tensor<6x3xf64> {es.param = #es.param<trainable "causal.k">},
                  %wv: !w {es.param = #es.param<trainable "causal.v">}) -> !x {
  %q0 = "stablehlo.dot"(%x, %wq) : (!x, !w) -> !x
  %k0 = "stablehlo.dot"(%x, %wk) : (!x, tensor<6x3xf64>) -> tensor<4x3xf64>
  %v0 = "stablehlo.dot"(%x, %wv) : (!x, !w) -> !x
  %q1 = stablehlo.reshape %q0 : (!x) -> !split
  %v1 = stablehlo.reshape %v0 : (!x) -> !split
  %q = stablehlo.transpose %q1, dims = [1, 0, 2] : (!split) -> !heads
  %k = stablehlo.broadcast_in_dim %k0, dims = [1, 2] : (tensor<4x3xf64>) -> !heads
  %v = stablehlo.transpose %v1, dims = [1, 0, 2] : (!split) -> !heads
  %s0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (!heads, !heads) -> !scores
  %row = stablehlo.iota dim = 1 : tensor<2x4x4xi32>
  %column = stablehlo.iota dim = 2 : tensor<2x4x4xi32>
  %visible = stablehlo.compare GE, %row, %column : (tensor<2x4x4xi32>, tensor<2x4x4xi32>) -> tensor<2x4x4xi1>
  %low = stablehlo.constant dense<-1.0e30> : !scores
  %s = stablehlo.select %visible, %s0, %low : tensor<2x4x4xi1>, !scores
  %least = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %max = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [2] : (!scores, tensor<f64>) -> !rows
  %maxb = stablehlo.broadcast_in_dim %max, dims = [0, 1] : (!rows) -> !scores
  %d = stablehlo.subtract %s, %maxb : !scores
  %e = stablehlo.exponential %d : !scores
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (!scores, tensor<f64>) -> !rows
  %sumb = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (!rows) -> !scores
  %p = stablehlo.divide %e, %sumb : !scores
  %o0 = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (!scores, !heads) -> !heads
  %o1 = stablehlo.transpose %o0, dims = [1, 0, 2] : (!heads) -> !split
  %o = stablehlo.reshape %o1 : (!split) -> !x
  return %o : !x
}

func.func @log_probabilities(%x: !x, %w: !w {es.param = #es.param<trainable "log.w">}) -> !x {
  %h = "stablehlo.dot"(%x, %w) : (!x, !w) -> !x
  %least = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %max = stablehlo.reduce(%h init: %least) applies stablehlo.maximum across dimensions = [1] : (!x, tensor<f64>) -> tensor<4xf64>
  %maxb = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<4xf64>) -> !x
  %d = stablehlo.subtract %h, %maxb : !x
  %e = stablehlo.exponential %d : !x
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (!x, tensor<f64>) -> tensor<4xf64>
  %log = stablehlo.log %sum : tensor<4xf64>
  %logb = stablehlo.broadcast_in_dim %log, dims = [0] : (tensor<4xf64>) -> !x
  %y = stablehlo.subtract %d, %logb : !x
  return %y : !x
}

func.func @weighted_labels(%x: !x, %labels: !x, %w: !w {es.param = #es.param<trainable "xent.w">}) -> tensor<4xf64> {
  %h = "stablehlo.dot"(%x, %w) : (!x, !w) -> !x
  %least = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %max = stablehlo.reduce(%h init: %least) applies stablehlo.maximum across dimensions = [1] : (!x, tensor<f64>) -> tensor<4xf64>
  %maxb = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<4xf64>) -> !x
  %d = stablehlo.subtract %h, %maxb : !x
  %e = stablehlo.exponential %d : !x
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (!x, tensor<f64>) -> tensor<4xf64>
  %log = stablehlo.log %sum : tensor<4xf64>
  %logb = stablehlo.broadcast_in_dim %log, dims = [0] : (tensor<4xf64>) -> !x
  %logs = stablehlo.subtract %d, %logb : !x
  %n = stablehlo.negate %logs : !x
  %t = stablehlo.multiply %n, %labels : !x
  %y = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [1] : (!x, tensor<f64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}
