// The same block as in attention-stablehlo.mlir, as linalg: products over batches
// and heads in one dimension, softmax as structured ops.
!x = tensor<16x8xf32>
!w = tensor<8x8xf32>
!split = tensor<2x8x2x4xf32>
!heads = tensor<2x2x8x4xf32>
!flat = tensor<4x8x4xf32>
!keys = tensor<4x4x8xf32>
!scores = tensor<4x8x8xf32>
!rows = tensor<4x8xf32>
#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>

func.func @f(%x: !x, %Wq: !w {es.param = #es.param<trainable "Wq">}, %Wk: !w {es.param = #es.param<trainable "Wk">},
             %Wv: !w {es.param = #es.param<trainable "Wv">}, %Wo: !w {es.param = #es.param<trainable "Wo">}) -> !x {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %half = arith.constant 0.5 : f32
  %ex = tensor.empty() : !x
  %zx = linalg.fill ins(%zero : f32) outs(%ex : !x) -> !x
  %q0 = linalg.matmul ins(%x, %Wq : !x, !w) outs(%zx : !x) -> !x
  %k0 = linalg.matmul ins(%x, %Wk : !x, !w) outs(%zx : !x) -> !x
  %v0 = linalg.matmul ins(%x, %Wv : !x, !w) outs(%zx : !x) -> !x
  %q1 = tensor.expand_shape %q0 [[0, 1], [2, 3]] output_shape [2, 8, 2, 4] : !x into !split
  %k1 = tensor.expand_shape %k0 [[0, 1], [2, 3]] output_shape [2, 8, 2, 4] : !x into !split
  %v1 = tensor.expand_shape %v0 [[0, 1], [2, 3]] output_shape [2, 8, 2, 4] : !x into !split
  %eh = tensor.empty() : !heads
  %q2 = linalg.transpose ins(%q1 : !split) outs(%eh : !heads) permutation = [0, 2, 1, 3]
  %k2 = linalg.transpose ins(%k1 : !split) outs(%eh : !heads) permutation = [0, 2, 1, 3]
  %v2 = linalg.transpose ins(%v1 : !split) outs(%eh : !heads) permutation = [0, 2, 1, 3]
  %q = tensor.collapse_shape %q2 [[0, 1], [2], [3]] : !heads into !flat
  %k3 = tensor.collapse_shape %k2 [[0, 1], [2], [3]] : !heads into !flat
  %v = tensor.collapse_shape %v2 [[0, 1], [2], [3]] : !heads into !flat
  %ek = tensor.empty() : !keys
  %k = linalg.transpose ins(%k3 : !flat) outs(%ek : !keys) permutation = [0, 2, 1]
  %es = tensor.empty() : !scores
  %zs = linalg.fill ins(%zero : f32) outs(%es : !scores) -> !scores
  %s0 = linalg.batch_matmul ins(%q, %k : !flat, !keys) outs(%zs : !scores) -> !scores
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s0 : !scores) outs(%es : !scores) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %half : f32
    linalg.yield %c : f32
  } -> !scores
  %er = tensor.empty() : !rows
  %lr = linalg.fill ins(%least : f32) outs(%er : !rows) -> !rows
  %zr = linalg.fill ins(%zero : f32) outs(%er : !rows) -> !rows
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : !scores) outs(%lr : !rows) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> !rows
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %max : !scores, !rows) outs(%es : !scores) {
  ^bb0(%a: f32, %m: f32, %b: f32):
    %c = arith.subf %a, %m : f32
    %d = math.exp %c : f32
    linalg.yield %d : f32
  } -> !scores
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%e : !scores) outs(%zr : !rows) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> !rows
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%e, %sum : !scores, !rows) outs(%es : !scores) {
  ^bb0(%a: f32, %n: f32, %b: f32):
    %c = arith.divf %a, %n : f32
    linalg.yield %c : f32
  } -> !scores
  %ef = tensor.empty() : !flat
  %zf = linalg.fill ins(%zero : f32) outs(%ef : !flat) -> !flat
  %o0 = linalg.batch_matmul ins(%p, %v : !scores, !flat) outs(%zf : !flat) -> !flat
  %o1 = tensor.expand_shape %o0 [[0, 1], [2], [3]] output_shape [2, 2, 8, 4] : !flat into !heads
  %eo = tensor.empty() : !split
  %o2 = linalg.transpose ins(%o1 : !heads) outs(%eo : !split) permutation = [0, 2, 1, 3]
  %o = tensor.collapse_shape %o2 [[0, 1], [2, 3]] : !split into !x
  %y = linalg.matmul ins(%o, %Wo : !x, !w) outs(%zx : !x) -> !x
  return %y : !x
}
