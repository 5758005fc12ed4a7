// A layer as TOSA has it: a batch of one matrix.
func.func @tosa(%x: tensor<1x5x40xf32>, %W: tensor<40x6xf32> {es.param = #es.param<trainable "W">}) -> tensor<1x5x6xf32> {
  %shape = tosa.const_shape {values = dense<[1, 40, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %w = tosa.reshape %W, %shape : (tensor<40x6xf32>, !tosa.shape<3>) -> tensor<1x40x6xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %y = tosa.matmul %x, %w, %z, %z : (tensor<1x5x40xf32>, tensor<1x40x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x6xf32>
  %t = tosa.tanh %y : (tensor<1x5x6xf32>) -> tensor<1x5x6xf32>
  return %t : tensor<1x5x6xf32>
}
func.func @tosa.batch(%seed: i64, %step: i64) -> tensor<1x5x40xf32> {
  %x = arith.constant dense<0.5> : tensor<1x5x40xf32>
  return %x : tensor<1x5x40xf32>
}
