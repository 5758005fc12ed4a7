// One function for each verdict on a destination; docs/Design/MemoryModel.md
// ("Against One-Shot analysis") argues them.
// RUN: test-es-opt --split-input-file --pass-pipeline='builtin.module(test-es-compare-one-shot)' %s -o /dev/null | FileCheck %s
// RUN: not test-es-opt --pass-pipeline='builtin.module(test-es-compare-one-shot{min-in-place=100})' %s -o /dev/null --split-input-file 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: expects more agreements: too little is compared

// The first insert copies the argument, the second is in place.
// CHECK: both in place: 1
// CHECK-NEXT: both copy: 1
func.func @agree(%x: tensor<8xf32>, %s: f32, %i: index) -> tensor<8xf32> {
  %0 = tensor.insert %s into %x[%i] : tensor<8xf32>
  %1 = tensor.insert %s into %0[%i] : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// CHECK: both in place: 0
// CHECK: undefined: 1
func.func @undefined(%s: f32, %i: index) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = tensor.insert %s into %e[%i] : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// The old contents of %0 die unread: One-Shot analysis writes over them.
// CHECK: undefined: 1
// CHECK-NEXT: overwrite: 1
func.func @overwrite(%s: f32) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.fill ins(%s : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.fill ins(%s : f32) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// A slice is read after the tensor is written: we copy the tensor at the write,
// One-Shot analysis the slice at the view.
// CHECK: both copy: 1
// CHECK: view: 1
func.func @view(%x: tensor<8xf32>, %s: f32, %i: index) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = tensor.insert %s into %x[%i] : tensor<8xf32>
  %v = tensor.extract_slice %0[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %1 = tensor.insert %s into %0[%i] : tensor<8xf32>
  return %1, %v : tensor<8xf32>, tensor<4xf32>
}

// -----

// A slice goes back to where it comes from. Both writes: to the slice, and of it.
// CHECK: both copy: 1
// CHECK: subset: {{[12]}}
func.func @subset(%x: tensor<8xf32>, %s: f32, %i: index) -> tensor<8xf32> {
  %0 = tensor.insert %s into %x[%i] : tensor<8xf32>
  %v = tensor.extract_slice %0[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %w = tensor.insert %s into %v[%i] : tensor<4xf32>
  %1 = tensor.insert_slice %w into %0[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// The argument is copied where the branch yields it, so that the result may be
// written; One-Shot analysis lends it and copies at the write.
// CHECK: branch: 1
func.func @branch(%x: tensor<8xf32>, %c: i1, %s: f32, %i: index) -> tensor<8xf32> {
  %0 = scf.if %c -> (tensor<8xf32>) {
    scf.yield %x : tensor<8xf32>
  } else {
    %e = tensor.empty() : tensor<8xf32>
    %1 = linalg.fill ins(%s : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  }
  %2 = tensor.insert %s into %0[%i] : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// A slice that nobody reads keeps its base.
// CHECK: both copy: 1
// CHECK: unread: 1
func.func @unread(%x: tensor<8xf32>, %s: f32, %i: index) -> tensor<8xf32> {
  %0 = tensor.insert %s into %x[%i] : tensor<8xf32>
  %1 = tensor.insert %s into %0[%i] : tensor<8xf32>
  %v = tensor.extract_slice %0[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %1 : tensor<8xf32>
}
