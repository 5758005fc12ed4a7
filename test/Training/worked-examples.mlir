// RUN: es-opt --memory-report=json --graphs=backprop --entry=@toy --loss=sum --optimizer=sgd %s | FileCheck %s --check-prefix=SGD
// RUN: es-opt --memory-report=json --graphs=backprop --entry=@named --loss=sum --optimizer=sgd %s | FileCheck %s --check-prefix=SGD
// RUN: es-opt --memory-report=json --graphs=backprop --entry=@toy --loss=sum %s | FileCheck %s --check-prefix=FUSED
// RUN: es-opt --memory-report=json --graphs=backprop --entry=@toy --loss=sum --memory-model=fused %s | FileCheck %s --check-prefix=FUSED
// RUN: es-opt --memory-report=json --graphs=backprop --entry=@toy --loss=sum --optimizer-impl=loop %s | FileCheck %s --check-prefix=LOOP
// RUN: es-opt --memory-report=json --graphs=backprop --entry=@toy --loss=sum --optimizer-impl=foreach %s | FileCheck %s --check-prefix=EACH1
// RUN: es-opt --memory-report=json --graphs=backprop --entry=@toy --loss=sum --optimizer-impl=foreach --optimizer-temporaries=2 %s | FileCheck %s --check-prefix=EACH2
// RUN: es-opt --memory-report=json --graphs=backprop --entry=@toy --loss=sum --freeze=W1 %s | FileCheck %s --check-prefix=FROZEN
// RUN: es-opt --memory-report=json --graphs=backprop --entry=@named --loss=sum --freeze=W1 %s | FileCheck %s --check-prefix=FROZEN
// RUN: es-opt --memory-report=json --graphs=backprop --entry=@toy --loss=sum --freeze=W1 --memory-model=eager %s | FileCheck %s --check-prefix=EAGER
// RUN: es-opt --memory-report=json --graphs=backprop --entry=@fan_out --loss=sum --optimizer=sgd %s | FileCheck %s --check-prefix=FAN

// Resident R: x 4*8*4 = 128, W1 8*16*4 = 512, W2 16*2*4 = 128: 768. Above it:
// second product r 256 + y 32; loss 256 + 32 + 4; dW2 reads r and dy:
// 256 + 4 + 32 + 128 = 420; dr 420 + 256 = 676 (dy is needed until here); the
// relu's gradient takes over dr: 256 (r) + 256 + 4 + 128 = 644; dW1 reads x and
// dz: 4 + 256 + 128 + 512 = 900; the updates 4 + 128 + 512 = 644.
// 768 + 900 = 1668, of which dz (in the memory of the saved r or of dr) 256.
// SGD: "peak_bytes": 1668
// SGD: "name": "es.vjp"
// SGD: "gradient": 640
// SGD: "optimizer_state": 0

// Two moments in f32 of 640 bytes of parameters: 1280 more at every point:
// 1668 + 1280 = 2948.
// FUSED: "peak_bytes": 2948
// FUSED: "optimizer_state": 1280
// The update of W1 in two copies of it: 768 + 1280 + 4 + 640 + 2*512 = 3716.
// LOOP: "peak_bytes": 3716
// LOOP: "name": "es.optimizer_step"
// In one copy of all parameters 2048 + 4 + 640 + 640 = 3332, in two 3972.
// EACH1: "peak_bytes": 3332
// EACH2: "peak_bytes": 3972

// W1 frozen: states of W2 only, 256; at dW2 420: 768 + 256 + 420 = 1444. No dr
// and no dz, so nothing is larger.
// FROZEN: "peak_bytes": 1444
// FROZEN: "frozen_parameter": 512
// FROZEN: "gradient": 128
// Eagerly z and r are both there at the relu: 768 + 256 + 512 = 1536.
// EAGER: "peak_bytes": 1536
// EAGER: "gradient": 0
func.func @toy(%x: tensor<4x8xf32>, %W1: tensor<8x16xf32> {es.param = #es.param<trainable "W1">},
               %W2: tensor<16x2xf32> {es.param = #es.param<trainable "W2">}) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<4x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %z = linalg.matmul ins(%x, %W1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %e2 = tensor.empty() : tensor<4x16xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<4x16xf32>) outs(%e2 : tensor<4x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4x16xf32>
  %e3 = tensor.empty() : tensor<4x2xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.matmul ins(%r, %W2 : tensor<4x16xf32>, tensor<16x2xf32>) outs(%f3 : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// The same in a dialect that is known by name only.
func.func @named(%x: tensor<4x8xf32>, %W1: tensor<8x16xf32> {es.param = #es.param<trainable "W1">},
                 %W2: tensor<16x2xf32> {es.param = #es.param<trainable "W2">}) -> tensor<4x2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<4x16xf32>
  %z = stablehlo.dot_general %x, %W1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %r = stablehlo.maximum %z, %zero : tensor<4x16xf32>
  %y = stablehlo.dot_general %r, %W2, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// x and W 8*8*4 = 256 each. h = x W stays for the sum, r is kept for the relu's
// gradient, which takes r's place, since the cotangent of the sum is a splat
// that needs no memory; the other arrival is added there in place: 512 + 4 +
// 256; then dW beside it: 512 + 4 + 256 + 256 = 1028.
// FAN: "peak_bytes": 1028
func.func @fan_out(%x: tensor<8x8xf32>, %W: tensor<8x8xf32> {es.param = #es.param<trainable "W">}) -> tensor<8x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %h = stablehlo.dot_general %x, %W, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = stablehlo.maximum %h, %zero : tensor<8x8xf32>
  %y = stablehlo.add %h, %r : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
