// expected-error @below {{parameter 'w' has integer elements, which --es-optimizer=adam cannot update; sgd can}}
func.func @integers(%x: tensor<4xf32>, %w: tensor<4xi8> {es.param = #es.param<trainable "w">}) -> tensor<4xf32> {
  %f = arith.sitofp %w : tensor<4xi8> to tensor<4xf32>
  %y = arith.mulf %x, %f : tensor<4xf32>
  return %y : tensor<4xf32>
}
