// RUN: es-opt --split-input-file --verify-diagnostics --es-build-es-step=loss=sum %s
// RUN: es-opt --split-input-file --verify-diagnostics --es-build-es-step='loss=sum es-optimizer=adam' %S/Inputs/evolution-integers.mlir
// RUN: not es-opt --es-build-es-step=population=0 %s 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: es-build-es-step: --population expects a number from 1 to 1048576, got '0'
// RUN: not es-opt --es-build-es-step=population=5 %s 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: es-build-es-step: --population expects an even number, or --es-sampling=independent, got '5'
// RUN: not es-opt --es-build-es-step=es-perturb=lazy %s 2>&1 | FileCheck %s --check-prefix=MODE
// MODE: es-build-es-step: --es-perturb expects {{.*}}, got 'lazy'
// RUN: not es-opt --memory-report --es-in-flight=0 %s 2>&1 | FileCheck %s --check-prefix=FLIGHT
// FLIGHT: error: --es-in-flight expects a number from 1 to 1048576, got '0'
// RUN: not es-opt --memory-report --es-optimizer=lion %s 2>&1 | FileCheck %s --check-prefix=RULE
// RULE: error: --es-optimizer expects sgd, momentum, adam or adamw, got 'lion'
// RUN: not es-opt --memory-report --es-sampling=mirrored %s 2>&1 | FileCheck %s --check-prefix=SAMPLING
// SAMPLING: error: --es-sampling expects antithetic or independent, got 'mirrored'
// RUN: not es-opt --memory-report --es-sigma=-1 %s 2>&1 | FileCheck %s --check-prefix=SIGMA
// SIGMA: error: --es-sigma expects a positive number, got '-1'
// RUN: not es-opt --memory-report --es-lr=nan %s 2>&1 | FileCheck %s --check-prefix=RATE
// RATE: error: --es-lr expects a positive number, got 'nan'

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
