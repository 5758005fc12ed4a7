func.func @tied(%tokens: tensor<4xi64>, %E: tensor<16x8xf32> {es.param = #es.param<trainable "embedding">}) -> tensor<4x16xf32> {
  %h = "torch.aten.embedding"(%E, %tokens) : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %t = "torch.aten.t"(%E) : (tensor<16x8xf32>) -> tensor<8x16xf32>
  %y = "torch.aten.mm"(%h, %t) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

func.func @unread(%x: tensor<4x8xf32>, %W: tensor<8x2xf32> {es.param = #es.param<trainable "W">},
    %spare: tensor<8x2xf32> {es.param = #es.param<trainable "spare">},
    %side: tensor<8x2xf32> {es.param = #es.param<trainable "side">}) -> tensor<4x2xf32> {
  %y = "stablehlo.dot"(%x, %W) : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %unused = stablehlo.negate %side : tensor<8x2xf32>
  return %y : tensor<4x2xf32>
}
