// RUN: es-opt --es-strip-annotations %s | FileCheck %s

// CHECK-LABEL: func.func @argument_and_use(
// CHECK-SAME:    %[[W:.*]]: tensor<4x4xf32>)
// CHECK-NEXT:    return %[[W]]
func.func @argument_and_use(%w: tensor<4x4xf32> {es.param = #es.param<frozen "fc1.weight", stored = i8>}) -> tensor<4x4xf32> {
  %0 = es.param %w <frozen "fc1.weight", stored = i8> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
