// es.param loses nothing that is read, and stands in no upstream pass's way.
// RUN: es-opt --canonicalize %s | FileCheck %s --check-prefixes=CHECK,CANON
// RUN: es-opt --cse %s | FileCheck %s --check-prefixes=CHECK,CSE
// RUN: es-opt --inline --symbol-dce %s | FileCheck %s --check-prefix=INLINE
// RUN: es-opt --convert-elementwise-to-linalg --one-shot-bufferize=bufferize-function-boundaries %s | FileCheck %s --check-prefix=BUFFER
// RUN: es-opt --ownership-based-buffer-deallocation %s | FileCheck %s --check-prefix=DEALLOC

// The global that nothing loads goes; the parameter it held stays listed.
// INLINE: module attributes {es.parameters = [{param = #es.param<frozen "gone">, symbol = @gone, type = tensor<4xf32>}]}
// INLINE-NOT: @gone(
// INLINE-NOT: @callee
module attributes {es.parameters = [{param = #es.param<frozen "gone">, symbol = @gone, type = tensor<4xf32>}]} {
ml_program.global private @gone(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) : tensor<4xf32>

// CHECK-LABEL: func.func @repeated(
// CHECK-SAME:    %[[W:.*]]: tensor<4xf32>)
func.func @repeated(%w: tensor<4xf32>) -> tensor<4xf32> {
  // CANON-NEXT: %[[P:.*]] = es.param %[[W]] <frozen "w"> : tensor<4xf32>
  // CANON-NEXT: return %[[P]]
  %0 = es.param %w <frozen "w"> : tensor<4xf32>
  %1 = es.param %0 <frozen "w"> : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Two annotations that differ are for the inventory to refuse, not for a fold.
// CHECK-LABEL: func.func @no_fold_of_other_annotation(
func.func @no_fold_of_other_annotation(%w: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: es.param %{{.*}} <frozen "w">
  // CHECK-NEXT: es.param %{{.*}} <trainable "w">
  %0 = es.param %w <frozen "w"> : tensor<4xf32>
  %1 = es.param %0 <trainable "w"> : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A parameter is not folded into the program.
// CHECK-LABEL: func.func @no_fold_of_constant(
func.func @no_fold_of_constant() -> tensor<4xf32> {
  // CHECK: es.param %{{.*}} <frozen "c">
  // CHECK: arith.addf
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %0 = es.param %c <frozen "c"> : tensor<4xf32>
  %1 = arith.addf %0, %c : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Static sizes pass through.
// CANON-LABEL: func.func @cast_moves_behind(
// CANON-SAME:    %[[W:.*]]: tensor<4x4xf32>,
func.func @cast_moves_behind(%w: tensor<4x4xf32>, %i: index, %j: index) -> f32 {
  // CANON-NEXT: %[[P:.*]] = es.param %[[W]] <frozen "w"> : tensor<4x4xf32>
  // CANON-NEXT: tensor.extract %[[P]]
  %0 = tensor.cast %w : tensor<4x4xf32> to tensor<?x4xf32>
  %1 = es.param %0 <frozen "w"> : tensor<?x4xf32>
  %2 = tensor.extract %1[%i, %j] : tensor<?x4xf32>
  return %2 : f32
}

// CSE-LABEL: func.func @equal_uses_merge(
func.func @equal_uses_merge(%w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CSE-NEXT: %[[A:.*]] = es.param %{{.*}} <frozen "a">
  // CSE-NEXT: %[[B:.*]] = es.param %{{.*}} <frozen "b">
  // CSE-NEXT: return %[[A]], %[[A]], %[[B]]
  %0 = es.param %w <frozen "a"> : tensor<4xf32>
  %1 = es.param %w <frozen "a"> : tensor<4xf32>
  %2 = es.param %w <frozen "b"> : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

func.func private @callee(%w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = es.param %w <frozen "tied"> : tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Inlining twice is legal: the op is a use, not a definition.
// INLINE-LABEL: func.func @inlined_twice(
// INLINE-COUNT-2: es.param %arg0 <frozen "tied">
// INLINE: return
func.func @inlined_twice(%w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = func.call @callee(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @callee(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// The storage takes the op's place.
// BUFFER-LABEL: func.func @read(
// BUFFER-SAME:    %[[W:.*]]: memref<4xf32{{.*}}>, %[[I:.*]]: index)
// BUFFER-NEXT: %[[X:.*]] = memref.load %[[W]][%[[I]]]
// BUFFER-NEXT: return %[[X]]
func.func @read(%w: tensor<4xf32>, %i: index) -> f32 {
  %0 = es.param %w <frozen "w"> : tensor<4xf32>
  %1 = tensor.extract %0[%i] : tensor<4xf32>
  return %1 : f32
}

// A write after the annotation copies, since the storage is read later.
// BUFFER-LABEL: func.func @written(
// BUFFER-SAME:    %[[W:.*]]: memref<4xf32{{.*}}> {es.param = #es.param<frozen "w">}
// BUFFER: %[[NEW:.*]] = memref.alloc
// BUFFER: memref.copy %[[W]], %[[NEW]]
// BUFFER: memref.store %{{.*}}, %[[NEW]]
func.func @written(%w: tensor<4xf32> {es.param = #es.param<frozen "w">}, %i: index, %x: f32) -> (tensor<4xf32>, f32) {
  %0 = es.param %w <frozen "w"> : tensor<4xf32>
  %1 = tensor.insert %x into %0[%i] : tensor<4xf32>
  %2 = tensor.extract %w[%i] : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, f32
}

// The annotated memref is freed once, after its last use through the view.
// DEALLOC-LABEL: func.func @freed(
// DEALLOC: %[[A:.*]] = memref.alloc
// DEALLOC: %[[P:.*]] = es.param %[[A]]
// DEALLOC: memref.load %[[P]]
// DEALLOC: %[[BASE:[a-z_]+]], %{{.*}} = memref.extract_strided_metadata %[[A]]
// DEALLOC: bufferization.dealloc (%[[BASE]] : memref<f32>)
// DEALLOC-NOT: bufferization.dealloc
// DEALLOC: return
func.func @freed(%i: index) -> f32 {
  %0 = memref.alloc() : memref<4xf32>
  %1 = es.param %0 <frozen "w"> : memref<4xf32>
  %2 = memref.load %1[%i] : memref<4xf32>
  return %2 : f32
}
}
