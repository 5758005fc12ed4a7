func.func @tosa_conv_net(%x: tensor<2x6x6x2xf32>, %k: tensor<4x3x3x2xf32> {es.param = #es.param<trainable "k">}, %b: tensor<4xf32> {es.param = #es.param<trainable "b">}, %w: tensor<1x36x5xf32> {es.param = #es.param<trainable "w">}, %o: tensor<1x1x5xf32> {es.param = #es.param<trainable "o">}) -> tensor<1x2x5xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %c = tosa.conv2d %x, %k, %b, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<2x6x6x2xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x6x6x4xf32>
  %r = tosa.clamp %c {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<2x6x6x4xf32>) -> tensor<2x6x6x4xf32>
  %p = tosa.max_pool2d %r {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<2x6x6x4xf32>) -> tensor<2x3x3x4xf32>
  %s = tosa.const_shape {values = dense<[1, 2, 36]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %f = tosa.reshape %p, %s : (tensor<2x3x3x4xf32>, !tosa.shape<3>) -> tensor<1x2x36xf32>
  %m = tosa.matmul %f, %w, %zp, %zp : (tensor<1x2x36xf32>, tensor<1x36x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x5xf32>
  %y = tosa.add %m, %o : (tensor<1x2x5xf32>, tensor<1x1x5xf32>) -> tensor<1x2x5xf32>
  return %y : tensor<1x2x5xf32>
}

func.func @tosa_attention(%x: tensor<2x4x6xf32>, %q: tensor<2x6x6xf32> {es.param = #es.param<trainable "attn.q">}, %k: tensor<2x6x6xf32> {es.param = #es.param<trainable "attn.k">}, %v: tensor<2x6x6xf32> {es.param = #es.param<trainable "attn.v">}, %g: tensor<1x1x6xf32> {es.param = #es.param<trainable "g">}) -> tensor<2x4x6xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %eps = "tosa.const"() <{values = dense<1.0e-3> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %sixth = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %xq = tosa.matmul %x, %q, %zp, %zp : (tensor<2x4x6xf32>, tensor<2x6x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x6xf32>
  %xk = tosa.matmul %x, %k, %zp, %zp : (tensor<2x4x6xf32>, tensor<2x6x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x6xf32>
  %xv = tosa.matmul %x, %v, %zp, %zp : (tensor<2x4x6xf32>, tensor<2x6x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x6xf32>
  %kt = tosa.transpose %xk {perms = array<i32: 0, 2, 1>} : (tensor<2x4x6xf32>) -> tensor<2x6x4xf32>
  %s = tosa.matmul %xq, %kt, %zp, %zp : (tensor<2x4x6xf32>, tensor<2x6x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x4xf32>
  %max = tosa.reduce_max %s {axis = 2 : i32} : (tensor<2x4x4xf32>) -> tensor<2x4x1xf32>
  %d = tosa.sub %s, %max : (tensor<2x4x4xf32>, tensor<2x4x1xf32>) -> tensor<2x4x4xf32>
  %e = tosa.exp %d : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %sum = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<2x4x4xf32>) -> tensor<2x4x1xf32>
  %inv = tosa.reciprocal %sum : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %p = tosa.mul %e, %inv, %shift : (tensor<2x4x4xf32>, tensor<2x4x1xf32>, tensor<1xi8>) -> tensor<2x4x4xf32>
  %a = tosa.matmul %p, %xv, %zp, %zp : (tensor<2x4x4xf32>, tensor<2x4x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x6xf32>
  %sq = tosa.mul %a, %a, %shift : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<1xi8>) -> tensor<2x4x6xf32>
  %ms = tosa.reduce_sum %sq {axis = 2 : i32} : (tensor<2x4x6xf32>) -> tensor<2x4x1xf32>
  %me = tosa.add %ms, %eps : (tensor<2x4x1xf32>, tensor<1x1x1xf32>) -> tensor<2x4x1xf32>
  %rs = tosa.rsqrt %me : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %n = tosa.mul %a, %rs, %shift : (tensor<2x4x6xf32>, tensor<2x4x1xf32>, tensor<1xi8>) -> tensor<2x4x6xf32>
  %ng = tosa.mul %n, %g, %shift : (tensor<2x4x6xf32>, tensor<1x1x6xf32>, tensor<1xi8>) -> tensor<2x4x6xf32>
  %h = tosa.tanh %ng : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %sg = tosa.sigmoid %x : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %y = tosa.mul %h, %sg, %shift : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<1xi8>) -> tensor<2x4x6xf32>
  return %y : tensor<2x4x6xf32>
}
