// RUN: es-opt %s | FileCheck %s
// RUN: es-opt %s | es-opt | FileCheck %s

// CHECK: "util.global"() {initial_value = dense<0.000000e+00> : tensor<4xf32>, sym_name = "w", sym_visibility = "private", type = tensor<4xf32>} : () -> ()
util.global private @w = dense<0.0> : tensor<4xf32>
// CHECK: "util.global"() {initial_value = #stream.parameter.named<"model"::"a.b"> : tensor<4xf32>, sym_name = "a.b", sym_visibility = "private", type = tensor<4xf32>} : () -> ()
util.global private @a.b = #stream.parameter.named<"model"::"a.b"> : tensor<4xf32>
// CHECK: "util.global"() {inlining_policy = #util.inline.never, is_mutable, sym_name = "quoted-name", type = tensor<i32>} : () -> ()
util.global mutable @"quoted-name" {inlining_policy = #util.inline.never} : tensor<i32>

// CHECK: "util.func"() ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<?xf32>, %[[D:.*]]: index):
// CHECK-NEXT: "util.global.load"() {global = @w} : () -> tensor<4xf32>
// CHECK-NEXT: "util.global.load"() {global = @"quoted-name", is_immutable} : () -> tensor<i32>
// CHECK-NEXT: "util.global.store"(%{{.*}}) {global = @w} : (tensor<4xf32>) -> ()
// CHECK-NEXT: "flow.tensor.reshape"(%[[A]], %[[D]], %[[D]]) : (tensor<?xf32>, index, index) -> tensor<1x?xf32>
// CHECK-NEXT: "util.call"(%{{.*}}) {callee = @g} : (tensor<1x?xf32>) -> tensor<1x?xf32>
// CHECK-NEXT: "util.return"(%{{.*}}) : (tensor<1x?xf32>) -> ()
// CHECK-NEXT: }) {arg_attrs = [{a.name = "x"}, {}], function_type = (tensor<?xf32>, index) -> tensor<1x?xf32>, iree.abi.stub, sym_name = "f", sym_visibility = "public"} : () -> ()
util.func public @f(%x: tensor<?xf32> {a.name = "x"}, %d: index) -> tensor<1x?xf32> attributes {iree.abi.stub} {
  %w = util.global.load @w : tensor<4xf32>
  %q = util.global.load immutable @"quoted-name" : tensor<i32>
  util.global.store %w, @w : tensor<4xf32>
  %0 = flow.tensor.reshape %x : tensor<?xf32>{%d} -> tensor<1x?xf32>{%d}
  %1 = util.call @g(%0) : (tensor<1x?xf32>) -> tensor<1x?xf32>
  util.return %1 : tensor<1x?xf32>
}

// A declaration; its result shares its argument's memory.
// CHECK: "util.func"() ({
// CHECK-NEXT: }) {function_type = (tensor<1x?xf32>) -> tensor<1x?xf32>, sym_name = "g", sym_visibility = "private"} : () -> ()
util.func private @g(%x: tensor<1x?xf32>) -> %x

// CHECK-LABEL: func @hal
func.func @hal(%v: !hal.buffer_view, %f: !hal.fence, %s: !hal.buffer) -> !hal.buffer_view {
  // CHECK: %[[T:.*]] = "hal.tensor.import"(%arg1, %arg0) {name = "input"} : (!hal.fence, !hal.buffer_view) -> tensor<4xf32>
  %0 = hal.tensor.import wait(%f) => %v "input" : !hal.buffer_view -> tensor<4xf32>
  // CHECK: %[[B:.*]] = "hal.tensor.barrier"(%[[T]], %arg1) : (tensor<4xf32>, !hal.fence) -> tensor<4xf32>
  %1 = hal.tensor.barrier join(%0 : tensor<4xf32>) => %f : !hal.fence
  // CHECK: "hal.tensor.export"(%[[B]]) {name = "output"} : (tensor<4xf32>) -> !hal.buffer_view
  %2 = hal.tensor.export %1 "output" : tensor<4xf32> -> !hal.buffer_view
  return %2 : !hal.buffer_view
}

// CHECK: "util.initializer"() ({
// CHECK-NEXT:   "util.return"() : () -> ()
util.initializer {
  util.return
}
