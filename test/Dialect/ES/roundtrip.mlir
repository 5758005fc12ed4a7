// RUN: es-opt %s | es-opt | FileCheck %s
// RUN: es-opt --emit-bytecode %s | es-opt | FileCheck %s
// RUN: es-opt --mlir-print-op-generic %s | es-opt | FileCheck %s

!q = !quant.uniform<i8:f32, 0.5>
!axis = !quant.uniform<i4:f32:1, {0.5, 0.25}>
!blocks = !quant.uniform<i8:f32:{0:2}, {{0.5}, {0.25}}>

// CHECK: module attributes {es.parameters = [{param = #es.param<frozen "g">, symbol = @g, type = tensor<4xf32>}, {param = #es.param<trainable "c">, type = tensor<2xf32>}]}
module attributes {es.parameters = [
    {param = #es.param<frozen "g">, type = tensor<4xf32>, symbol = @g},
    {param = #es.param<trainable "c">, type = tensor<2xf32>}]} {

// CHECK: func.func @all_fields(
// CHECK-SAME: #es.param<trainable "w", id = 7 : i32, stored = !quant.uniform<i8:f32, 5.000000e-01>, sigma = 2.500000e-01 : f32, lr = 5.000000e-01 : f32>
func.func @all_fields(%w: tensor<4xf32> {es.param = #es.param<trainable "w", id = 7 : i32, stored = !q, sigma = 0.25 : f32, lr = 0.5 : f32>}) -> tensor<4xf32> {
  // CHECK: es.param %{{.*}} <frozen "v", stored = i4> : tensor<4xf32>
  %0 = es.param %w <frozen "v", stored = i4> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: func.func @storage(
func.func @storage(
    // CHECK-SAME: stored = !quant.uniform<i4:f32:1, {5.000000e-01,2.500000e-01}>
    %a: tensor<4x2xf32> {es.param = #es.param<frozen "a", stored = !axis>},
    // CHECK-SAME: stored = !quant.uniform<i8:f32:{0:2}
    %b: tensor<4x3xf32> {es.param = #es.param<frozen "b", stored = !blocks>},
    // CHECK-SAME: stored = i4
    %c: tensor<4xi8> {es.param = #es.param<frozen "c", stored = i4>},
    // CHECK-SAME: stored = f16
    %d: tensor<?xcomplex<f32>> {es.param = #es.param<frozen "d", stored = f16>},
    // CHECK-SAME: stored = bf16
    %e: tensor<*xf32> {es.param = #es.param<frozen "e", stored = bf16>},
    // CHECK-SAME: memref<4xf32, strided<[2]>> {es.param = #es.param<frozen "m">}
    %m: memref<4xf32, strided<[2]>> {es.param = #es.param<frozen "m">},
    // CHECK-SAME: !torch.vtensor<[4],f32> {es.param = #es.param<frozen "t">}
    %t: !torch.vtensor<[4],f32> {es.param = #es.param<frozen "t">}) {
  // CHECK: es.param %{{.*}} <frozen "m"> : memref<4xf32, strided<[2]>>
  %0 = es.param %m <frozen "m"> : memref<4xf32, strided<[2]>>
  // CHECK: es.param %{{.*}} <frozen "t"> : !torch.vtensor<[4],f32>
  %1 = es.param %t <frozen "t"> : !torch.vtensor<[4],f32>
  // CHECK: es.param %{{.*}} <frozen "c"> {hint = 1 : i64} : tensor<4xi8>
  %2 = es.param %c <frozen "c"> {hint = 1} : tensor<4xi8>
  return
}
}
