// Loops and branches of dialects that are not linked in, and loops that have no
// gradient: which op, and what to do about it.
// RUN: es-opt --split-input-file --verify-diagnostics --es-build-training-graph="loss=sum optimizer=sgd" %s | FileCheck %s
// RUN: not es-opt --split-input-file --memory-report --graphs=backprop --loss=sum --optimizer=sgd %s >%t.out 2>%t.err
// RUN: FileCheck %s --check-prefix=BYTES --input-file=%t.out
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.err

!t = tensor<4xf32>

// x and w are 16 bytes each. Three slices of h are kept, 48. At the gradient of
// w: 32 + 48, loss 4, cotangent of h 16, sum 16, and the gradient at hand 16 = 132.
// CHECK-LABEL: @onnx_loop.training_step
// CHECK: "onnx.Loop"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) ({
// CHECK: tensor.insert_slice
// CHECK: scf.for
// CHECK: es.vjp elementwise "onnx.Mul" {{.*}} wrt [1]
// BYTES: peak: backprop 132 B
func.func @onnx_loop(%x: !t, %w: !t {es.param = #es.param<trainable "w">}) -> !t {
  %n = "onnx.Constant"() {value = dense<3> : tensor<i64>} : () -> tensor<i64>
  %true = "onnx.Constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %y = "onnx.Loop"(%n, %true, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %h: !t):
    %m = "onnx.Mul"(%h, %w) : (!t, !t) -> !t
    "onnx.Yield"(%c, %m) : (tensor<i1>, !t) -> ()
  }) : (tensor<i64>, tensor<i1>, !t) -> !t
  return %y : !t
}

// -----

!t = !torch.vtensor<[4],f32>

// The same: slices are kept as builtin tensors.
// CHECK-LABEL: @torch_loop.training_step
// CHECK: "torch.prim.Loop"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) ({
// CHECK: builtin.unrealized_conversion_cast %{{.*}} : !torch.vtensor<[4],f32> to tensor<4xf32>
// CHECK: scf.for
// CHECK: es.vjp elementwise "torch.aten.mul.Tensor" {{.*}} wrt [1]
// BYTES: peak: backprop 132 B
func.func @torch_loop(%x: !t, %w: !t {es.param = #es.param<trainable "w">}) -> !t {
  %n = torch.constant.int 3
  %true = torch.constant.bool true
  %y = torch.prim.Loop %n, %true, init(%x) {
  ^bb0(%i: !torch.int, %h: !t):
    %m = "torch.aten.mul.Tensor"(%h, %w) : (!t, !t) -> !t
    torch.prim.Loop.condition %true, iter(%m : !t)
  } : (!torch.int, !torch.bool, !t) -> !t
  return %y : !t
}

// -----

!t = tensor<4xf32>

// Whether to go on is computed: the number of trips is at most 3.
func.func @onnx_until(%x: !t, %w: !t {es.param = #es.param<trainable "w">}) -> !t {
  // expected-note @below {{the loop runs up to this value: a dynamic trip count}}
  %n = "onnx.Constant"() {value = dense<3> : tensor<i64>} : () -> tensor<i64>
  %true = "onnx.Constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  // REPORT: cannot be differentiated: the trip count of 'onnx.Loop'
  // expected-error @below {{cannot be differentiated: the trip count of 'onnx.Loop' is not a constant}}
  %y = "onnx.Loop"(%n, %true, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %h: !t):
    %m = "onnx.Mul"(%h, %w) : (!t, !t) -> !t
    %p = "onnx.Any"(%m) : (!t) -> tensor<i1>
    "onnx.Yield"(%p, %m) : (tensor<i1>, !t) -> ()
  }) : (tensor<i64>, tensor<i1>, !t) -> !t
  return %y : !t
}

// -----

!t = tensor<4xf32>

func.func @scan(%x: !t, %xs: tensor<3x4xf32>, %w: !t {es.param = #es.param<trainable "w">}) -> !t {
  // REPORT: cannot be differentiated: 'onnx.Scan' on the way
  // expected-error @below {{cannot be differentiated: 'onnx.Scan' on the way from the loss to a parameter}}
  %y:2 = "onnx.Scan"(%x, %xs) ({
  ^bb0(%h: !t, %e: !t):
    %m = "onnx.Mul"(%h, %w) : (!t, !t) -> !t
    %s = "onnx.Add"(%m, %e) : (!t, !t) -> !t
    "onnx.Yield"(%s, %s) : (!t, !t) -> ()
  }) {num_scan_inputs = 1 : si64} : (!t, tensor<3x4xf32>) -> (!t, tensor<3x4xf32>)
  return %y#0 : !t
}

// -----

!t = tensor<4xf32>

func.func @forall(%x: !t, %w: !t {es.param = #es.param<trainable "w">}) -> !t {
  %e = tensor.empty() : !t
  // REPORT: cannot be differentiated: 'scf.forall' on the way
  // expected-error @below {{cannot be differentiated: 'scf.forall' on the way from the loss to a parameter}}
  %r = scf.forall (%i) in (4) shared_outs(%o = %e) -> !t {
    %a = tensor.extract_slice %x[%i][1][1] : !t to tensor<1xf32>
    %b = tensor.extract_slice %w[%i][1][1] : !t to tensor<1xf32>
    %m = arith.mulf %a, %b : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %m into %o[%i][1][1] : tensor<1xf32> into !t
    }
  }
  return %r : !t
}

// -----

!t = tensor<4xf32>

// expected-note @below {{the loop runs up to this value: a dynamic trip count}}
func.func @hlo_while(%x: !t, %n: tensor<i32>, %w: !t {es.param = #es.param<trainable "w">}) -> !t {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  // REPORT: cannot be differentiated: the trip count of 'stablehlo.while' is not a constant; bind
  // expected-error @below {{the trip count of 'stablehlo.while' is not a constant; bind what it depends on}}
  %r:2 = stablehlo.while(%i = %c0, %h = %x) : tensor<i32>, !t
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %m = stablehlo.multiply %h, %w : !t
    %j = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %j, %m : tensor<i32>, !t
  }
  return %r#1 : !t
}

// -----

!t = tensor<4xf32>

func.func @scf_until(%x: !t, %w: !t {es.param = #es.param<trainable "w">}) -> !t {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  // REPORT: the trip count of 'scf.while' is not a constant; the loop ends by what it computes
  // expected-error @below {{the trip count of 'scf.while' is not a constant; the loop ends by what it computes}}
  %r = scf.while (%h = %x) : (!t) -> !t {
    %first = tensor.extract %h[%c0] : !t
    %more = arith.cmpf olt, %first, %one : f32
    scf.condition(%more) %h : !t
  } do {
  ^bb0(%h: !t):
    %m = arith.mulf %h, %w : !t
    scf.yield %m : !t
  }
  return %r : !t
}

// -----

!t = tensor<4xf32>

// Three branches: numbers beyond the last choose it too.
// CHECK-LABEL: @hlo_case.training_step
// CHECK: scf.index_switch
// CHECK-NEXT: case 0
// CHECK-NEXT: es.vjp elementwise "stablehlo.multiply"
// CHECK: case 1
// CHECK: es.vjp elementwise "stablehlo.sine"
// CHECK: default
// CHECK-NEXT: es.splat 0.0
func.func @hlo_case(%i: tensor<i32>, %x: !t, %w: !t {es.param = #es.param<trainable "w">}) -> !t {
  %r = "stablehlo.case"(%i) ({
    %m = stablehlo.multiply %x, %w : !t
    stablehlo.return %m : !t
  }, {
    %m = stablehlo.sine %w : !t
    stablehlo.return %m : !t
  }, {
    stablehlo.return %x : !t
  }) : (tensor<i32>) -> !t
  return %r : !t
}
