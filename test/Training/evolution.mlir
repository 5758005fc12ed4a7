// RUN: es-opt --memory-report=json --graphs=es --entry=@toy --loss=sum --population=4 %s | FileCheck %s --check-prefix=SUNK
// RUN: es-opt --memory-report=json --graphs=es --entry=@named --loss=sum --population=4 %s | FileCheck %s --check-prefix=SUNK
// RUN: es-opt --memory-report=json --graphs=es --entry=@toy --loss=sum --population=4 --es-perturb=copy %s | FileCheck %s --check-prefix=COPY
// RUN: es-opt --memory-report=json --graphs=es --entry=@named --loss=sum --population=4 --es-perturb=copy %s | FileCheck %s --check-prefix=COPY
// RUN: es-opt --memory-report=json --graphs=es --entry=@toy --loss=sum --population=4 --es-in-flight=2 %s | FileCheck %s --check-prefix=FLIGHT
// RUN: es-opt --memory-report=json --graphs=es --entry=@named --loss=sum --population=4 --es-in-flight=2 %s | FileCheck %s --check-prefix=FLIGHT
// RUN: es-opt --memory-report=json --graphs=es --entry=@toy --loss=sum --population=5 --es-sampling=independent --es-in-flight=4 %s | FileCheck %s --check-prefix=REST
// RUN: es-opt --memory-report=json --graphs=es --entry=@toy --loss=sum --population=4 --es-optimizer=adam %s | FileCheck %s --check-prefix=ADAM
// RUN: es-opt --memory-report=json --graphs=es --entry=@named --loss=sum --population=4 --es-optimizer=momentum --freeze=W1 %s | FileCheck %s --check-prefix=FROZEN
// RUN: es-opt --memory-report=json --graphs=es --entry=@toy --loss=sum --population=4 --es-perturb=inplace %s | FileCheck %s --check-prefix=INPLACE
// RUN: es-opt --memory-report=json --graphs=es --entry=@named --loss=sum --population=4 --es-perturb=inplace %s | FileCheck %s --check-prefix=INPLACE
// RUN: es-opt --memory-report=json --graphs=es --entry=@toy --loss=sum --population=4 --es-perturb=low-rank %s | FileCheck %s --check-prefix=LOWRANK
// RUN: es-opt --memory-report=json --graphs=es --entry=@named --loss=sum --population=4 --es-perturb=low-rank %s | FileCheck %s --check-prefix=WHOLE
// RUN: es-opt --memory-report=json --graphs=es --entry=@toy --loss=sum --population=4 --es-perturb=low-rank --es-rank=3 %s | FileCheck %s --check-prefix=RANK3
// RUN: es-opt --memory-report=json --graphs=es --entry=@toy --loss=sum --population=4 --es-perturb=low-rank --es-in-flight=2 %s | FileCheck %s --check-prefix=PAIR
// RUN: es-opt --es-build-es-step='entry=toy loss=sum population=4' %s | FileCheck %s --check-prefix=IR
// RUN: es-opt --es-build-es-step='entry=named loss=sum population=4 es-perturb=copy es-in-flight=2' %s | FileCheck %s --check-prefix=IRCOPY

// Resident x 128, W1 512, W2 128 and the fitness 4*4 = 16: 784. At the first
// product W1' 512 and z 256: 784 + 768 = 1552.
// SUNK: "kind": "es"
// SUNK: "peak_bytes": 1552
// SUNK: "trainable_parameter": 640
// SUNK: "perturbation": 512
// SUNK: "temporary": 272

// At the second product W1' and W2' 640, r 256 and y 32: 784 + 928 = 1712.
// COPY: "peak_bytes": 1712
// COPY: "perturbation": 640

// In the parameters themselves: inference with the fitness, at the second product
// r 256 and y 32: 784 + 288 = 1072.
// INPLACE: "peak_bytes": 1072
// INPLACE: "trainable_parameter": 640
// INPLACE: "perturbation": 0
// INPLACE: these parameters drift: W1, W2

// At the second product r 256, the factors of W2 (16 + 2)*4 = 72, r times one of
// them 4*4 = 16, and y 32: 784 + 376 = 1160. (At the first, z 256, (8 + 16)*4 = 96
// and 16: 368.)
// LOWRANK: "peak_bytes": 1160
// LOWRANK: "perturbation": 72
// LOWRANK: "temporary": 320
// Of rank 3, at the first product z 256, 3*96 = 288 and 3*16 = 48: 784 + 592 = 1376.
// RANK3: "peak_bytes": 1376
// RANK3: "perturbation": 288
// A pair has one set of factors: at the second product 72 and twice 256 + 16 + 32:
// 784 + 72 + 608 = 1464.
// PAIR: "peak_bytes": 1464
// PAIR: "perturbation": 72
// A product that is known by name only has no correction: as sunk.
// WHOLE: "peak_bytes": 1552
// WHOLE: not only read by products, and so perturbed as a whole: W1, W2

// Two members have W1' and z each; weights and fitness are there once:
// 784 + 2*768 = 2320.
// FLIGHT: "peak_bytes": 2320
// FLIGHT: "perturbation": 1024
// Twice z, and the fitness.
// FLIGHT: "temporary": 528

// Four of five members, then the last: 768 + 5*4 + 4*768 = 3860.
// REST: "peak_bytes": 3860

// Two moments of 640 each; the update itself adds nothing: 1552 + 1280 = 2832.
// ADAM: "peak_bytes": 2832
// ADAM: "optimizer_state": 1280

// Momentum of W2 only, 128, resident 784 + 128 = 912. At the second product W2' 128,
// r 256 and y 32: 912 + 416 = 1328. No copy of W1.
// FROZEN: "peak_bytes": 1328
// FROZEN: "frozen_parameter": 512
// FROZEN: "optimizer_state": 128
// FROZEN: "perturbation": 128

// IR-LABEL: func.func @toy.es_step(
// IR-SAME: %[[X:[^:]*]]: tensor<4x8xf32>
// IR-SAME: %[[W1:[^:]*]]: tensor<8x16xf32> {bufferization.writable = true, es.param = #es.param<trainable "W1">}
// IR-SAME: %[[W2:[^:]*]]: tensor<16x2xf32> {bufferization.writable = true, es.param = #es.param<trainable "W2">}
// IR-SAME: %[[SEED:[^:]*]]: i64
// IR-SAME: %[[STEP:[^:]*]]: i64
// IR-SAME: -> (tensor<8x16xf32>, tensor<16x2xf32>, tensor<4xf32>)
// IR: %[[KEY:.*]] = es.step_key %[[SEED]], %[[STEP]]
// IR: %[[FITNESS:.*]] = scf.for %[[MEMBER:[^ ]*]] = {{.*}} iter_args(%[[ACC:.*]] = {{.*}}) -> (tensor<4xf32>)
// IR: %[[P1:.*]] = es.perturb normal16 %[[W1]] <trainable "W1"> into {{.*}} key(%[[KEY]]) member(%[[MEMBER]]) {antithetic
// IR-NEXT: linalg.matmul ins(%[[X]], %[[P1]]
// IR: linalg.generic
// IR: %[[P2:.*]] = es.perturb normal16 %[[W2]]
// IR-NEXT: linalg.matmul ins({{.*}}, %[[P2]]
// IR: %[[LOSS:.*]] = es.loss
// IR: %[[NUMBER:.*]] = tensor.extract %[[LOSS]][]
// IR: %[[NEXT:.*]] = tensor.insert %[[NUMBER]] into %[[ACC]][%[[MEMBER]]]
// IR: scf.yield %[[NEXT]]
// IR: %[[C:.*]], %[[N:.*]], %[[UNIT:.*]] = es.shape_fitness centered_rank minimize %[[FITNESS]] into {{.*}} {antithetic} : tensor<4xf32> into tensor<2xf32>
// IR: %[[NEW:.*]]:2 = es.update sgd minimize normal16 key(%[[KEY]]) weights(%[[C]], %[[N]], %[[UNIT]] : tensor<2xf32>) params(%[[W1]], %[[W2]]
// IR: return %[[NEW]]#0, %[[NEW]]#1, %[[FITNESS]]

// IRCOPY-LABEL: func.func @named.es_step(
// IRCOPY: scf.for
// IRCOPY: %[[P1:.*]] = es.perturb
// IRCOPY: %[[Q1:.*]] = es.perturb
// IRCOPY: %[[P2:.*]] = es.perturb
// IRCOPY: %[[Q2:.*]] = es.perturb
// IRCOPY: stablehlo.dot_general
// IRCOPY: es.release %[[P1]], %[[P2]]
// IRCOPY-NEXT: es.release %[[Q1]], %[[Q2]]
// IRCOPY: scf.yield
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
