// The worked example of a recurrent network: h, W and x of 4*4*4 = 64 bytes each,
// three trips. h is given away, so the loop carries it in its own memory; the
// product cannot be written over h, which it reads, so the new h is a second
// buffer: 64 h + 64 W + 64 x + 64 new = 256. Adding x and the tanh are in place.
// RUN: es-opt --memory-report=json --top=0 --graphs=inference %s | FileCheck %s --check-prefix=REPORT
// RUN: test-es-run %s | FileCheck %s
// REPORT: "peak_bytes": 256
// CHECK: @rnn: predicted 256, counted 256, equal, values equal
func.func @rnn(%h0: tensor<4x4xf32> {bufferization.writable = true}, %w: tensor<4x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {test.run} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %h = scf.for %i = %c0 to %c3 step %c1 iter_args(%old = %h0) -> (tensor<4x4xf32>) {
    %e = tensor.empty() : tensor<4x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %p = linalg.matmul ins(%old, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = arith.addf %p, %x : tensor<4x4xf32>
    %new = math.tanh %s : tensor<4x4xf32>
    scf.yield %new : tensor<4x4xf32>
  }
  return %h : tensor<4x4xf32>
}
