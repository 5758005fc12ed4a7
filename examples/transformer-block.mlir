// One block of a pre-norm transformer as an exporter leaves it (TOSA, no
// annotations): batch 4, 128 tokens, width 256, 4 heads of 64, hidden 1024.
// Weights are arguments whose names stand in their locations.

!act = tensor<4x128x256xf32>
!row = tensor<4x128x1xf32>
!scores = tensor<16x128x128xf32>
!scores_row = tensor<16x128x1xf32>
!heads = tensor<16x128x64xf32>
!hidden = tensor<1x512x1024xf32>

func.func @block(
    %x: !act loc("tokens"),
    %ln1_g: tensor<256xf32> loc("block.ln_1.weight"),
    %ln1_b: tensor<256xf32> loc("block.ln_1.bias"),
    %qkv_w: tensor<256x768xf32> loc("block.attn.qkv.weight"),
    %qkv_b: tensor<768xf32> loc("block.attn.qkv.bias"),
    %out_w: tensor<256x256xf32> loc("block.attn.out.weight"),
    %out_b: tensor<256xf32> loc("block.attn.out.bias"),
    %ln2_g: tensor<256xf32> loc("block.ln_2.weight"),
    %ln2_b: tensor<256xf32> loc("block.ln_2.bias"),
    %up_w: tensor<256x1024xf32> loc("block.mlp.up.weight"),
    %up_b: tensor<1024xf32> loc("block.mlp.up.bias"),
    %down_w: tensor<1024x256xf32> loc("block.mlp.down.weight"),
    %down_b: tensor<256xf32> loc("block.mlp.down.bias")) -> !act {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s_act = tosa.const_shape {values = dense<[4, 128, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s_tokens = tosa.const_shape {values = dense<[1, 512, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s_heads = tosa.const_shape {values = dense<[16, 128, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s_vec = tosa.const_shape {values = dense<[1, 1, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>

  // Layer norm of the attention half.
  %n1, %c1 = func.call @moments(%x) : (!act) -> (!row, !act)
  %x1 = tosa.mul %c1, %n1, %shift : (!act, !row, tensor<1xi8>) -> !act
  %g1 = tosa.reshape %ln1_g, %s_vec : (tensor<256xf32>, !tosa.shape<3>) -> tensor<1x1x256xf32>
  %b1 = tosa.reshape %ln1_b, %s_vec : (tensor<256xf32>, !tosa.shape<3>) -> tensor<1x1x256xf32>
  %x2 = tosa.mul %x1, %g1, %shift : (!act, tensor<1x1x256xf32>, tensor<1xi8>) -> !act
  %x3 = tosa.add %x2, %b1 : (!act, tensor<1x1x256xf32>) -> !act

  // Queries, keys and values in one product, then split by head.
  %x4 = tosa.reshape %x3, %s_tokens : (!act, !tosa.shape<3>) -> tensor<1x512x256xf32>
  %s_qkv_w = tosa.const_shape {values = dense<[1, 256, 768]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s_qkv_b = tosa.const_shape {values = dense<[1, 1, 768]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %w1 = tosa.reshape %qkv_w, %s_qkv_w : (tensor<256x768xf32>, !tosa.shape<3>) -> tensor<1x256x768xf32>
  %wb1 = tosa.reshape %qkv_b, %s_qkv_b : (tensor<768xf32>, !tosa.shape<3>) -> tensor<1x1x768xf32>
  %qkv0 = tosa.matmul %x4, %w1, %zp, %zp : (tensor<1x512x256xf32>, tensor<1x256x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x512x768xf32>
  %qkv1 = tosa.add %qkv0, %wb1 : (tensor<1x512x768xf32>, tensor<1x1x768xf32>) -> tensor<1x512x768xf32>
  %s_split = tosa.const_shape {values = dense<[4, 128, 3, 4, 64]> : tensor<5xindex>} : () -> !tosa.shape<5>
  %qkv2 = tosa.reshape %qkv1, %s_split : (tensor<1x512x768xf32>, !tosa.shape<5>) -> tensor<4x128x3x4x64xf32>
  %qkv3 = tosa.transpose %qkv2 {perms = array<i32: 2, 0, 3, 1, 4>} : (tensor<4x128x3x4x64xf32>) -> tensor<3x4x4x128x64xf32>
  %s_flat = tosa.const_shape {values = dense<[48, 128, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %qkv = tosa.reshape %qkv3, %s_flat : (tensor<3x4x4x128x64xf32>, !tosa.shape<3>) -> tensor<48x128x64xf32>
  %at_q = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %at_k = tosa.const_shape {values = dense<[16, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %at_v = tosa.const_shape {values = dense<[32, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %q = tosa.slice %qkv, %at_q, %s_heads : (tensor<48x128x64xf32>, !tosa.shape<3>, !tosa.shape<3>) -> !heads
  %k = tosa.slice %qkv, %at_k, %s_heads : (tensor<48x128x64xf32>, !tosa.shape<3>, !tosa.shape<3>) -> !heads
  %v = tosa.slice %qkv, %at_v, %s_heads : (tensor<48x128x64xf32>, !tosa.shape<3>, !tosa.shape<3>) -> !heads

  // softmax(q k^T / sqrt(64)) v
  %kt = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (!heads) -> tensor<16x64x128xf32>
  %eighth = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %a0 = tosa.matmul %q, %kt, %zp, %zp : (!heads, tensor<16x64x128xf32>, tensor<1xf32>, tensor<1xf32>) -> !scores
  %a1 = tosa.mul %a0, %eighth, %shift : (!scores, tensor<1x1x1xf32>, tensor<1xi8>) -> !scores
  %max = tosa.reduce_max %a1 {axis = 2 : i32} : (!scores) -> !scores_row
  %a2 = tosa.sub %a1, %max : (!scores, !scores_row) -> !scores
  %a3 = tosa.exp %a2 : (!scores) -> !scores
  %sum = tosa.reduce_sum %a3 {axis = 2 : i32} : (!scores) -> !scores_row
  %inv = tosa.reciprocal %sum : (!scores_row) -> !scores_row
  %p = tosa.mul %a3, %inv, %shift : (!scores, !scores_row, tensor<1xi8>) -> !scores
  %o0 = tosa.matmul %p, %v, %zp, %zp : (!scores, !heads, tensor<1xf32>, tensor<1xf32>) -> !heads
  %s_o = tosa.const_shape {values = dense<[4, 4, 128, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o1 = tosa.reshape %o0, %s_o : (!heads, !tosa.shape<4>) -> tensor<4x4x128x64xf32>
  %o2 = tosa.transpose %o1 {perms = array<i32: 0, 2, 1, 3>} : (tensor<4x4x128x64xf32>) -> tensor<4x128x4x64xf32>
  %o3 = tosa.reshape %o2, %s_tokens : (tensor<4x128x4x64xf32>, !tosa.shape<3>) -> tensor<1x512x256xf32>

  // Output projection and the first residual.
  %s_out_w = tosa.const_shape {values = dense<[1, 256, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %w2 = tosa.reshape %out_w, %s_out_w : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
  %wb2 = tosa.reshape %out_b, %s_vec : (tensor<256xf32>, !tosa.shape<3>) -> tensor<1x1x256xf32>
  %o4 = tosa.matmul %o3, %w2, %zp, %zp : (tensor<1x512x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x512x256xf32>
  %o5 = tosa.add %o4, %wb2 : (tensor<1x512x256xf32>, tensor<1x1x256xf32>) -> tensor<1x512x256xf32>
  %o = tosa.reshape %o5, %s_act : (tensor<1x512x256xf32>, !tosa.shape<3>) -> !act
  %y = tosa.add %x, %o : (!act, !act) -> !act

  // Layer norm of the other half.
  %n2, %c2 = func.call @moments(%y) : (!act) -> (!row, !act)
  %y1 = tosa.mul %c2, %n2, %shift : (!act, !row, tensor<1xi8>) -> !act
  %g2 = tosa.reshape %ln2_g, %s_vec : (tensor<256xf32>, !tosa.shape<3>) -> tensor<1x1x256xf32>
  %b2 = tosa.reshape %ln2_b, %s_vec : (tensor<256xf32>, !tosa.shape<3>) -> tensor<1x1x256xf32>
  %y2 = tosa.mul %y1, %g2, %shift : (!act, tensor<1x1x256xf32>, tensor<1xi8>) -> !act
  %y3 = tosa.add %y2, %b2 : (!act, tensor<1x1x256xf32>) -> !act

  // gelu(y up) down: gelu(h) = h (1 + erf(h / sqrt 2)) / 2
  %y4 = tosa.reshape %y3, %s_tokens : (!act, !tosa.shape<3>) -> tensor<1x512x256xf32>
  %s_up_w = tosa.const_shape {values = dense<[1, 256, 1024]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s_up_b = tosa.const_shape {values = dense<[1, 1, 1024]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %w3 = tosa.reshape %up_w, %s_up_w : (tensor<256x1024xf32>, !tosa.shape<3>) -> tensor<1x256x1024xf32>
  %wb3 = tosa.reshape %up_b, %s_up_b : (tensor<1024xf32>, !tosa.shape<3>) -> tensor<1x1x1024xf32>
  %h0 = tosa.matmul %y4, %w3, %zp, %zp : (tensor<1x512x256xf32>, tensor<1x256x1024xf32>, tensor<1xf32>, tensor<1xf32>) -> !hidden
  %h = tosa.add %h0, %wb3 : (!hidden, tensor<1x1x1024xf32>) -> !hidden
  %rsqrt2 = "tosa.const"() <{values = dense<0.707106769> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %h1 = tosa.mul %h, %rsqrt2, %shift : (!hidden, tensor<1x1x1xf32>, tensor<1xi8>) -> !hidden
  %h2 = tosa.erf %h1 : (!hidden) -> !hidden
  %h3 = tosa.add %h2, %one : (!hidden, tensor<1x1x1xf32>) -> !hidden
  %h4 = tosa.mul %h3, %half, %shift : (!hidden, tensor<1x1x1xf32>, tensor<1xi8>) -> !hidden
  %h5 = tosa.mul %h, %h4, %shift : (!hidden, !hidden, tensor<1xi8>) -> !hidden
  %s_down_w = tosa.const_shape {values = dense<[1, 1024, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %w4 = tosa.reshape %down_w, %s_down_w : (tensor<1024x256xf32>, !tosa.shape<3>) -> tensor<1x1024x256xf32>
  %wb4 = tosa.reshape %down_b, %s_vec : (tensor<256xf32>, !tosa.shape<3>) -> tensor<1x1x256xf32>
  %d0 = tosa.matmul %h5, %w4, %zp, %zp : (!hidden, tensor<1x1024x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x512x256xf32>
  %d1 = tosa.add %d0, %wb4 : (tensor<1x512x256xf32>, tensor<1x1x256xf32>) -> tensor<1x512x256xf32>
  %d = tosa.reshape %d1, %s_act : (tensor<1x512x256xf32>, !tosa.shape<3>) -> !act
  %z = tosa.add %y, %d : (!act, !act) -> !act
  return %z : !act
}

// 1 / sqrt(variance + epsilon) of each token, and the tokens less their mean.
func.func private @moments(%x: !act) -> (!row, !act) {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %per = "tosa.const"() <{values = dense<3.906250e-03> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %eps = "tosa.const"() <{values = dense<1.0e-05> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %sum = tosa.reduce_sum %x {axis = 2 : i32} : (!act) -> !row
  %mean = tosa.mul %sum, %per, %shift : (!row, tensor<1x1x1xf32>, tensor<1xi8>) -> !row
  %centred = tosa.sub %x, %mean : (!act, !row) -> !act
  %sq = tosa.mul %centred, %centred, %shift : (!act, !act, tensor<1xi8>) -> !act
  %sum2 = tosa.reduce_sum %sq {axis = 2 : i32} : (!act) -> !row
  %var = tosa.mul %sum2, %per, %shift : (!row, tensor<1x1x1xf32>, tensor<1xi8>) -> !row
  %var_eps = tosa.add %var, %eps : (!row, tensor<1x1x1xf32>) -> !row
  %scale = tosa.rsqrt %var_eps : (!row) -> !row
  return %scale, %centred : !row, !act
}
