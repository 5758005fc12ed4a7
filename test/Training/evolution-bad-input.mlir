// RUN: es-opt --split-input-file --verify-diagnostics --es-build-es-step=loss=sum %s
// RUN: es-opt --split-input-file --verify-diagnostics --es-build-es-step='loss=sum es-optimizer=adam' %S/Inputs/evolution-integers.mlir
// RUN: not es-opt --es-build-es-step=population=0 %s 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: es-build-es-step: --population expects a number from 1 to 1048576, got '0'
// RUN: not es-opt --es-build-es-step=population=5 %s 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: es-build-es-step: --population expects an even number, or --es-sampling=independent, got '5'
// RUN: not es-opt --es-build-es-step=es-perturb=lazy %s 2>&1 | FileCheck %s --check-prefix=MODE
// MODE: es-build-es-step: --es-perturb expects {{.*}}, got 'lazy'
// RUN: not es-opt --memory-report --es-in-flight=0 %s 2>&1 | FileCheck %s --check-prefix=FLIGHT
// FLIGHT: error: --es-in-flight expects a number from 1 to 1024, got '0'
// RUN: not es-opt --memory-report --es-optimizer=lion %s 2>&1 | FileCheck %s --check-prefix=RULE
// RULE: error: --es-optimizer expects sgd, momentum, adam or adamw, got 'lion'
// RUN: not es-opt --memory-report --es-sampling=mirrored %s 2>&1 | FileCheck %s --check-prefix=SAMPLING
// SAMPLING: error: --es-sampling expects antithetic or independent, got 'mirrored'
// RUN: not es-opt --memory-report --es-sigma=-1 %s 2>&1 | FileCheck %s --check-prefix=SIGMA
// SIGMA: error: --es-sigma expects a positive number, got '-1'
// RUN: not es-opt --memory-report --es-lr=nan %s 2>&1 | FileCheck %s --check-prefix=RATE
// RATE: error: --es-lr expects a positive number, got 'nan'
// RUN: not es-opt --memory-report --es-noise=pink %s 2>&1 | FileCheck %s --check-prefix=NOISE
// NOISE: error: --es-noise expects one of normal16, normal32, rademacher, int8, uniform, got 'pink'
// RUN: not es-opt --memory-report --es-shaping=rank %s 2>&1 | FileCheck %s --check-prefix=SHAPING
// SHAPING: error: --es-shaping expects one of centered_rank, zscore, sign, raw, got 'rank'
// RUN: not es-opt --memory-report --es-direction=down %s 2>&1 | FileCheck %s --check-prefix=DIRECTION
// DIRECTION: error: --es-direction expects one of maximize, minimize, got 'down'
// RUN: not es-opt --memory-report --es-nan=ignore %s 2>&1 | FileCheck %s --check-prefix=POLICY
// POLICY: error: --es-nan expects one of error, worst, drop, got 'ignore'
// RUN: not es-opt --memory-report --es-rounding=up %s 2>&1 | FileCheck %s --check-prefix=ROUNDING
// ROUNDING: error: --es-rounding expects one of nearest, stochastic, compensated, master, got 'up'
// RUN: not es-opt --memory-report --es-fixed=up %s 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED: error: --es-fixed expects one of nearest, stochastic, threshold, error_feedback, got 'up'
// RUN: not es-opt --memory-report --es-perturb=low-rank --es-rank=0 %s 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: error: --es-rank expects a number from 1 to 4096, got '0'
// RUN: not es-opt --memory-report --es-perturb=inplace --es-in-flight=2 %s 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: error: --es-perturb=inplace expects --es-in-flight=1, got '2'

// expected-error @below {{no trainable parameter; name some with '--train'}}
func.func @nothing_trainable(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{no trainable parameter; name some with '--train'}}
func.func @no_noise(%x: tensor<4xf32>, %w: tensor<4xi64> {es.param = #es.param<trainable "w">}) -> tensor<4xf32> {
  %f = arith.sitofp %w : tensor<4xi64> to tensor<4xf32>
  %y = arith.mulf %x, %f : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{the loss depends on no trainable parameter}}
func.func @no_path(%x: tensor<4xf32>, %w: tensor<4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// No gradient passes here, but fitness does.
func.func @steps(%x: tensor<4xf32>, %w: tensor<4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4xf32> {
  %y = math.floor %w : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{a training step expects a function of one block}}
func.func @blocks(%x: tensor<4xf32>, %w: tensor<4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4xf32> {
  cf.br ^next
^next:
  %y = arith.mulf %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}
