// What is stored, and beside it the bits of the types, where they differ.
// RUN: es-opt --memory-report --graphs=inference --entry=@bits %s | FileCheck %s
// RUN: es-opt --memory-report=json --graphs=inference --entry=@bits %s | FileCheck %s --check-prefix=JSON
// RUN: es-opt --memory-report --graphs=inference --memory-model=fused --pack-i1 --entry=@bits %s | FileCheck %s --check-prefix=FUSED
// RUN: es-opt --memory-report --graphs=inference --entry=@plain %s | FileCheck %s --check-prefix=PLAIN

// 16 elements each, stored and by their bits:
//   i4 w, a parameter    16*4/8 = 8, packed, both
//   i1                   16 * 1 = 16    16*1/8  = 2
//   i4 x                 16 * 1 = 16    16*4/8  = 8
//   i24                  16 * 4 = 64    16*24/8 = 48
//   f80                  16 *16 = 256   16*80/8 = 160
//   tf32                 16 * 4 = 64    16*19/8 = 38
// Inputs: 16 + 16 + 64 + 256 + 64 = 416 and 2 + 8 + 48 + 160 + 38 = 256; with w
// 424 and 264.
// CHECK: bytes{{ +}}inference{{ +}}bits of the types
// CHECK-NEXT: frozen parameter{{ +}}8 (8 B){{ +}}8 (8 B)
// CHECK-NEXT: input{{ +}}416 (416 B){{ +}}256 (256 B)
// CHECK-NEXT: peak{{ +}}424 (424 B){{ +}}264 (264 B)
// CHECK-NEXT: arena{{ +}}424 (424 B)
// JSON: "peak_bytes": 424
// JSON: "logical_peak_bytes": 264
// JSON: "logical_breakdown": {
// JSON: "frozen_parameter": 8
// JSON: "input": 256
// JSON: "type": "tensor<16xf80>"
// JSON-NEXT: "bytes": 256
// JSON-NEXT: "logical_bytes": 160
// Fused kernels pack: there is nothing to tell apart.
// FUSED-NOT: bits of the types
// FUSED: peak{{ +}}264 (264 B)
// PLAIN-NOT: bits of the types
func.func @bits(%w: tensor<16xi4> {es.param = #es.param<frozen "w">}, %a: tensor<16xi1>, %x: tensor<16xi4>, %b: tensor<16xi24>, %c: tensor<16xf80>, %d: tensor<16xtf32>) {
  return
}
func.func @plain(%x: tensor<16xf32>) {
  return
}
