// RUN: es-opt --memory-report=json --graphs=backprop --loss=sum --optimizer=sgd --checkpoint=blocks --entry=@given %s | FileCheck %s --check-prefix=GIVEN
// RUN: es-opt --memory-report=json --graphs=backprop --loss=sum --optimizer=sgd --checkpoint=blocks --entry=@one %s | FileCheck %s --check-prefix=ONE
// RUN: es-opt --pass-pipeline="builtin.module(es-build-training-graph{loss=sum optimizer=sgd checkpoint=blocks entry=@given})" %s | FileCheck %s --check-prefix=IR
// RUN: es-opt --pass-pipeline="builtin.module(es-build-training-graph{loss=sum optimizer=sgd checkpoint=blocks entry=@random})" %s | FileCheck %s --check-prefix=RANDOM

// A block begins where the file says so, even if there is no product in it: the
// one between the last two barriers has none.
// GIVEN: "checkpoint blocks: 4 blocks, saves

// What enters the first block is the argument: it is evaluated again from that,
// behind the gradients of the others.
// IR-LABEL: func.func @given.training_step
// IR: es.vjp contraction "stablehlo.dot" {{.*}}"w2"
// IR: %[[A0:.*]] = "stablehlo.dot"(%arg0, %arg1)
// IR-NEXT: %[[B0:.*]] = "stablehlo.tanh"(%[[A0]])
// IR-NEXT: es.vjp elementwise "stablehlo.tanh" saved(result 0 = %[[B0]])
// IR-NEXT: es.vjp contraction "stablehlo.dot" saved(operand 0 = %arg0)
func.func @given(%x: tensor<4x8xf32>, %w0: tensor<8x8xf32> {es.param = #es.param<trainable "w0">}, %w1: tensor<8x8xf32> {es.param = #es.param<trainable "w1">}, %w2: tensor<8x8xf32> {es.param = #es.param<trainable "w2">}) -> tensor<4x8xf32> {
  %a0 = "stablehlo.dot"(%x, %w0) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b0 = stablehlo.tanh %a0 : tensor<4x8xf32>
  %c0 = stablehlo.optimization_barrier %b0 : tensor<4x8xf32>
  %a1 = "stablehlo.dot"(%c0, %w1) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b1 = stablehlo.tanh %a1 : tensor<4x8xf32>
  %b2 = stablehlo.tanh %b1 : tensor<4x8xf32>
  %c1 = stablehlo.optimization_barrier %b2 : tensor<4x8xf32>
  %b3 = stablehlo.tanh %c1 : tensor<4x8xf32>
  %c2 = stablehlo.optimization_barrier %b3 : tensor<4x8xf32>
  %a2 = "stablehlo.dot"(%c2, %w2) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b4 = stablehlo.tanh %a2 : tensor<4x8xf32>
  return %b4 : tensor<4x8xf32>
}

// A single product is a single block: nothing to evaluate again.
// ONE: "checkpoint blocks: 1 block, saves 0 B (keeps 128 B of activations, all are 128 B), recomputes 0 operations (0.0 % of the forward work)"
func.func @one(%x: tensor<4x8xf32>, %w0: tensor<8x8xf32> {es.param = #es.param<trainable "w">}) -> tensor<4x8xf32> {
  %a = "stablehlo.dot"(%x, %w0) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = stablehlo.tanh %a : tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// Other random numbers would give another gradient: they are kept.
// RANDOM-LABEL: func.func @random.training_step
// RANDOM: %[[N:.*]] = "stablehlo.rng"
// RANDOM-NOT: stablehlo.rng
// RANDOM: "stablehlo.multiply"({{.*}}, %[[N]])
// RANDOM-NOT: stablehlo.rng
// RANDOM: return
func.func @random(%x: tensor<4x8xf32>, %w0: tensor<8x8xf32> {es.param = #es.param<trainable "r0">}, %w1: tensor<8x8xf32> {es.param = #es.param<trainable "r1">}) -> tensor<4x8xf32> {
  %lo = stablehlo.constant dense<0.0> : tensor<f32>
  %hi = stablehlo.constant dense<1.0> : tensor<f32>
  %shape = stablehlo.constant dense<[4, 8]> : tensor<2xi64>
  %a0 = "stablehlo.dot"(%x, %w0) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %n = "stablehlo.rng"(%lo, %hi, %shape) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x8xf32>
  %b0 = stablehlo.multiply %a0, %n : tensor<4x8xf32>
  %c0 = stablehlo.tanh %b0 : tensor<4x8xf32>
  %a1 = "stablehlo.dot"(%c0, %w1) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %a1 : tensor<4x8xf32>
}
