// RUN: es-opt --mlir-print-debuginfo %s | FileCheck %s
// RUN: es-opt --mlir-print-debuginfo %s | es-opt --mlir-print-debuginfo | FileCheck %s

// Aliases, locations, quoted symbols, several ops on a line.

!t = tensor<4xf32>
#sides = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>
#loc1 = loc("model.py":3:4)
#named = loc("params['w']"(#loc1))

// CHECK-DAG: #[[FILE:.*]] = loc("model.py":3:4)
// CHECK-DAG: #[[W:.*]] = loc("params['w']"(#[[FILE]]))

module @"jit f" attributes {mhlo.num_partitions = 1 : i32} {
  // CHECK: func.func public @"a-b"(%[[X:.*]]: tensor<4xf32> loc("params['w']"(#[[FILE]]))
  func.func public @"a-b"(%x: !t loc(#named)) -> (!t {jax.result_info = "result"}) {
    // CHECK: %[[Y:.*]] = "stablehlo.add"(%[[X]], %[[X]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc(#[[FILE]])
    %0 = stablehlo.add %x, %x : !t loc(#loc1)
    // CHECK: "stablehlo.dot_general"(%[[Y]], %[[Y]]) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}>
    %1 = "stablehlo.dot_general"(%0, %0) <{dot_dimension_numbers = #sides}> : (!t, !t) -> tensor<f32> loc(#loc1)
    // CHECK: "stablehlo.abs"
    // CHECK-NEXT: "stablehlo.sine"
    // CHECK-NEXT: "stablehlo.cosine"
    %2 = stablehlo.abs %0 : !t  %3 = stablehlo.sine %2 : !t // a remark
    %4 =
      stablehlo.cosine
        %3 // op over lines, with a remark in it
        : !t
    return %4 : !t
  }
}
