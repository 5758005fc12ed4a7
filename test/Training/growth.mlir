// RUN: es-opt --memory-report --graphs=backprop --entry=@f --loss=sum --optimizer-impl=loop %s | FileCheck %s --check-prefix=DYNAMIC
// RUN: es-opt --memory-report --graphs=backprop --entry=@f --loss=sum --optimizer-impl=loop --shape=x:16x8 %s | FileCheck %s --check-prefix=STATIC
// RUN: es-opt --memory-report --graphs=backprop --entry=@f --loss=sum --optimizer-impl=loop --shape=x:32x8 %s | FileCheck %s --check-prefix=LARGE

// y = x W: for a batch of b, x is 32 b bytes, y 16 b, W 8*4*4 = 128, its gradient as
// much, its two states 256, the temporaries of an update twice 128, the loss 4.
// At the gradient: 128 + 256 + 32 b + 16 b (the cotangent of y) + 4 + 128 = 516 + 48 b.
// At the update: 128 + 256 + 32 b + 4 + 128 + 256 = 772 + 32 b, more up to b = 16.
// DYNAMIC: growth: batch 1 the peak grows by 32 B for each more, from 16 on by 48 B; at least 772 B whatever its size
// At 16 both are the peak, and the next one costs 48.
// STATIC: growth, if all that depends on inputs scales with their leading dimension: at 16 the peak grows by 48 B for each more; at least 772 B whatever its size
// LARGE: growth, if all that depends on inputs scales with their leading dimension: at 32 the peak grows by 48 B for each more; at least 772 B whatever its size
func.func @f(%x: tensor<?x8xf32> loc("x"), %W: tensor<8x4xf32> {es.param = #es.param<trainable "W">}) -> tensor<?x4xf32> {
  %y = "stablehlo.dot"(%x, %W) : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
