// z = x U with U trained, r = z F with F frozen, y = r W with W trained: r
// (4*16*4 = 256) is kept for W's gradient, z is not kept for F's.
func.func @frozen_weight(%x: tensor<4x8xf32>, %U: tensor<8x16xf32> {es.param = #es.param<trainable "U">},
    %F: tensor<16x16xf32> {es.param = #es.param<frozen "F">},
    %W: tensor<16x2xf32> {es.param = #es.param<trainable "W">}) -> tensor<4x2xf32> {
  %z = "stablehlo.dot"(%x, %U) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %r = "stablehlo.dot"(%z, %F) : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %y = "stablehlo.dot"(%r, %W) : (tensor<4x16xf32>, tensor<16x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
