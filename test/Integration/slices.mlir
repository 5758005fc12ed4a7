// Slices, concatenation, padding: predicted == counted.
// RUN: test-es-run %s | FileCheck %s

// CHECK: @extract: {{.*}} equal, values equal
func.func @extract(%x: tensor<8x8xf32>) -> tensor<2x8xf32> attributes {test.run} {
  %a = arith.addf %x, %x : tensor<8x8xf32>
  %s = tensor.extract_slice %a[2, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
  %b = arith.mulf %s, %s : tensor<2x8xf32>
  return %b : tensor<2x8xf32>
}

// CHECK: @insert: {{.*}} equal, values equal
func.func @insert(%x: tensor<8x8xf32>, %y: tensor<2x8xf32>) -> tensor<8x8xf32> attributes {test.run} {
  %a = arith.addf %x, %x : tensor<8x8xf32>
  %b = arith.mulf %y, %y : tensor<2x8xf32>
  %c = tensor.insert_slice %b into %a[4, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}

// Into an argument: it is the caller's, so it is copied.
// CHECK: @insert_into_argument: {{.*}} equal, values equal
func.func @insert_into_argument(%x: tensor<8x8xf32>, %y: tensor<2x8xf32>) -> tensor<8x8xf32> attributes {test.run} {
  %c = tensor.insert_slice %y into %x[4, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}

// Into a donated argument: in place.
// CHECK: @insert_into_donated: {{.*}} equal, values equal
func.func @insert_into_donated(%x: tensor<8x8xf32> {bufferization.writable = true}, %y: tensor<2x8xf32>) -> (tensor<8x8xf32>, tensor<2x8xf32>) attributes {test.run} {
  %c = tensor.insert_slice %y into %x[4, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>
  %z = arith.addf %y, %y : tensor<2x8xf32>
  return %c, %z : tensor<8x8xf32>, tensor<2x8xf32>
}

// A donated argument dies at its last use and is freed there.
// CHECK: @donated_dies: {{.*}} equal, values equal
func.func @donated_dies(%x: tensor<8x8xf32> {bufferization.writable = true}, %w: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {test.run} {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %a = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = linalg.matmul ins(%a, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %b : tensor<8x8xf32>
}

// CHECK: @concat: {{.*}} equal, values equal
func.func @concat(%x: tensor<4x8xf32>, %y: tensor<2x8xf32>) -> tensor<6x8xf32> attributes {test.run} {
  %a = arith.addf %x, %x : tensor<4x8xf32>
  %b = arith.addf %y, %y : tensor<2x8xf32>
  %c = tensor.concat dim(0) %a, %b : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32>
  %d = math.absf %c : tensor<6x8xf32>
  return %d : tensor<6x8xf32>
}

// CHECK: @pad: {{.*}} equal, values equal
func.func @pad(%x: tensor<4x4xf32>) -> tensor<6x6xf32> attributes {test.run} {
  %zero = arith.constant 0.0 : f32
  %a = arith.addf %x, %x : tensor<4x4xf32>
  %p = tensor.pad %a low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x4xf32> to tensor<6x6xf32>
  return %p : tensor<6x6xf32>
}

// A key-value cache, undonated: copied once, the original stays.
// CHECK: @cache: {{.*}} equal, values equal
func.func @cache(%cache: tensor<16x4xf32>, %k: tensor<1x4xf32>, %q: tensor<4x1xf32>, %at: index {test.value = 5 : index}) -> (tensor<16x4xf32>, tensor<16x1xf32>) attributes {test.run} {
  %zero = arith.constant 0.0 : f32
  %new = tensor.insert_slice %k into %cache[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<16x4xf32>
  %e = tensor.empty() : tensor<16x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x1xf32>) -> tensor<16x1xf32>
  %s = linalg.matmul ins(%new, %q : tensor<16x4xf32>, tensor<4x1xf32>) outs(%f : tensor<16x1xf32>) -> tensor<16x1xf32>
  return %new, %s : tensor<16x4xf32>, tensor<16x1xf32>
}

// A tile computed in place inside a larger tensor.
// CHECK: @tile: {{.*}} equal, values equal
func.func @tile(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {test.run} {
  %one = arith.constant 1.0 : f32
  %a = arith.addf %x, %x : tensor<8x8xf32>
  %s = tensor.extract_slice %a[2, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
  %f = linalg.fill ins(%one : f32) outs(%s : tensor<2x8xf32>) -> tensor<2x8xf32>
  %r = tensor.insert_slice %f into %a[2, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}


// The branch takes the donated argument and the result is read later: the fill,
// which ignores the old contents, must not write over it. 8*8*4 = 256 of x, which
// becomes the result of either side, and 256 of the fill, which becomes the sum.
// CHECK: @donated_taken: predicted 512, counted 512, equal, values equal
func.func @donated_taken(%x: tensor<8x8xf32> {bufferization.writable = true}, %c: i1 {test.value = 1 : i1}, %s: f32) -> (tensor<8x8xf32>, tensor<8x8xf32>) attributes {test.run} {
  %0 = scf.if %c -> (tensor<8x8xf32>) {
    scf.yield %x : tensor<8x8xf32>
  } else {
    %n = math.absf %x : tensor<8x8xf32>
    scf.yield %n : tensor<8x8xf32>
  }
  %1 = linalg.fill ins(%s : f32) outs(%x : tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = arith.addf %1, %0 : tensor<8x8xf32>
  return %2, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK: 10 programs
