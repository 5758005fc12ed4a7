// A global that nothing reads is resident all the same: it is in the rows and in
// the peak as it is in the inventory.
// RUN: es-opt --memory-report --timeline --graphs=inference %s | FileCheck %s
// RUN: es-opt --memory-report=json --graphs=inference %s | FileCheck %s --check-prefix=JSON

// The global has 4*4 = 16 bytes, x and its exponential 16*4 = 64 each: 144.
// CHECK: trainable parameter{{ +}}16 (16 B)
// CHECK: input{{ +}}64 (64 B)
// CHECK: output{{ +}}64 (64 B)
// CHECK: peak{{ +}}144 (144 B)
// CHECK: arena{{ +}}144 (144 B)
// CHECK: never read: spare_weight
// CHECK: live bytes by program point:
// CHECK-NEXT: 0 144
// JSON: "bytes": 16
// JSON: "peak_bytes": 144
// JSON: "trainable_parameter": 16
ml_program.global private @spare_weight(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) : tensor<4xf32>
func.func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = math.exp %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
