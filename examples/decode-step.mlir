// One layer of a decode step with a key-value cache (linalg): 8 heads of 64,
// room for 2048 tokens, caches in f16. The new key and value go into the caches
// at %position, then the query looks at all tokens up to it.

#score = affine_map<(h, t, d) -> (h, t)>
#query = affine_map<(h, t, d) -> (h, d)>
#cache = affine_map<(h, t, d) -> (h, t, d)>
#context = affine_map<(h, d, t) -> (h, d)>
#weight = affine_map<(h, d, t) -> (h, t)>
#cache_t = affine_map<(h, d, t) -> (h, t, d)>
#all = affine_map<(h, t) -> (h, t)>
#head = affine_map<(h, t) -> (h)>

!cache = tensor<8x2048x64xf16>
!state = tensor<1x512xf32>
!scores = tensor<8x2048xf32>

func.func @decode(
    %x: !state loc("hidden_state"),
    %wq: tensor<512x512xf32> loc("layer.q_proj.weight"),
    %wk: tensor<512x512xf32> loc("layer.k_proj.weight"),
    %wv: tensor<512x512xf32> loc("layer.v_proj.weight"),
    %wo: tensor<512x512xf32> loc("layer.o_proj.weight"),
    %k_cache: !cache loc("k_cache"),
    %v_cache: !cache loc("v_cache"),
    %position: index loc("position")) -> (!state, !cache, !cache) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 1.250000e-01 : f32

  // Projections of the one new token.
  %e_state = tensor.empty() : !state
  %i_state = linalg.fill ins(%zero : f32) outs(%e_state : !state) -> !state
  %q0 = linalg.matmul ins(%x, %wq : !state, tensor<512x512xf32>) outs(%i_state : !state) -> !state
  %k0 = linalg.matmul ins(%x, %wk : !state, tensor<512x512xf32>) outs(%i_state : !state) -> !state
  %v0 = linalg.matmul ins(%x, %wv : !state, tensor<512x512xf32>) outs(%i_state : !state) -> !state
  %q1 = tensor.collapse_shape %q0 [[0, 1]] : !state into tensor<512xf32>
  %q = tensor.expand_shape %q1 [[0, 1]] output_shape [8, 64] : tensor<512xf32> into tensor<8x64xf32>

  // The caches, with the new row of each head.
  %k1 = arith.truncf %k0 : !state to tensor<1x512xf16>
  %v1 = arith.truncf %v0 : !state to tensor<1x512xf16>
  %k2 = tensor.collapse_shape %k1 [[0, 1]] : tensor<1x512xf16> into tensor<512xf16>
  %v2 = tensor.collapse_shape %v1 [[0, 1]] : tensor<1x512xf16> into tensor<512xf16>
  %k3 = tensor.expand_shape %k2 [[0, 1, 2]] output_shape [8, 1, 64] : tensor<512xf16> into tensor<8x1x64xf16>
  %v3 = tensor.expand_shape %v2 [[0, 1, 2]] output_shape [8, 1, 64] : tensor<512xf16> into tensor<8x1x64xf16>
  %keys = tensor.insert_slice %k3 into %k_cache[0, %position, 0] [8, 1, 64] [1, 1, 1] : tensor<8x1x64xf16> into !cache
  %values = tensor.insert_slice %v3 into %v_cache[0, %position, 0] [8, 1, 64] [1, 1, 1] : tensor<8x1x64xf16> into !cache

  // Scores of every token; those after %position are masked.
  %e_scores = tensor.empty() : !scores
  %i_scores = linalg.fill ins(%zero : f32) outs(%e_scores : !scores) -> !scores
  %s0 = linalg.generic {indexing_maps = [#query, #cache, #score],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %keys : tensor<8x64xf32>, !cache) outs(%i_scores : !scores) {
  ^bb0(%a: f32, %b: f16, %acc: f32):
    %wide = arith.extf %b : f16 to f32
    %product = arith.mulf %a, %wide : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  } -> !scores
  %s1 = linalg.generic {indexing_maps = [#all, #all],
                        iterator_types = ["parallel", "parallel"]}
      ins(%s0 : !scores) outs(%e_scores : !scores) {
  ^bb0(%a: f32, %out: f32):
    %token = linalg.index 1 : index
    %seen = arith.cmpi ule, %token, %position : index
    %scaled = arith.mulf %a, %scale : f32
    %masked = arith.select %seen, %scaled, %low : f32
    linalg.yield %masked : f32
  } -> !scores

  // Softmax over the tokens.
  %e_head = tensor.empty() : tensor<8xf32>
  %i_max = linalg.fill ins(%low : f32) outs(%e_head : tensor<8xf32>) -> tensor<8xf32>
  %max = linalg.generic {indexing_maps = [#all, #head],
                         iterator_types = ["parallel", "reduction"]}
      ins(%s1 : !scores) outs(%i_max : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %m = arith.maximumf %a, %acc : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  %p0 = linalg.generic {indexing_maps = [#all, #head, #all],
                        iterator_types = ["parallel", "parallel"]}
      ins(%s1, %max : !scores, tensor<8xf32>) outs(%e_scores : !scores) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %shifted = arith.subf %a, %m : f32
    %e = math.exp %shifted : f32
    linalg.yield %e : f32
  } -> !scores
  %i_sum = linalg.fill ins(%zero : f32) outs(%e_head : tensor<8xf32>) -> tensor<8xf32>
  %total = linalg.generic {indexing_maps = [#all, #head],
                           iterator_types = ["parallel", "reduction"]}
      ins(%p0 : !scores) outs(%i_sum : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %sum = arith.addf %a, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#all, #head, #all],
                       iterator_types = ["parallel", "parallel"]}
      ins(%p0, %total : !scores, tensor<8xf32>) outs(%e_scores : !scores) {
  ^bb0(%a: f32, %t: f32, %out: f32):
    %share = arith.divf %a, %t : f32
    linalg.yield %share : f32
  } -> !scores

  // The weighted values of each head, and the output projection.
  %e_ctx = tensor.empty() : tensor<8x64xf32>
  %i_ctx = linalg.fill ins(%zero : f32) outs(%e_ctx : tensor<8x64xf32>) -> tensor<8x64xf32>
  %ctx = linalg.generic {indexing_maps = [#weight, #cache_t, #context],
                         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %values : !scores, !cache) outs(%i_ctx : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f16, %acc: f32):
    %wide = arith.extf %b : f16 to f32
    %product = arith.mulf %a, %wide : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  } -> tensor<8x64xf32>
  %flat = tensor.collapse_shape %ctx [[0, 1]] : tensor<8x64xf32> into tensor<512xf32>
  %row = tensor.expand_shape %flat [[0, 1]] output_shape [1, 512] : tensor<512xf32> into !state
  %y = linalg.matmul ins(%row, %wo : !state, tensor<512x512xf32>) outs(%i_state : !state) -> !state
  return %y, %keys, %values : !state, !cache, !cache
}
