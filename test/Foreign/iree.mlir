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
  // CHECK: "hal.tensor.alias"(%arg1, %[[B]], %arg2) {keywords = ["to"]} : (!hal.fence, tensor<4xf32>, !hal.buffer) -> tensor<4xf32>
  %3 = hal.tensor.alias wait(%f) => %1 : tensor<4xf32> to %s : !hal.buffer
  return %2 : !hal.buffer_view
}

// CHECK-LABEL: func @dispatches
func.func @dispatches(%x: tensor<?x4xf32>, %d: index, %v: !hal.buffer_view) -> tensor<?x4xf32> {
  // CHECK: "flow.dispatch"(%arg1, %arg0, %arg1, %arg1, %arg1) {entry_points = @ex::@entry} : (index, tensor<?x4xf32>, index, index, index) -> tensor<?x4xf32>
  %0 = flow.dispatch @ex::@entry[%d](%x, %d) : (tensor<?x4xf32>{%d}, index) -> tensor<?x4xf32>{%d}
  // CHECK: "flow.dispatch.workgroups"(
  // CHECK-NEXT: ^bb0(%{{.*}}: !flow.dispatch.tensor<readonly:tensor<?x4xf32>>, %{{.*}}: !flow.dispatch.tensor<writeonly:tensor<?x4xf32>>):
  // CHECK-NEXT:   "flow.return"() : () -> ()
  // CHECK-NEXT: }) : (index, tensor<?x4xf32>, index, index) -> tensor<?x4xf32>
  %1 = flow.dispatch.workgroups[%d](%x) : (tensor<?x4xf32>{%d}) -> tensor<?x4xf32>{%d} =
      (%a: !flow.dispatch.tensor<readonly:tensor<?x4xf32>>, %b: !flow.dispatch.tensor<writeonly:tensor<?x4xf32>>) {
    flow.return
  }
  // CHECK: "stream.tensor.import"(%arg2, %arg1) : (!hal.buffer_view, index) -> !stream.resource<external>
  %2 = stream.tensor.import %v : !hal.buffer_view -> tensor<4xf32> in !stream.resource<external>{%d}
  // CHECK: "util.assume.int"(%arg1, %arg1) {{.*}} : (index, index) -> (index, index)
  %3:2 = util.assume.int
      %d<umin = 0, umax = 128>,
      %d[<umin = 0>, <umax = 4>]
      : index, index
  return %1 : tensor<?x4xf32>
}

// CHECK: "util.initializer"() ({
// CHECK-NEXT:   "util.return"() : () -> ()
util.initializer {
  util.return
}
