// RUN: es-opt --allow-unregistered-dialect --es-strip-annotations %s | FileCheck %s --implicit-check-not='es.param'

// CHECK: module {
module attributes {es.parameters = [{param = #es.param<frozen "g">, symbol = @g, type = tensor<4xf32>}]} {
// CHECK-NEXT: ml_program.global private @g(
ml_program.global private @g(dense<1.0> : tensor<4xf32>) : tensor<4xf32>

// CHECK-LABEL: func.func @argument_and_use(
// CHECK-SAME:    %[[W:.*]]: tensor<4x4xf32> {my.own = 1 : i64})
// CHECK-NEXT:    return %[[W]]
func.func @argument_and_use(%w: tensor<4x4xf32> {my.own = 1, es.param = #es.param<frozen "fc1.weight", stored = i8>}) -> tensor<4x4xf32> {
  %0 = es.param %w <frozen "fc1.weight", stored = i8> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func private @declaration(memref<4xf32>)
func.func private @declaration(memref<4xf32> {es.param = #es.param<frozen "w">})

// CHECK-LABEL: func.func @in_regions_and_in_a_row(
// CHECK-SAME:    %[[W:.*]]: memref<4xf32>,
// CHECK:         scf.if
// CHECK-NEXT:      memref.load %[[W]]
func.func @in_regions_and_in_a_row(%w: memref<4xf32>, %c: i1, %i: index) {
  scf.if %c {
    %0 = es.param %w <frozen "w"> : memref<4xf32>
    %1 = es.param %0 <frozen "w"> : memref<4xf32>
    %2 = memref.load %1[%i] : memref<4xf32>
    "test.use"(%2) : (f32) -> ()
  }
  return
}

// CHECK: "util.func"() ({
// CHECK: }) {arg_attrs = [{}, {mine = 1 : i64}], {{.*}}sym_name = "foreign"
"util.func"() ({
^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
  "util.return"() : () -> ()
}) {arg_attrs = [{es.param = #es.param<frozen "a">}, {mine = 1, es.param = #es.param<frozen "b">}], function_type = (tensor<4xf32>, tensor<4xf32>) -> (), sym_name = "foreign"} : () -> ()

// CHECK: module @inner {
module @inner attributes {es.parameters = []} {
}
}
