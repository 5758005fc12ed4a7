// Gradients of structured ops, tensor ops, control flow, and of whole models, executed.
// RUN: %python %S/Inputs/gen_gradients.py > %t.mlir
// RUN: %python %S/Inputs/gradients.py es-opt %llvm_bin %t.mlir --loss=mse | FileCheck %s --check-prefix=ELEMENTWISE
// RUN: %python %S/Inputs/gradients.py es-opt %llvm_bin %s --loss=mse | FileCheck %s
// RUN: %python %S/Inputs/gradients.py es-opt %llvm_bin %S/Inputs/models.mlir | FileCheck %s --check-prefix=MODELS
// RUN: %python %S/Inputs/gradients.py es-opt %llvm_bin %S/Inputs/models.mlir --freeze=w1,b1,attn.[qk],ln.w,cn.k,lstm.wh | FileCheck %s --check-prefix=MODELS

// ELEMENTWISE: 37 functions, 0 different
// CHECK: 28 functions, 0 different
// MODELS: 5 functions, 0 different

#id = affine_map<(i, j) -> (i, j)>
#tr = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>

func.func @matmul(%a: tensor<3x4xf64> {es.param = #es.param<trainable "matmul.a">}, %b: tensor<4x2xf64> {es.param = #es.param<trainable "matmul.b">}) -> tensor<3x2xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3x2xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<3x2xf64>) -> tensor<3x2xf64>
  %y = linalg.matmul ins(%a, %b : tensor<3x4xf64>, tensor<4x2xf64>) outs(%f : tensor<3x2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

// The bias is where the sums start.
func.func @matmul_bias(%a: tensor<3x4xf64>, %b: tensor<4x2xf64> {es.param = #es.param<trainable "mb.b">}, %c: tensor<3x2xf64> {es.param = #es.param<trainable "mb.c">}) -> tensor<3x2xf64> {
  %y = linalg.matmul ins(%a, %b : tensor<3x4xf64>, tensor<4x2xf64>) outs(%c : tensor<3x2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @batch_matmul(%a: tensor<2x3x4xf64> {es.param = #es.param<trainable "bm.a">}, %b: tensor<2x4x2xf64> {es.param = #es.param<trainable "bm.b">}) -> tensor<2x3x2xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x3x2xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<2x3x2xf64>) -> tensor<2x3x2xf64>
  %y = linalg.batch_matmul ins(%a, %b : tensor<2x3x4xf64>, tensor<2x4x2xf64>) outs(%f : tensor<2x3x2xf64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @convolution(%x: tensor<1x5x5x2xf64> {es.param = #es.param<trainable "conv.x">}, %k: tensor<3x3x2x3xf64> {es.param = #es.param<trainable "conv.k">}) -> tensor<1x3x3x3xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x3x3x3xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<1x3x3x3xf64>) -> tensor<1x3x3x3xf64>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x5x5x2xf64>, tensor<3x3x2x3xf64>) outs(%f : tensor<1x3x3x3xf64>) -> tensor<1x3x3x3xf64>
  return %y : tensor<1x3x3x3xf64>
}

func.func @strided_convolution(%x: tensor<1x7x7x2xf64> {es.param = #es.param<trainable "sconv.x">}, %k: tensor<3x3x2x3xf64> {es.param = #es.param<trainable "sconv.k">}) -> tensor<1x3x3x3xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x3x3x3xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<1x3x3x3xf64>) -> tensor<1x3x3x3xf64>
  %y = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%x, %k : tensor<1x7x7x2xf64>, tensor<3x3x2x3xf64>) outs(%f : tensor<1x3x3x3xf64>) -> tensor<1x3x3x3xf64>
  return %y : tensor<1x3x3x3xf64>
}

func.func @max_pool(%x: tensor<1x4x4x2xf64> {es.param = #es.param<trainable "maxpool.x">}) -> tensor<1x2x2x2xf64> {
  %low = arith.constant -1.0e30 : f64
  %e = tensor.empty() : tensor<1x2x2x2xf64>
  %f = linalg.fill ins(%low : f64) outs(%e : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  %w = tensor.empty() : tensor<2x2xf64>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x4x4x2xf64>, tensor<2x2xf64>) outs(%f : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  return %y : tensor<1x2x2x2xf64>
}

func.func @sum_pool(%x: tensor<1x4x4x2xf64> {es.param = #es.param<trainable "sumpool.x">}) -> tensor<1x3x3x2xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x3x3x2xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<1x3x3x2xf64>) -> tensor<1x3x3x2xf64>
  %w = tensor.empty() : tensor<2x2xf64>
  %y = linalg.pooling_nhwc_sum ins(%x, %w : tensor<1x4x4x2xf64>, tensor<2x2xf64>) outs(%f : tensor<1x3x3x2xf64>) -> tensor<1x3x3x2xf64>
  return %y : tensor<1x3x3x2xf64>
}

func.func @softmax(%x: tensor<3x5xf64> {es.param = #es.param<trainable "softmax.x">}) -> tensor<3x5xf64> {
  %e = tensor.empty() : tensor<3x5xf64>
  %y = linalg.softmax dimension(1) ins(%x : tensor<3x5xf64>) outs(%e : tensor<3x5xf64>) -> tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}

func.func @transpose(%x: tensor<3x4xf64> {es.param = #es.param<trainable "transpose.x">}) -> tensor<4x3xf64> {
  %e = tensor.empty() : tensor<4x3xf64>
  %y = linalg.transpose ins(%x : tensor<3x4xf64>) outs(%e : tensor<4x3xf64>) permutation = [1, 0]
  return %y : tensor<4x3xf64>
}

func.func @broadcast(%x: tensor<4xf64> {es.param = #es.param<trainable "broadcast.x">}) -> tensor<3x4xf64> {
  %e = tensor.empty() : tensor<3x4xf64>
  %y = linalg.broadcast ins(%x : tensor<4xf64>) outs(%e : tensor<3x4xf64>) dimensions = [0]
  return %y : tensor<3x4xf64>
}

// The scale is broadcast, the squares are summed.
func.func @scaled_squares(%x: tensor<3x4xf64> {es.param = #es.param<trainable "squares.x">}, %s: tensor<4xf64> {es.param = #es.param<trainable "squares.s">}) -> tensor<3xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %y = linalg.generic {indexing_maps = [#id, #col, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %s : tensor<3x4xf64>, tensor<4xf64>) outs(%f : tensor<3xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %sq = arith.mulf %a, %a : f64
    %p = arith.mulf %sq, %b : f64
    %q = arith.addf %out, %p : f64
    linalg.yield %q : f64
  } -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @row_maximum(%x: tensor<3x4xf64> {es.param = #es.param<trainable "rowmax.x">}) -> tensor<3xf64> {
  %low = arith.constant -1.0e30 : f64
  %e = tensor.empty() : tensor<3xf64>
  %f = linalg.fill ins(%low : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %y = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x4xf64>) outs(%f : tensor<3xf64>) {
  ^bb0(%a: f64, %out: f64):
    %q = arith.maximumf %out, %a : f64
    linalg.yield %q : f64
  } -> tensor<3xf64>
  return %y : tensor<3xf64>
}

// 1 / (1 + exp(-x)), times x, transposed in passing.
func.func @silu_transposed(%x: tensor<3x4xf64> {es.param = #es.param<trainable "silu.x">}) -> tensor<4x3xf64> {
  %one = arith.constant 1.0 : f64
  %e = tensor.empty() : tensor<4x3xf64>
  %y = linalg.generic {indexing_maps = [#tr, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xf64>) outs(%e : tensor<4x3xf64>) {
  ^bb0(%a: f64, %out: f64):
    %n = arith.negf %a : f64
    %x1 = math.exp %n : f64
    %d = arith.addf %x1, %one : f64
    %s = arith.divf %one, %d : f64
    %q = arith.mulf %a, %s : f64
    linalg.yield %q : f64
  } -> tensor<4x3xf64>
  return %y : tensor<4x3xf64>
}

func.func @logistic(%x: tensor<3x4xf64> {es.param = #es.param<trainable "logistic.x">}) -> tensor<3x4xf64> {
  %one = arith.constant 1.0 : f64
  %e = tensor.empty() : tensor<3x4xf64>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xf64>) outs(%e : tensor<3x4xf64>) {
  ^bb0(%a: f64, %out: f64):
    %n = arith.negf %a : f64
    %x1 = math.exp %n : f64
    %d = arith.addf %one, %x1 : f64
    %s = arith.divf %one, %d : f64
    linalg.yield %s : f64
  } -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

func.func @slices(%x: tensor<4x6xf64> {es.param = #es.param<trainable "slices.x">}, %w: tensor<2x3xf64> {es.param = #es.param<trainable "slices.w">}, %i: index) -> tensor<2x3xf64> {
  %s = tensor.extract_slice %x[%i, 2] [2, 3] [1, 1] : tensor<4x6xf64> to tensor<2x3xf64>
  %y = arith.mulf %s, %w : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @insertion(%x: tensor<4x6xf64> {es.param = #es.param<trainable "insertion.x">}, %w: tensor<2x3xf64> {es.param = #es.param<trainable "insertion.w">}) -> tensor<4x6xf64> {
  %a = math.exp %x : tensor<4x6xf64>
  %b = math.exp %w : tensor<2x3xf64>
  %y = tensor.insert_slice %b into %a[1, 2] [2, 3] [1, 1] : tensor<2x3xf64> into tensor<4x6xf64>
  return %y : tensor<4x6xf64>
}

func.func @reshapes(%x: tensor<4x6xf64> {es.param = #es.param<trainable "reshapes.x">}) -> tensor<4x6xf64> {
  %a = tensor.collapse_shape %x [[0, 1]] : tensor<4x6xf64> into tensor<24xf64>
  %b = math.exp %a : tensor<24xf64>
  %c = tensor.expand_shape %b [[0, 1, 2]] output_shape [2, 3, 4] : tensor<24xf64> into tensor<2x3x4xf64>
  %d = math.sin %c : tensor<2x3x4xf64>
  %e = tensor.collapse_shape %d [[0, 1, 2]] : tensor<2x3x4xf64> into tensor<24xf64>
  %y = tensor.expand_shape %e [[0, 1]] output_shape [4, 6] : tensor<24xf64> into tensor<4x6xf64>
  return %y : tensor<4x6xf64>
}

func.func @padding(%x: tensor<2x3xf64> {es.param = #es.param<trainable "padding.x">}) -> tensor<5x6xf64> {
  %zero = arith.constant 0.5 : f64
  %p = tensor.pad %x low[1, 2] high[2, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f64
  } : tensor<2x3xf64> to tensor<5x6xf64>
  %y = math.sin %p : tensor<5x6xf64>
  return %y : tensor<5x6xf64>
}

func.func @concatenation(%x: tensor<2x3xf64> {es.param = #es.param<trainable "concat.x">}, %w: tensor<4x3xf64> {es.param = #es.param<trainable "concat.w">}) -> tensor<6x3xf64> {
  %c = tensor.concat dim(0) %x, %w : (tensor<2x3xf64>, tensor<4x3xf64>) -> tensor<6x3xf64>
  %y = math.sin %c : tensor<6x3xf64>
  return %y : tensor<6x3xf64>
}

// One value read by three ops: gradients are added up.
func.func @fan_out(%x: tensor<3x3xf64> {es.param = #es.param<trainable "fan.x">}) -> tensor<3x3xf64> {
  %a = math.exp %x : tensor<3x3xf64>
  %b = math.sin %a : tensor<3x3xf64>
  %c = arith.mulf %a, %b : tensor<3x3xf64>
  %d = arith.addf %c, %a : tensor<3x3xf64>
  %y = arith.subf %d, %x : tensor<3x3xf64>
  return %y : tensor<3x3xf64>
}

func.func @branch(%p: i1, %x: tensor<3x3xf64> {es.param = #es.param<trainable "branch.x">}, %w: tensor<3x3xf64> {es.param = #es.param<trainable "branch.w">}) -> tensor<3x3xf64> {
  %y = scf.if %p -> tensor<3x3xf64> {
    %a = arith.mulf %x, %w : tensor<3x3xf64>
    %b = math.exp %a : tensor<3x3xf64>
    scf.yield %b : tensor<3x3xf64>
  } else {
    %a = math.sin %x : tensor<3x3xf64>
    scf.yield %a : tensor<3x3xf64>
  }
  return %y : tensor<3x3xf64>
}

// h = tanh(h w + x_t), from step 1 on in steps of 2.
func.func @recurrence(%h: tensor<2x3xf64> {es.param = #es.param<trainable "rnn.h">}, %w: tensor<3x3xf64> {es.param = #es.param<trainable "rnn.w">}, %xs: tensor<7x2x3xf64> {es.param = #es.param<trainable "rnn.x">}) -> tensor<2x3xf64> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f64
  %y = scf.for %i = %c1 to %c7 step %c2 iter_args(%a = %h) -> tensor<2x3xf64> {
    %x = tensor.extract_slice %xs[%i, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<7x2x3xf64> to tensor<2x3xf64>
    %e = tensor.empty() : tensor<2x3xf64>
    %f = linalg.fill ins(%zero : f64) outs(%e : tensor<2x3xf64>) -> tensor<2x3xf64>
    %m = linalg.matmul ins(%a, %w : tensor<2x3xf64>, tensor<3x3xf64>) outs(%f : tensor<2x3xf64>) -> tensor<2x3xf64>
    %s = arith.addf %m, %x : tensor<2x3xf64>
    %t = math.tanh %s : tensor<2x3xf64>
    scf.yield %t : tensor<2x3xf64>
  }
  return %y : tensor<2x3xf64>
}

// A loop in a loop, and a branch in it that depends on the inner counter.
func.func @nested(%h: tensor<2x2xf64> {es.param = #es.param<trainable "nested.h">}, %w: tensor<2x2xf64> {es.param = #es.param<trainable "nested.w">}) -> tensor<2x2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %h) -> tensor<2x2xf64> {
    %z = math.sin %a : tensor<2x2xf64>
    %b = scf.for %j = %c0 to %c3 step %c1 iter_args(%c = %z) -> tensor<2x2xf64> {
      %even = arith.cmpi eq, %j, %c1 : index
      %d = scf.if %even -> tensor<2x2xf64> {
        %m = arith.mulf %c, %w : tensor<2x2xf64>
        %q = arith.mulf %m, %a : tensor<2x2xf64>
        scf.yield %q : tensor<2x2xf64>
      } else {
        %t = math.exp %c : tensor<2x2xf64>
        %u = math.tanh %t : tensor<2x2xf64>
        scf.yield %u : tensor<2x2xf64>
      }
      scf.yield %d : tensor<2x2xf64>
    }
    scf.yield %b : tensor<2x2xf64>
  }
  return %y : tensor<2x2xf64>
}

// A `while` that counts: five trips.
func.func @scf_while(%x: tensor<3xf64>, %w: tensor<3xf64> {es.param = #es.param<trainable "while.w">}) -> tensor<3xf64> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c5 = arith.constant 5 : i64
  %r:2 = scf.while (%i = %c0, %h = %x) : (i64, tensor<3xf64>) -> (i64, tensor<3xf64>) {
    %more = arith.cmpi slt, %i, %c5 : i64
    scf.condition(%more) %i, %h : i64, tensor<3xf64>
  } do {
  ^bb0(%i: i64, %h: tensor<3xf64>):
    %m = arith.mulf %h, %w : tensor<3xf64>
    %s = math.sin %m : tensor<3xf64>
    %j = arith.addi %i, %c1 : i64
    scf.yield %j, %s : i64, tensor<3xf64>
  }
  return %r#1 : tensor<3xf64>
}

// Numbers 1, 4, 7, 10: up to and with 10, in steps of 3; the weight is carried.
func.func @scf_while_steps(%x: tensor<3xf64>, %w: tensor<4x3xf64> {es.param = #es.param<trainable "steps.w">}) -> tensor<3xf64> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  %r:3 = scf.while (%i = %c1, %h = %x, %k = %w) : (index, tensor<3xf64>, tensor<4x3xf64>) -> (index, tensor<3xf64>, tensor<4x3xf64>) {
    %more = arith.cmpi sle, %i, %c10 : index
    scf.condition(%more) %i, %h, %k : index, tensor<3xf64>, tensor<4x3xf64>
  } do {
  ^bb0(%i: index, %h: tensor<3xf64>, %k: tensor<4x3xf64>):
    %n = arith.divui %i, %c3 : index
    %row = tensor.extract_slice %k[%n, 0] [1, 3] [1, 1] : tensor<4x3xf64> to tensor<3xf64>
    %m = arith.mulf %h, %row : tensor<3xf64>
    %e = math.exp %m : tensor<3xf64>
    %j = arith.addi %i, %c3 : index
    scf.yield %j, %e, %k : index, tensor<3xf64>, tensor<4x3xf64>
  }
  return %r#1 : tensor<3xf64>
}

// Of three branches the second is taken, and the last for what has no case.
func.func @switch(%x: tensor<3xf64> {es.param = #es.param<trainable "switch.x">}, %w: tensor<3xf64> {es.param = #es.param<trainable "switch.w">}) -> tensor<3xf64> {
  %c5 = arith.constant 5 : index
  %y = scf.index_switch %c5 -> tensor<3xf64>
  case 2 {
    scf.yield %x : tensor<3xf64>
  }
  case 5 {
    %m = arith.mulf %x, %w : tensor<3xf64>
    %e = math.exp %m : tensor<3xf64>
    scf.yield %e : tensor<3xf64>
  }
  default {
    scf.yield %w : tensor<3xf64>
  }
  return %y : tensor<3xf64>
}

func.func @switch_default(%x: tensor<3xf64> {es.param = #es.param<trainable "default.x">}, %w: tensor<3xf64> {es.param = #es.param<trainable "default.w">}) -> tensor<3xf64> {
  %c7 = arith.constant 7 : index
  %y = scf.index_switch %c7 -> tensor<3xf64>
  case 2 {
    scf.yield %x : tensor<3xf64>
  }
  default {
    %m = arith.mulf %x, %w : tensor<3xf64>
    scf.yield %m : tensor<3xf64>
  }
  return %y : tensor<3xf64>
}

func.func @executed_region(%x: tensor<3xf64> {es.param = #es.param<trainable "region.x">}, %w: tensor<3xf64> {es.param = #es.param<trainable "region.w">}) -> tensor<3xf64> {
  %y = scf.execute_region -> tensor<3xf64> {
    %m = arith.mulf %x, %w : tensor<3xf64>
    %e = math.exp %m : tensor<3xf64>
    scf.yield %e : tensor<3xf64>
  }
  return %y : tensor<3xf64>
}
