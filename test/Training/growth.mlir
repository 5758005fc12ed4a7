// RUN: es-opt --memory-report --graphs=backprop --entry=@f --loss=sum --optimizer-impl=loop %s | FileCheck %s --check-prefix=DYNAMIC
// RUN: es-opt --memory-report --graphs=backprop --entry=@f --loss=sum --optimizer-impl=loop --shape=x:16x8 %s | FileCheck %s --check-prefix=STATIC
// RUN: es-opt --memory-report --graphs=backprop --entry=@f --loss=sum --optimizer-impl=loop --shape=x:32x8 %s | FileCheck %s --check-prefix=LARGE

// y = x W: for a batch of b, x is 32 b bytes, y 16 b, W 8*4*4 = 128, its gradient as
// much, its two states 256, the temporaries of an update twice 128, the loss 4.
// At the gradient: 128 + 256 + 32 b + 16 b (the cotangent of y) + 4 + 128 = 516 + 48 b.
// At the update: 128 + 256 + 32 b + 4 + 128 + 256 = 772 + 32 b, more up to b = 16.
// DYNAMIC: growth: batch = 1: the peak grows by 32 B for each more, from 16 on by 48 B; at least 772 B whatever its size
// At 16 both are the peak, and the next one costs 48. Twice the size is
// 516 + 48 * 32 = 2052, three times 2820; at 32 they are 3588 and 5124. The other
// dimension of x cannot grow without W.
// STATIC-NOT: growth: x.1
// STATIC: growth: batch, x.0 = 16: the peak grows by 48 B for each more; at least 772 B whatever its size; 2052 B (2.0 KiB) at 32, 2820 B (2.8 KiB) at 48
// STATIC-NOT: growth: x.1
// LARGE: growth: batch, x.0 = 32: the peak grows by 48 B for each more; at least 772 B whatever its size; 3588 B (3.5 KiB) at 64, 5124 B (5.0 KiB) at 96
func.func @f(%x: tensor<?x8xf32> loc("x"), %W: tensor<8x4xf32> {es.param = #es.param<trainable "W">}) -> tensor<?x4xf32> {
  %y = "stablehlo.dot"(%x, %W) : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// RUN: es-opt --memory-report=json --graphs=backprop --entry=@f --loss=sum --optimizer-impl=loop --shape=x:8x8 %s | FileCheck %s --check-prefix=JSON
// JSON: "growth": [
// JSON-NEXT: {
// JSON-NEXT: "dimensions": [
// JSON-NEXT: "x.0"
// JSON-NEXT: ],
// JSON-NEXT: "size": 8,
// JSON-NEXT: "is_batch": true,
// JSON-NEXT: "exact": true,
// JSON-NEXT: "peaks": [
// JSON: "size": 8,
// JSON-NEXT: "peak_bytes": 1028
// JSON: "size": 16,
// JSON-NEXT: "peak_bytes": 1284
// JSON: "size": 24,
// JSON-NEXT: "peak_bytes": 1668
// JSON: "next_bytes": 32,
// JSON-NEXT: "square_bytes": 0,
// JSON-NEXT: "floor_bytes": 772,
// JSON-NEXT: "changes_at": 16,
// JSON-NEXT: "next_bytes_there": 48

// A batch of 1 is a dimension like all others of one element: what depends on an
// input is taken to grow with it. At the gradient 516 + 48, at the update 772 + 32.
// RUN: es-opt --memory-report --graphs=backprop --entry=@f --loss=sum --optimizer-impl=loop --shape=x:1x8 %s | FileCheck %s --check-prefix=ONE
// ONE: growth, if all that depends on inputs scales with their leading dimension (1): the peak grows by 32 B for each more, from 16 on by 48 B; at least 772 B whatever its size

// A loop over the rows of x would need more iterations.
// RUN: es-opt --memory-report --graphs=backprop --entry=@rows --loss=sum %s | FileCheck %s --check-prefix=ROWS
// ROWS: growth: x.1 = 6: not known, as stablehlo.dynamic_slice at {{.*}}:[[#@LINE+11]]:10 takes a part of it in a loop
func.func @rows(%x: tensor<4x6x8xf32> loc("x"), %W: tensor<8x8xf32> {es.param = #es.param<trainable "W">}) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %h = stablehlo.constant dense<0.0> : tensor<4x8xf32>
  %r:2 = stablehlo.while(%i = %zero, %c = %h) : tensor<i32>, tensor<4x8xf32>
  cond {
    %more = stablehlo.compare LT, %i, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %s = stablehlo.dynamic_slice %x, %zero, %i, %zero, sizes = [4, 1, 8] : (tensor<4x6x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x1x8xf32>
    %t = stablehlo.reshape %s : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
    %a = stablehlo.add %t, %c : tensor<4x8xf32>
    %d = stablehlo.dot_general %a, %W, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %n = stablehlo.tanh %d : tensor<4x8xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %n : tensor<i32>, tensor<4x8xf32>
  }
  return %r#1 : tensor<4x8xf32>
}
