// RUN: es-opt %s | FileCheck %s
// RUN: es-opt %s | es-opt | FileCheck %s

// CHECK: #map = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: func @literals
func.func @literals() -> !torch.vtensor<[2,2],f32> {
  // CHECK: "torch.constant.int"() {value = -1 : i64} : () -> !torch.int
  %int-1 = torch.constant.int -1
  // CHECK: "torch.constant.float"() {value = 1.000000e-10 : f64} : () -> !torch.float
  %float1.000000e-10 = torch.constant.float 1.000000e-10
  // CHECK: "torch.constant.bool"() {value = true} : () -> !torch.bool
  %true = torch.constant.bool true
  // CHECK: "torch.constant.none"() : () -> !torch.none
  %none = torch.constant.none
  // CHECK: "torch.constant.str"() {value = "a b"} : () -> !torch.str
  %str = torch.constant.str "a b"
  // CHECK: "torch.constant.device"() {value = "cpu"} : () -> !torch.Device
  %cpu = torch.constant.device "cpu"
  // CHECK: "torch.vtensor.literal"() {value = dense<1.000000e+00> : tensor<2x2xf32>} : () -> !torch.vtensor<[2,2],f32>
  %0 = torch.vtensor.literal(dense<1.0> : tensor<2x2xf32>) : !torch.vtensor<[2,2],f32>
  return %0 : !torch.vtensor<[2,2],f32>
}

// CHECK-LABEL: func @operators
func.func @operators(%x: !torch.vtensor<[2,?],f32>, %i: !torch.int, %t: !torch.tensor) {
  // CHECK: %[[L:.*]] = "torch.prim.ListConstruct"(%arg1, %arg1) : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.prim.ListConstruct %i, %i : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK: "torch.prim.ListConstruct"() : () -> !torch.list<int>
  %1 = torch.prim.ListConstruct  : () -> !torch.list<int>
  // CHECK: "torch.aten.permute"(%arg0, %[[L]]) : (!torch.vtensor<[2,?],f32>, !torch.list<int>) -> !torch.vtensor<[?,2],f32>
  %2 = torch.aten.permute %x, %0 : !torch.vtensor<[2,?],f32>, !torch.list<int> -> !torch.vtensor<[?,2],f32>
  // CHECK: "torch.aten.max.dim"({{.*}}) : (!torch.vtensor<[2,?],f32>, !torch.int) -> (!torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>)
  %values, %indices = torch.aten.max.dim %x, %i : !torch.vtensor<[2,?],f32>, !torch.int -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>
  // CHECK: "torch.operator"(%arg0) {name = "onnx.Relu", torch.onnx.axis = 1 : si64} : (!torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,?],f32>
  %3 = torch.operator "onnx.Relu"(%x) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,?],f32> 
  // The type is that of the result; the operand has the one it was defined with.
  // CHECK: "torch.copy.to_tensor"(%arg0) : (!torch.vtensor<[2,?],f32>) -> !torch.tensor<[2,?],f32>
  %4 = torch.copy.to_tensor %x : !torch.tensor<[2,?],f32>
  // CHECK: "torch.tensor_static_info_cast"(%arg2) : (!torch.tensor) -> !torch.tensor<[4],f32>
  %5 = torch.tensor_static_info_cast %t : !torch.tensor to !torch.tensor<[4],f32>
  // CHECK: "torch.overwrite.tensor.contents"(%arg0, %arg2) {keywords = ["overwrites"]} : (!torch.vtensor<[2,?],f32>, !torch.tensor) -> ()
  torch.overwrite.tensor.contents %x overwrites %t : !torch.vtensor<[2,?],f32>, !torch.tensor
  // CHECK: "torch_c.to_builtin_tensor"(%arg0) : (!torch.vtensor<[2,?],f32>) -> tensor<2x?xf32>
  %6 = torch_c.to_builtin_tensor %x : !torch.vtensor<[2,?],f32> -> tensor<2x?xf32>
  return
}

// CHECK-LABEL: func @symbols
func.func @symbols(%x: !torch.vtensor<[?,8],f32>) {
  // CHECK: %[[S:.*]] = "torch.symbolic_int"() {max_val = 16 : i64, min_val = 2 : i64, symbol_name = "s0"} : () -> !torch.int
  %0 = torch.symbolic_int "s0" {min_val = 2, max_val = 16} : !torch.int
  // CHECK: "torch.bind_symbolic_shape"(%arg0, %[[S]]) {shape_expressions = #map} : (!torch.vtensor<[?,8],f32>, !torch.int) -> ()
  torch.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0, 8)> : !torch.vtensor<[?,8],f32>
  return
}

// CHECK-LABEL: func @control
func.func @control(%p: !torch.bool, %n: !torch.int, %x: !torch.tensor) -> !torch.int {
  // CHECK: "torch.prim.If"(%arg0) ({
  // CHECK-NEXT:   "torch.prim.If.yield"(%arg1) : (!torch.int) -> ()
  // CHECK-NEXT: }, {
  // CHECK: }) : (!torch.bool) -> !torch.int
  %0 = torch.prim.If %p -> (!torch.int) {
    torch.prim.If.yield %n : !torch.int
  } else {
    %1 = torch.aten.mul.int %n, %n : !torch.int, !torch.int -> !torch.int
    torch.prim.If.yield %1 : !torch.int
  }
  // CHECK: "torch.prim.Loop"(%arg1, %arg0, %arg2) ({
  // CHECK-NEXT: ^bb0(%{{.*}}: !torch.int, %[[A:.*]]: !torch.tensor):
  // CHECK-NEXT:   "torch.prim.Loop.condition"(%arg0, %[[A]]) : (!torch.bool, !torch.tensor) -> ()
  // CHECK-NEXT: }) : (!torch.int, !torch.bool, !torch.tensor) -> !torch.tensor
  %2 = torch.prim.Loop %n, %p, init(%x) {
  ^bb0(%i: !torch.int, %a: !torch.tensor):
    torch.prim.Loop.condition %p, iter(%a : !torch.tensor)
  } : (!torch.int, !torch.bool, !torch.tensor) -> !torch.tensor
  // CHECK: "torch.shape.calculate"() ({
  // CHECK: }, {
  // CHECK: }) : () -> !torch.vtensor
  %3 = torch.shape.calculate {
    torch.shape.calculate.yield %x : !torch.tensor
  } shapes {
    torch.shape.calculate.yield.shapes %n : !torch.int
  } : !torch.vtensor
  return %0 : !torch.int
}

// CHECK: "torch.class_type"() ({
// CHECK-NEXT:   "torch.attr"() {keywords = ["private"], name = "w", type = !torch.tensor} : () -> ()
// CHECK-NEXT:   "torch.method"() {name = "forward", symbol = @control} : () -> ()
// CHECK-NEXT: }) {sym_name = "module"} : () -> ()
torch.class_type @module {
  torch.attr private "w" : !torch.tensor
  torch.method "forward", @control
}
