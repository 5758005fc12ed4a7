// Element types: predicted == counted.
// RUN: test-es-run %s | FileCheck %s

// CHECK: @bf16: {{.*}} equal, values equal
func.func @bf16(%x: tensor<33xbf16>) -> tensor<33xf32> attributes {test.run} {
  %a = arith.extf %x : tensor<33xbf16> to tensor<33xf32>
  %b = arith.mulf %a, %a : tensor<33xf32>
  return %b : tensor<33xf32>
}

// CHECK: @f16: {{.*}} equal, values equal
func.func @f16(%x: tensor<8x8xf16>, %y: tensor<8x8xf16>) -> tensor<8x8xf32> attributes {test.run} {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %a = linalg.matmul ins(%x, %y : tensor<8x8xf16>, tensor<8x8xf16>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %a : tensor<8x8xf32>
}

// CHECK: @f64: {{.*}} equal, values equal
func.func @f64(%x: tensor<9xf64>) -> tensor<9xf64> attributes {test.run} {
  %a = arith.addf %x, %x : tensor<9xf64>
  %b = math.sqrt %a : tensor<9xf64>
  return %b : tensor<9xf64>
}

// The comparison has another type, so nothing is taken over; the selection
// takes one of its values over.
// CHECK: @i1: {{.*}} equal, values equal
func.func @i1(%x: tensor<65xf32>) -> tensor<65xf32> attributes {test.run} {
  %a = arith.addf %x, %x : tensor<65xf32>
  %b = arith.mulf %x, %x : tensor<65xf32>
  %c = arith.cmpf olt, %a, %b : tensor<65xf32>
  %d = arith.select %c, %a, %b : tensor<65xi1>, tensor<65xf32>
  return %d : tensor<65xf32>
}

// CHECK: @i8: {{.*}} equal, values equal
func.func @i8(%x: tensor<7x5xi8>, %w: tensor<5x3xi8>) -> tensor<7x3xi32> attributes {test.run} {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<7x3xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<7x3xi32>) -> tensor<7x3xi32>
  %y = linalg.matmul ins(%x, %w : tensor<7x5xi8>, tensor<5x3xi8>) outs(%f : tensor<7x3xi32>) -> tensor<7x3xi32>
  return %y : tensor<7x3xi32>
}

// LLVM gives an i4 a byte: the model counts what is allocated.
// CHECK: @i4: {{.*}} equal, values equal
func.func @i4(%x: tensor<130xi8>) -> tensor<130xi8> attributes {test.run} {
  %a = arith.trunci %x : tensor<130xi8> to tensor<130xi4>
  %b = arith.addi %a, %a : tensor<130xi4>
  %c = arith.extsi %b : tensor<130xi4> to tensor<130xi8>
  return %c : tensor<130xi8>
}

// CHECK: @index: {{.*}} equal, values equal
func.func @index(%x: tensor<9xindex>) -> tensor<9xi32> attributes {test.run} {
  %a = arith.addi %x, %x : tensor<9xindex>
  %b = arith.index_cast %a : tensor<9xindex> to tensor<9xi32>
  return %b : tensor<9xi32>
}

// CHECK: @rank0: {{.*}} equal, values equal
func.func @rank0(%x: tensor<f32>, %s: f32) -> (tensor<f32>, f32) attributes {test.run} {
  %a = arith.addf %x, %x : tensor<f32>
  %v = tensor.extract %a[] : tensor<f32>
  %w = arith.mulf %v, %s : f32
  %b = tensor.insert %w into %a[] : tensor<f32>
  return %b, %w : tensor<f32>, f32
}

// CHECK: @empty: {{.*}} equal, values equal
func.func @empty(%x: tensor<0x4xf32>, %y: tensor<4xf32>) -> (tensor<0x4xf32>, tensor<4xf32>) attributes {test.run} {
  %a = arith.addf %x, %x : tensor<0x4xf32>
  %b = arith.addf %y, %y : tensor<4xf32>
  return %a, %b : tensor<0x4xf32>, tensor<4xf32>
}

// CHECK: 9 programs
