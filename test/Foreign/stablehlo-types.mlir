// RUN: es-opt %s | FileCheck %s
// RUN: es-opt %s | es-opt | FileCheck %s

// Which operand and result has which of the types that are written.

// CHECK-LABEL: func @one_type
func.func @one_type(%a: tensor<4xf32>, %p: tensor<i1>) {
  // CHECK: "stablehlo.add"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  // CHECK: "stablehlo.clamp"(%arg0, %arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.clamp %a, %a, %a : tensor<4xf32>
  // CHECK: "stablehlo.select"(%arg1, %arg0, %arg0) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.select %p, %a, %a : tensor<i1>, tensor<4xf32>
  // CHECK: "stablehlo.complex"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
  %3 = stablehlo.complex %a, %a : tensor<4xcomplex<f32>>
  // CHECK: "stablehlo.real"(%{{.*}}) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %4 = stablehlo.real %3 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: "stablehlo.exponential"(%arg0) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  return
}

// CHECK-LABEL: func @literals
func.func @literals() {
  // CHECK: "stablehlo.constant"() {value = dense<1> : tensor<3xi32>} : () -> tensor<3xi32>
  %0 = stablehlo.constant dense<1> : tensor<3xi32>
  // CHECK: "stablehlo.constant"() {a = 1 : i64, value = dense_resource<blob> : tensor<3xf32>} : () -> tensor<3xf32>
  %1 = stablehlo.constant {a = 1} dense_resource<blob> : tensor<3xf32>
  // CHECK: "stablehlo.partition_id"() : () -> tensor<ui32>
  %2 = stablehlo.partition_id : tensor<ui32>
  // CHECK: "stablehlo.create_token"() : () -> !stablehlo.token
  %3 = stablehlo.create_token : !stablehlo.token
  // CHECK: "stablehlo.after_all"(%{{.*}}, %{{.*}}) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  %4 = stablehlo.after_all %3, %3 : !stablehlo.token
  return
}

// CHECK-LABEL: func @tuples
func.func @tuples(%a: tensor<4xf32>, %b: tensor<2xi32>) {
  // CHECK: "stablehlo.tuple"(%arg0, %arg1) : (tensor<4xf32>, tensor<2xi32>) -> tuple<tensor<4xf32>, tensor<2xi32>>
  %0 = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, tensor<2xi32>>
  // CHECK: "stablehlo.get_tuple_element"(%{{.*}}) {index = 1 : i32} : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<2xi32>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<2xi32>
  // CHECK: "stablehlo.optimization_barrier"(%arg0, %arg1) : (tensor<4xf32>, tensor<2xi32>) -> (tensor<4xf32>, tensor<2xi32>)
  %2:2 = stablehlo.optimization_barrier %a, %b : tensor<4xf32>, tensor<2xi32>
  // CHECK: "stablehlo.optimization_barrier"() : () -> ()
  stablehlo.optimization_barrier()
  return
}

// CHECK-LABEL: func @encodings
func.func @encodings(%a: tensor<?x4xf32, #stablehlo.bounds<8, ?>>, %q: tensor<4x!quant.uniform<i8:f32, 3.0:1>>) {
  // CHECK: "stablehlo.abs"(%arg0) : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>
  %0 = stablehlo.abs %a : tensor<?x4xf32, #stablehlo.bounds<8, ?>>
  // CHECK: "stablehlo.uniform_dequantize"(%arg1) : (tensor<4x!quant.uniform<i8:f32, 3.000000e+00:1>>) -> tensor<4xf32>
  %1 = stablehlo.uniform_dequantize %q : (tensor<4x!quant.uniform<i8:f32, 3.0:1>>) -> tensor<4xf32>
  return
}
