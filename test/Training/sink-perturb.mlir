// RUN: es-opt --es-sink-perturb --canonicalize %s | FileCheck %s

// One for each op that reads it, right before it; the one that nobody reads is gone.
// CHECK-LABEL: @each_reader
// CHECK-COUNT-2: es.perturb
// CHECK-NOT: es.perturb
// CHECK-NOT: es.release
func.func @each_reader(%w: tensor<4x4xf32>, %x: tensor<4x4xf32>, %key: i64, %m: index) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%m) : tensor<4x4xf32> into tensor<4x4xf32>
  %q = es.perturb normal16 %w <trainable "v"> into %e key(%key) member(%m) : tensor<4x4xf32> into tensor<4x4xf32>
  %y = linalg.matmul ins(%x, %p : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = linalg.matmul ins(%y, %p : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  es.release %p, %q : tensor<4x4xf32>, tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}

// Slices of slices: layer 2 of 5x4x3 starts at 2*12 = 24, its row %i at 24 + 3 %i.
// CHECK-LABEL: @slices
// CHECK-SAME: %[[W:[^:]*]]: tensor<5x4x3xf32>
// CHECK-SAME: %[[I:[^:]*]]: index
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK: tensor.extract_slice %[[W]]
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %[[C3]]
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %[[C24]]
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: es.perturb normal16 %[[S]] <trainable "w"> into {{.*}} at(%[[AT]]) : tensor<1x3xf32> into tensor<1x3xf32>
// CHECK-NOT: es.perturb
func.func @slices(%w: tensor<5x4x3xf32>, %i: index, %key: i64, %m: index) -> tensor<1x3xf32> {
  %e = tensor.empty() : tensor<5x4x3xf32>
  %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%m) : tensor<5x4x3xf32> into tensor<5x4x3xf32>
  %s = tensor.extract_slice %p[2, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<5x4x3xf32> to tensor<4x3xf32>
  %t = tensor.extract_slice %s[%i, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<1x3xf32>
  return %t : tensor<1x3xf32>
}

// Columns do not follow each other: the whole is perturbed.
// CHECK-LABEL: @no_columns
// CHECK: es.perturb {{.*}} : tensor<4x3xf32> into tensor<4x3xf32>
// CHECK: tensor.extract_slice
func.func @no_columns(%w: tensor<4x3xf32>, %key: i64, %m: index) -> tensor<4x1xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%m) : tensor<4x3xf32> into tensor<4x3xf32>
  %s = tensor.extract_slice %p[0, 1] [4, 1] [1, 1] : tensor<4x3xf32> to tensor<4x1xf32>
  return %s : tensor<4x1xf32>
}

// Low-rank noise is that of the matrix, not of a part.
// CHECK-LABEL: @no_low_rank
// CHECK: es.perturb {{.*}} : tensor<4x3xf32> into tensor<4x3xf32>
// CHECK: tensor.extract_slice
func.func @no_low_rank(%w: tensor<4x3xf32>, %key: i64, %m: index) -> tensor<1x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%m) {rank = 1} : tensor<4x3xf32> into tensor<4x3xf32>
  %s = tensor.extract_slice %p[1, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<1x3xf32>
  return %s : tensor<1x3xf32>
}

// Rows are perturbed in the memory that they were gathered to.
// CHECK-LABEL: @rows
// CHECK-SAME: %[[W:[^:]*]]: tensor<100x3xf32>
// CHECK-SAME: %[[IDS:[^:]*]]: tensor<5xi32>
// CHECK: %[[G:.*]] = linalg.generic
// CHECK: tensor.extract %[[W]]
// CHECK: es.perturb normal16 %[[G]] <trainable "w"> into %[[G]] {{.*}} rows(%[[IDS]] : tensor<5xi32>) : tensor<5x3xf32> into tensor<5x3xf32>
// CHECK-NOT: es.perturb
func.func @rows(%w: tensor<100x3xf32>, %ids: tensor<5xi32>, %key: i64, %m: index) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<100x3xf32>
  %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%m) : tensor<100x3xf32> into tensor<100x3xf32>
  %o = tensor.empty() : tensor<5x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<5xi32>) outs(%o : tensor<5x3xf32>) {
  ^bb0(%id: i32, %out: f32):
    %r = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %p[%r, %j] : tensor<100x3xf32>
    linalg.yield %v : f32
  } -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// A transpose is read through: no transposed copy, and one perturbed tensor.
// CHECK-LABEL: @transposed
// CHECK-SAME: %[[W:[^:]*]]: tensor<3x4xf32>
// CHECK-NOT: linalg.transpose
// CHECK: %[[P:.*]] = es.perturb normal16 %[[W]]
// CHECK-NEXT: linalg.generic {{.*}} ins(%{{.*}}, %[[P]] : tensor<5x4xf32>, tensor<3x4xf32>)
func.func @transposed(%w: tensor<3x4xf32>, %x: tensor<5x4xf32>, %y: tensor<5x3xf32>, %key: i64, %m: index) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%m) : tensor<3x4xf32> into tensor<3x4xf32>
  %t = tensor.empty() : tensor<4x3xf32>
  %q = linalg.transpose ins(%p : tensor<3x4xf32>) outs(%t : tensor<4x3xf32>) permutation = [1, 0]
  %z = linalg.matmul ins(%x, %q : tensor<5x4xf32>, tensor<4x3xf32>) outs(%y : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %z : tensor<5x3xf32>
}

// What is no structured op needs the transposed tensor.
// CHECK-LABEL: @no_structured_reader
// CHECK: es.perturb
// CHECK-NEXT: linalg.transpose
func.func @no_structured_reader(%w: tensor<3x4xf32>, %key: i64, %m: index) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%m) : tensor<3x4xf32> into tensor<3x4xf32>
  %t = tensor.empty() : tensor<4x3xf32>
  %q = linalg.transpose ins(%p : tensor<3x4xf32>) outs(%t : tensor<4x3xf32>) permutation = [1, 0]
  return %q : tensor<4x3xf32>
}

// Of a tensor that is no matrix the noise is full whatever the rank says.
// CHECK-LABEL: @slice_of_a_stack
// CHECK: tensor.extract_slice
// CHECK: es.perturb {{.*}} at(
// CHECK-NOT: rank
// CHECK: return
func.func @slice_of_a_stack(%w: tensor<5x4x3xf32>, %key: i64, %m: index) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<5x4x3xf32>
  %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%m) {rank = 1} : tensor<5x4x3xf32> into tensor<5x4x3xf32>
  %s = tensor.extract_slice %p[2, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<5x4x3xf32> to tensor<4x3xf32>
  return %s : tensor<4x3xf32>
}
