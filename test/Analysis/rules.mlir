// A peak by hand for each rule on which values share memory. t is 4*4*4 = 64 bytes.
// RUN: es-opt --memory-report --graphs=inference --entry='*' %s | FileCheck %s

// A view is its source: x, and |x|, whose flat view the exponential overwrites:
// 2 t = 128.
// CHECK-LABEL: @view
// CHECK: peak{{ +}}128 (128 B)
func.func @view(%x: tensor<4x4xf32>) -> tensor<16xf32> {
  %a = math.absf %x : tensor<4x4xf32>
  %v = tensor.collapse_shape %a [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %r = math.exp %v : tensor<16xf32>
  return %r : tensor<16xf32>
}

// A destination whose old contents nobody reads later is written in place: 2 t.
// CHECK-LABEL: @in_place
// CHECK: peak{{ +}}128 (128 B)
func.func @in_place(%x: tensor<4x4xf32>, %s: f32, %i: index) -> tensor<4x4xf32> {
  %a = math.absf %x : tensor<4x4xf32>
  %n = tensor.insert %s into %a[%i, %i] : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// With old contents that are read later it is a copy: x, old and new, 3 t = 192.
// CHECK-LABEL: @copied
// CHECK: peak{{ +}}192 (192 B)
func.func @copied(%x: tensor<4x4xf32>, %s: f32, %i: index) -> tensor<4x4xf32> {
  %a = math.absf %x : tensor<4x4xf32>
  %n = tensor.insert %s into %a[%i, %i] : tensor<4x4xf32>
  %r = arith.addf %a, %n : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// An argument is never written: x and its copy, 2 t.
// CHECK-LABEL: @argument
// CHECK: peak{{ +}}128 (128 B)
func.func @argument(%x: tensor<4x4xf32>, %s: f32, %i: index) -> tensor<4x4xf32> {
  %n = tensor.insert %s into %x[%i, %i] : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// Unless it is donated: t.
// CHECK-LABEL: @donated
// CHECK: peak{{ +}}64 (64 B)
func.func @donated(%x: tensor<4x4xf32> {bufferization.writable = true}, %s: f32, %i: index) -> tensor<4x4xf32> {
  %n = tensor.insert %s into %x[%i, %i] : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// A loop that updates in place carries one buffer: x and it, 2 t.
// CHECK-LABEL: @loop_in_place
// CHECK: peak{{ +}}128 (128 B)
func.func @loop_in_place(%x: tensor<4x4xf32>, %s: f32, %n: index) -> tensor<4x4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = math.absf %x : tensor<4x4xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%h = %a) -> (tensor<4x4xf32>) {
    %next = tensor.insert %s into %h[%zero, %zero] : tensor<4x4xf32>
    scf.yield %next : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// A product reads all of the old value: x, old and new, 3 t = 192.
// CHECK-LABEL: @loop_double
// CHECK: peak{{ +}}192 (192 B)
func.func @loop_double(%x: tensor<4x4xf32>, %s: f32, %n: index) -> tensor<4x4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = math.absf %x : tensor<4x4xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%h = %a) -> (tensor<4x4xf32>) {
    %e = tensor.empty() : tensor<4x4xf32>
    %f = linalg.fill ins(%s : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %next = linalg.matmul ins(%h, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %next : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// The most over both sides of a branch: x, |x| and the product, 3 t, against x and
// the product.
// CHECK-LABEL: @branch
// CHECK: peak{{ +}}192 (192 B)
func.func @branch(%x: tensor<4x4xf32>, %c: i1, %s: f32) -> tensor<4x4xf32> {
  %r = scf.if %c -> (tensor<4x4xf32>) {
    %e = tensor.empty() : tensor<4x4xf32>
    %f = linalg.fill ins(%s : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %p = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %p : tensor<4x4xf32>
  } else {
    %a = math.absf %x : tensor<4x4xf32>
    %e = tensor.empty() : tensor<4x4xf32>
    %f = linalg.fill ins(%s : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %p = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %p : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// A callee needs 2 t beyond its argument, |x| and the product. At the second call x
// and the first result are live as well: 4 t = 256.
// CHECK-LABEL: @callee
// CHECK: peak{{ +}}192 (192 B)
func.func @callee(%x: tensor<4x4xf32>, %s: f32) -> tensor<4x4xf32> {
  %a = math.absf %x : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}
// CHECK-LABEL: @caller
// CHECK: peak{{ +}}256 (256 B)
func.func @caller(%x: tensor<4x4xf32>, %s: f32) -> tensor<4x4xf32> {
  %a = func.call @callee(%x, %s) : (tensor<4x4xf32>, f32) -> tensor<4x4xf32>
  %b = func.call @callee(%a, %s) : (tensor<4x4xf32>, f32) -> tensor<4x4xf32>
  return %b : tensor<4x4xf32>
}

// tensor.empty takes memory from its first write, when |x| is gone: x 64 and
// 8*8*4 = 256, not 384.
// CHECK-LABEL: @empty
// CHECK: peak{{ +}}320 (320 B)
func.func @empty(%x: tensor<4x4xf32>, %i: index) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %a = math.absf %x : tensor<4x4xf32>
  %s = tensor.extract %a[%i, %i] : tensor<4x4xf32>
  %r = linalg.fill ins(%s : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// A splat that is added has no memory: 2 t.
// CHECK-LABEL: @splat_added
// CHECK: peak{{ +}}128 (128 B)
func.func @splat_added(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %r = arith.addf %x, %one : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// A product needs it in memory: x, the splat and the product, 3 t.
// CHECK-LABEL: @splat_multiplied
// CHECK: peak{{ +}}192 (192 B)
func.func @splat_multiplied(%x: tensor<4x4xf32>, %s: f32) -> tensor<4x4xf32> {
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%x, %one : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}

// A returned argument is that argument: t.
// CHECK-LABEL: @returned
// CHECK: peak{{ +}}64 (64 B)
func.func @returned(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %x : tensor<4x4xf32>
}
