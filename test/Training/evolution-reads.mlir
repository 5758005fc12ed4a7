// RUN: es-opt --memory-report=json --graphs=es --population=4 --entry=@rows %s | FileCheck %s --check-prefix=ROWS
// RUN: es-opt --memory-report=json --graphs=es --population=4 --entry=@layers %s | FileCheck %s --check-prefix=LAYERS
// RUN: es-opt --memory-report=json --graphs=es --population=4 --entry=@layers --es-perturb=copy %s | FileCheck %s --check-prefix=COPY
// RUN: es-opt --memory-report=json --graphs=es --population=4 --entry=@scanned %s | FileCheck %s --check-prefix=SCANNED
// RUN: es-opt --memory-report=json --graphs=es --population=4 --entry=@kept %s | FileCheck %s --check-prefix=KEPT
// RUN: es-opt --memory-report=json --graphs=es --population=4 --entry=@turned %s | FileCheck %s --check-prefix=TURNED

// Of what foreign dialects take of a parameter, that is perturbed: as the model
// is where it runs, lowered. The bytes are the largest perturbed tensors at the peak.

// Five rows of 16 floats of a table of 1000, in their own memory: 320, until
// the product has read them.
// ROWS: "perturbation": 320
func.func @rows(%ids: tensor<5xi64>, %table: tensor<1000x16xf32> {es.param = #es.param<trainable "table">}) -> tensor<f32> {
  %rows = "torch.aten.embedding"(%table, %ids) : (tensor<1000x16xf32>, tensor<5xi64>) -> tensor<5x16xf32>
  %square = "torch.aten.mm"(%rows, %rows) {transposed = true} : (tensor<5x16xf32>, tensor<5x16xf32>) -> tensor<5x5xf32>
  %loss = "torch.aten.sum"(%square) : (tensor<5x5xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// A layer of 8 x 8 floats at a time, although a view of the stack is no memory: 256.
// A copy is of both layers: 512.
// LAYERS: "perturbation": 256
// COPY: "perturbation": 512
func.func @layers(%x: tensor<8x8xf32>, %stack: tensor<2x8x8xf32> {es.param = #es.param<trainable "stack">}) -> tensor<f32> {
  %w0 = "torch.aten.select.int"(%stack) {dim = 0 : i64, index = 0 : i64} : (tensor<2x8x8xf32>) -> tensor<8x8xf32>
  %h = "torch.aten.mm"(%x, %w0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %w1 = "torch.aten.select.int"(%stack) {dim = 0 : i64, index = 1 : i64} : (tensor<2x8x8xf32>) -> tensor<8x8xf32>
  %y = "torch.aten.mm"(%h, %w1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %loss = "torch.aten.sum"(%y) : (tensor<8x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// A loop that hands the stack on as it is: a layer of 4 x 4 floats inside, 64, in the
// memory of the slice.
// SCANNED: "perturbation": 64
func.func @scanned(%x: tensor<4x4xf32>, %stack: tensor<3x4x4xf32> {es.param = #es.param<trainable "stack">}) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0:3 = stablehlo.while(%i = %zero, %h = %x, %w = %stack) : tensor<i32>, tensor<4x4xf32>, tensor<3x4x4xf32>
   cond {
    %c = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 4, 4] : (tensor<3x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %l = stablehlo.reshape %s : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %p = stablehlo.dot_general %h, %l, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %p, %w : tensor<i32>, tensor<4x4xf32>, tensor<3x4x4xf32>
  }
  %loss = stablehlo.reduce(%0#1 init: %init) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// Where the loop's result is read as well, it has to be perturbed whole: 3 x 64.
// KEPT: "perturbation": 192
func.func @kept(%x: tensor<4x4xf32>, %stack: tensor<3x4x4xf32> {es.param = #es.param<trainable "stack">}) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.while(%i = %zero, %w = %stack) : tensor<i32>, tensor<3x4x4xf32>
   cond {
    %c = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %w : tensor<i32>, tensor<3x4x4xf32>
  }
  %loss = stablehlo.reduce(%0#1 init: %init) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<3x4x4xf32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// A transposed copy is perturbed where it is: 6 x 8 floats once, 192. Beside it are
// the parameter, 192, x, 128, the product, 96, and the fitness, 16: 624.
// TURNED: "peak_bytes": 624,
// TURNED: "perturbation": 192
func.func @turned(%x: tensor<4x8xf32>, %w: tensor<6x8xf32> {es.param = #es.param<trainable "w">}) -> tensor<f32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
  %y = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %loss = stablehlo.reduce(%y init: %init) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
