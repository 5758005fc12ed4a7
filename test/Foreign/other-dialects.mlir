// RUN: es-opt %s | FileCheck %s
// RUN: es-opt %s | es-opt | FileCheck %s

// CHECK-LABEL: func @onnx
func.func @onnx(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  // CHECK: "onnx.Constant"() {value = dense<2.000000e+00> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = onnx.Constant dense<2.0> : tensor<4xf32>
  // CHECK: "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %1 = onnx.Constant {value = dense<1> : tensor<1xi64>} : tensor<1xi64>
  %2 = "onnx.Add"(%x, %0) {onnx_node_name = "add"} : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  // CHECK: "onnx.Return"(%{{.*}}) : (tensor<1x4xf32>) -> ()
  onnx.Return %2 : tensor<1x4xf32>
}

// CHECK-LABEL: func @krnl
func.func @krnl(%m: memref<10x20xf32>) {
  // CHECK: %[[L:.*]]:2 = "krnl.define_loops"() {value = 2 : i64} : () -> (!krnl.loop, !krnl.loop)
  %l:2 = krnl.define_loops 2
  // CHECK: "krnl.iterate"(%[[L]]#0, %[[L]]#1, %[[L]]#0, %[[L]]#1) ({
  // CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
  // CHECK-NEXT:   %[[V:.*]] = "krnl.load"(%arg0, %[[I]], %[[J]]) : (memref<10x20xf32>, index, index) -> f32
  // CHECK-NEXT:   "krnl.store"(%[[V]], %arg0, %[[I]], %[[J]]) : (f32, memref<10x20xf32>, index, index) -> ()
  krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to 20) {
    %v = krnl.load %m[%i, %j] : memref<10x20xf32>
    krnl.store %v, %m[%i, %j] : memref<10x20xf32>
  }
  return
}

// CHECK-LABEL: func @tm_tensor
func.func @tm_tensor(%x: tensor<128xi32>, %o: tensor<128xi32>, %acc: tensor<i32>) -> tensor<128xi32> {
  // CHECK: "tm_tensor.scan"(%arg0, %arg1, %arg2) ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32):
  // CHECK: }) {{.*}} : (tensor<128xi32>, tensor<128xi32>, tensor<i32>) -> (tensor<128xi32>, tensor<i32>)
  %0:2 = tm_tensor.scan dimension(0) inclusive(true)
    ins(%x : tensor<128xi32>) outs(%o, %acc : tensor<128xi32>, tensor<i32>) {
    ^bb0(%a : i32, %b : i32):
      %sum = arith.addi %a, %b : i32
      tm_tensor.yield %sum : i32
  } -> tensor<128xi32>, tensor<i32>
  return %0#0 : tensor<128xi32>
}

// CHECK-LABEL: func @secret
func.func @secret(%x: !secret.secret<tensor<8xi16>>) -> !secret.secret<tensor<8xi16>> {
  // CHECK: "secret.generic"(%arg0) ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8xi16>):
  // CHECK: }) : (!secret.secret<tensor<8xi16>>) -> !secret.secret<tensor<8xi16>>
  %0 = secret.generic(%x: !secret.secret<tensor<8xi16>>) {
  ^body(%a: tensor<8xi16>):
    %1 = arith.addi %a, %a : tensor<8xi16>
    secret.yield %1 : tensor<8xi16>
  } -> !secret.secret<tensor<8xi16>>
  return %0 : !secret.secret<tensor<8xi16>>
}

// CHECK-LABEL: func @vendors
func.func @vendors(%x: tensor<4x4xbf16>, %m: memref<4xf32>) {
  // CHECK: %[[E:.*]] = "ttir.empty"() : () -> tensor<4x4xbf16>
  %0 = ttir.empty() : tensor<4x4xbf16>
  // CHECK: "ttir.add"(%arg0, %arg0, %[[E]])
  %1 = "ttir.add"(%x, %x, %0) : (tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  // CHECK: "byre.compute"(%arg1, %arg1) {callee = @AddOp, memory_effects = [1 : i32, 2 : i32]} : (memref<4xf32>, memref<4xf32>) -> ()
  byre.compute @AddOp(%m, %m) {memory_effects = [1 : i32, 2 : i32]} : memref<4xf32>, memref<4xf32>
  // CHECK: "tfl.add"(%arg0, %arg0) {fused_activation_function = "RELU"} : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %2 = tfl.add %x, %x {fused_activation_function = "RELU"} : tensor<4x4xbf16>
  // CHECK: "tfl.add"(%arg0, %arg0) {fused_activation_function = "NONE"} : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %3 = tfl.add(%x, %x) <{fused_activation_function = "NONE"}> : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  // CHECK: "enzyme.autodiff"(%arg0) {activity = [#enzyme<activity enzyme_active>], fn = @"f{x}", ret_activity = [#enzyme<activity enzyme_active>]} : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %4 = enzyme.autodiff @"f{x}"(%x) {activity = [#enzyme<activity enzyme_active>], ret_activity = [#enzyme<activity enzyme_active>]} : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return
}

// CHECK-LABEL: func @executor
func.func @executor(%x: tensor<*xi32>) -> tensor<*xi32> {
  // CHECK: %[[G:.*]] = "tf_executor.graph"() ({
  // CHECK-NEXT:   %[[I:.*]]:2 = "tf_executor.island"() ({
  // CHECK-NEXT:     %[[V:.*]] = "tf.Identity"(%arg0) {device = ""} : (tensor<*xi32>) -> tensor<*xi32>
  // CHECK-NEXT:     "tf_executor.yield"(%[[V]]) : (tensor<*xi32>) -> ()
  // CHECK-NEXT:   }) : () -> (tensor<*xi32>, !tf_executor.control)
  // CHECK-NEXT:   %[[J:.*]] = "tf_executor.island"(%[[I]]#1) ({
  // CHECK:        }) : (!tf_executor.control) -> !tf_executor.control
  // CHECK-NEXT:   "tf_executor.fetch"(%[[I]]#0, %[[J]]) : (tensor<*xi32>, !tf_executor.control) -> ()
  // CHECK-NEXT: }) : () -> tensor<*xi32>
  %0 = tf_executor.graph {
    %outputs, %control = tf_executor.island wraps "tf.Identity"(%x) {device = ""} : (tensor<*xi32>) -> tensor<*xi32>
    %1 = tf_executor.island(%control) {
      "tf.NoOp"() : () -> ()
      tf_executor.yield
    }
    tf_executor.fetch %outputs, %1 : tensor<*xi32>, !tf_executor.control
  }
  return %0 : tensor<*xi32>
}

// CHECK: "ttcore.device_module"() ({
// CHECK-NEXT: module {
// CHECK: "ttcore.device"() {sym_name = "device"
ttcore.device_module {
  builtin.module {
    ttcore.device @device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>, meshShape = , chipIds = [0]>
  }
}

// CHECK: "vhlo.func_v1"() ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: !vhlo.tensor_v1<4x!vhlo.f32_v1>):
// CHECK-NEXT:   %[[B:.*]] = "vhlo.add_v1"(%[[A]], %[[A]]) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>, !vhlo.tensor_v1<4x!vhlo.f32_v1>) -> !vhlo.tensor_v1<4x!vhlo.f32_v1>
vhlo.func_v1 @main(%arg0: !vhlo.tensor_v1<4x!vhlo.f32_v1>) -> !vhlo.tensor_v1<4x!vhlo.f32_v1> {
  %0 = vhlo.add_v1 %arg0, %arg0 : !vhlo.tensor_v1<4x!vhlo.f32_v1>
  vhlo.return_v1 %0 : !vhlo.tensor_v1<4x!vhlo.f32_v1>
}
