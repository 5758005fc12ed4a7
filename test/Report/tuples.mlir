// RUN: es-opt --memory-report=json --graphs=inference --top=0 --entry='*' %s | FileCheck %s

// Tuples of old MHLO have no memory; what is in them counts as itself.

// x and y, 16 B each, arrive in a tuple; their sum is returned in one with x: 48.
// CHECK: "name": "border"
// CHECK: "peak_bytes": 48,
// CHECK: "argument_bytes": 32,
// CHECK-NEXT: "result_bytes": 32,
// CHECK: "exact": true
func.func @border(%t: tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %x = "mhlo.get_tuple_element"(%t) {index = 0 : i32} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %y = "mhlo.get_tuple_element"(%t) {index = 1 : i32} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %0 = mhlo.add %x, %y : tensor<4xf32>
  %1 = "mhlo.tuple"(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  return %1 : tuple<tensor<4xf32>, tensor<4xf32>>
}

// Both results of the call are there at the call, 16 + 32, beside x: 64. The second
// element of the inner tuple is what is returned.
// CHECK: "name": "nested"
// CHECK: "peak_bytes": 64,
// CHECK: "result_bytes": 32,
func.func @nested(%x: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "mhlo.custom_call"(%x) {call_target_name = "f"} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tuple<tensor<8xf32>>>
  %1 = "mhlo.get_tuple_element"(%0) {index = 1 : i32} : (tuple<tensor<4xf32>, tuple<tensor<8xf32>>>) -> tuple<tensor<8xf32>>
  %2 = "mhlo.get_tuple_element"(%1) {index = 0 : i32} : (tuple<tensor<8xf32>>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A loop over a tuple: as the loop over its elements. The counter, 4, and the limit,
// 4; the vector of the caller, 16, and the copy that the loop works on, 16; the
// condition, 1: 41.
// CHECK: "name": "loop"
// CHECK: "peak_bytes": 41,
func.func @loop(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %c = "mhlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "mhlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %t = "mhlo.tuple"(%c, %x) : (tensor<i32>, tensor<4xf32>) -> tuple<tensor<i32>, tensor<4xf32>>
  %0 = "mhlo.while"(%t) ({
  ^bb0(%a: tuple<tensor<i32>, tensor<4xf32>>):
    %i = "mhlo.get_tuple_element"(%a) {index = 0 : i32} : (tuple<tensor<i32>, tensor<4xf32>>) -> tensor<i32>
    %p = "mhlo.compare"(%i, %n) {comparison_direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "mhlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tuple<tensor<i32>, tensor<4xf32>>):
    %i = "mhlo.get_tuple_element"(%a) {index = 0 : i32} : (tuple<tensor<i32>, tensor<4xf32>>) -> tensor<i32>
    %v = "mhlo.get_tuple_element"(%a) {index = 1 : i32} : (tuple<tensor<i32>, tensor<4xf32>>) -> tensor<4xf32>
    %j = "mhlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %w = "mhlo.exponential"(%v) : (tensor<4xf32>) -> tensor<4xf32>
    %r = "mhlo.tuple"(%j, %w) : (tensor<i32>, tensor<4xf32>) -> tuple<tensor<i32>, tensor<4xf32>>
    "mhlo.return"(%r) : (tuple<tensor<i32>, tensor<4xf32>>) -> ()
  }) : (tuple<tensor<i32>, tensor<4xf32>>) -> tuple<tensor<i32>, tensor<4xf32>>
  %1 = "mhlo.get_tuple_element"(%0) {index = 1 : i32} : (tuple<tensor<i32>, tensor<4xf32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// jax.buffer_donor without a result that it is bound to: x dies at exp, whose result
// takes its memory.
// CHECK: "name": "donor"
// CHECK: "peak_bytes": 16,
// CHECK: "aliased_bytes": 16,
func.func @donor(%x: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32> {
  %0 = mhlo.exponential %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
