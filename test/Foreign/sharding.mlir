// RUN: es-opt %s | FileCheck %s
// RUN: es-opt %s | es-opt | FileCheck %s

// CHECK: "sdy.mesh"() {mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "mesh"} : () -> ()
sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @constraint
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}
func.func @constraint(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) -> tensor<8x8xf32> {
  // CHECK: "sdy.sharding_constraint"(%arg0) {sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  // CHECK: "sdy.all_gather"(%{{.*}}) {gathering_axes = #sdy<list_of_axis_ref_lists[{"x"}, {}]>, out_sharding = #sdy.sharding<@mesh, [{}, {"y"}]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  // CHECK: "sdy.all_reduce"(%{{.*}}) {out_sharding = #sdy.sharding<@mesh, [{}, {}]>, reduction_axes = #sdy<axis_ref_list{"y"}>} :
  %2 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  // CHECK: "sdy.named_computation"(%{{.*}}) ({
  // CHECK: }) {name = "block"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = sdy.named_computation<"block">(%2) (%a: tensor<8x8xf32>) {
    sdy.return %a : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @manual
func.func @manual(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: "sdy.manual_computation"(%arg0) ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4x8xf32>):
  // CHECK-NEXT:   "sdy.return"(%[[A]]) : (tensor<4x8xf32>) -> ()
  // CHECK-NEXT: }) {in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<4x8xf32>) {
    sdy.return %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @fragment
func.func @fragment(%x: !mpmd.mesh_tensor<"m", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m", tensor<4xf32>> {
  // CHECK: "mpmd.fragment"(%arg0) ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4xf32>):
  // CHECK: }) {{.*}} : (!mpmd.mesh_tensor<"m", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m", tensor<4xf32>>
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%x) (%a: tensor<4xf32>) {
    %1 = stablehlo.add %a, %a : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!mpmd.mesh_tensor<"m", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m", tensor<4xf32>>
  return %0 : !mpmd.mesh_tensor<"m", tensor<4xf32>>
}
