// Straight-line programs: predicted peak == counted peak, to the byte, and the
// values of upstream's bufferization.
// RUN: test-es-run %s | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#col = affine_map<(i, j) -> (i)>
#tr = affine_map<(i, j) -> (j, i)>

// CHECK: @mlp: {{.*}} equal, values equal
func.func @mlp(%x: tensor<4x8xf32>, %w1: tensor<8x16xf32>, %w2: tensor<16x2xf32>) -> tensor<4x2xf32> attributes {test.run} {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<4x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %z = linalg.matmul ins(%x, %w1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<4x16xf32>) outs(%e1 : tensor<4x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4x16xf32>
  %e3 = tensor.empty() : tensor<4x2xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.matmul ins(%r, %w2 : tensor<4x16xf32>, tensor<16x2xf32>) outs(%f3 : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// CHECK: @residual: {{.*}} equal, values equal
func.func @residual(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {test.run} {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = arith.maximumf %h, %zero : tensor<8x8xf32>
  %y = arith.addf %h, %r : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// An elementwise chain stays in one buffer.
// CHECK: @chain: {{.*}} equal, values equal
func.func @chain(%x: tensor<16xf32>) -> tensor<16xf32> attributes {test.run} {
  %two = arith.constant dense<2.0> : tensor<16xf32>
  %a = arith.mulf %x, %two : tensor<16xf32>
  %b = arith.addf %a, %a : tensor<16xf32>
  %c = math.absf %b : tensor<16xf32>
  %d = arith.subf %c, %x : tensor<16xf32>
  return %d : tensor<16xf32>
}

// CHECK: @dead_values: {{.*}} equal, values equal
func.func @dead_values(%x: tensor<16xf32>) -> tensor<16xf32> attributes {test.run} {
  %unused = arith.mulf %x, %x : tensor<16xf32>
  %also = math.exp %unused : tensor<16xf32>
  %y = arith.addf %x, %x : tensor<16xf32>
  return %y : tensor<16xf32>
}

// CHECK: @several_results: {{.*}} equal, values equal
func.func @several_results(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) attributes {test.run} {
  %a = arith.addf %x, %x : tensor<16xf32>
  %b = arith.mulf %a, %x : tensor<16xf32>
  return %a, %b, %a : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}

// CHECK: @argument_returned: {{.*}} equal, values equal
func.func @argument_returned(%x: tensor<16xf32>, %y: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) attributes {test.run} {
  %a = arith.addf %x, %y : tensor<16xf32>
  return %y, %a : tensor<16xf32>, tensor<16xf32>
}

// The old contents are read after the write: a copy.
// CHECK: @used_after_write: {{.*}} equal, values equal
func.func @used_after_write(%x: tensor<16xf32>, %v: f32) -> (tensor<16xf32>, tensor<16xf32>) attributes {test.run} {
  %i = arith.constant 3 : index
  %a = arith.addf %x, %x : tensor<16xf32>
  %b = tensor.insert %v into %a[%i] : tensor<16xf32>
  %c = arith.addf %a, %b : tensor<16xf32>
  return %b, %c : tensor<16xf32>, tensor<16xf32>
}

// CHECK: @insert_in_place: {{.*}} equal, values equal
func.func @insert_in_place(%x: tensor<16xf32>, %v: f32) -> tensor<16xf32> attributes {test.run} {
  %i = arith.constant 3 : index
  %j = arith.constant 5 : index
  %a = arith.addf %x, %x : tensor<16xf32>
  %b = tensor.insert %v into %a[%i] : tensor<16xf32>
  %c = tensor.insert %v into %b[%j] : tensor<16xf32>
  return %c : tensor<16xf32>
}

// CHECK: @reduction: {{.*}} equal, values equal
func.func @reduction(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) attributes {test.run} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %in, %acc : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %e2 = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<4x8xf32>, tensor<4xf32>) outs(%e2 : tensor<4x8xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %d = arith.subf %in, %s : f32
    linalg.yield %d : f32
  } -> tensor<4x8xf32>
  return %sum, %y : tensor<4xf32>, tensor<4x8xf32>
}

// A transposed operand is not read elementwise: nothing is taken over.
// CHECK: @transpose: {{.*}} equal, values equal
func.func @transpose(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {test.run} {
  %a = arith.addf %x, %x : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %t = linalg.transpose ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %s = linalg.generic {indexing_maps = [#id, #tr, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t, %t : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %d = arith.mulf %p, %q : f32
    linalg.yield %d : f32
  } -> tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}

// CHECK: @reshape: {{.*}} equal, values equal
func.func @reshape(%x: tensor<4x6xf32>) -> tensor<2x2x6xf32> attributes {test.run} {
  %a = arith.addf %x, %x : tensor<4x6xf32>
  %c = tensor.collapse_shape %a [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %b = math.absf %c : tensor<24xf32>
  %e = tensor.expand_shape %b [[0, 1, 2]] output_shape [2, 2, 6] : tensor<24xf32> into tensor<2x2x6xf32>
  return %e : tensor<2x2x6xf32>
}

// CHECK: @constants: {{.*}} equal, values equal
func.func @constants(%x: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {test.run} {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %one = arith.constant dense<1.0> : tensor<2x2xf32>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %a = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  // A contraction needs the splat in memory, the sum does not.
  %b = linalg.matmul ins(%a, %one : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = arith.addf %b, %one : tensor<2x2xf32>
  return %c : tensor<2x2xf32>
}

// CHECK: @returns_constants: {{.*}} equal, values equal
func.func @returns_constants(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {test.run} {
  %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  return %w, %one : tensor<4xf32>, tensor<4xf32>
}

// CHECK: @from_elements: {{.*}} equal, values equal
func.func @from_elements(%v: f32, %i: index) -> (tensor<3xf32>, tensor<4xindex>) attributes {test.run} {
  %a = tensor.from_elements %v, %v, %v : tensor<3xf32>
  %b = math.absf %a : tensor<3xf32>
  %g = tensor.generate {
  ^bb0(%k: index):
    %s = arith.addi %k, %i : index
    tensor.yield %s : index
  } : tensor<4xindex>
  return %b, %g : tensor<3xf32>, tensor<4xindex>
}

// CHECK: 14 programs
