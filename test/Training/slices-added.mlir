// The gradient of a lookup adds each row where it belongs, in a loop over what is looked
// up: nothing in it is of the size of the table.
// RUN: es-opt --es-stablehlo-to-linalg %s -o %t.mlir
// RUN: es-opt --pass-pipeline="builtin.module(es-build-training-graph{loss=sum optimizer=sgd},es-expand-vjp)" %t.mlir -o %t.step.mlir
// RUN: FileCheck %s --input-file=%t.step.mlir
// RUN: %python %S/Inputs/gradients.py es-opt %llvm_bin %t.mlir --loss=mse @lookup | FileCheck %s --check-prefix=EXECUTED

// CHECK-LABEL: func.func @lookup.training_step
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (tensor<6x4xf64>, tensor<50x4xf64>)
// CHECK-NOT: linalg.fill {{.*}} tensor<50x4xf64>
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[SUM]][
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[ROW]]
// CHECK-NEXT: tensor.insert_slice %[[NEW]] into %[[SUM]]
// CHECK-NOT: arith.addf {{.*}} : tensor<50x4xf64>
// CHECK: return
// EXECUTED: 1 functions, 0 different
func.func @lookup(%ids: tensor<6xi32>, %table: tensor<50x4xf64> {es.param = #es.param<trainable "table">}) -> tensor<6x4xf64> {
  %y = "stablehlo.gather"(%table, %ids) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<50x4xf64>, tensor<6xi32>) -> tensor<6x4xf64>
  return %y : tensor<6x4xf64>
}
