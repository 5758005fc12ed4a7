// Loops, branches, blocks and calls: predicted == counted.
// RUN: test-es-run %s | FileCheck %s

// CHECK: @for_double: {{.*}} equal, values equal
func.func @for_double(%h0: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {test.run} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %h0) -> tensor<4x4xf32> {
    %m = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %m : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// CHECK: @for_in_place: {{.*}} equal, values equal
func.func @for_in_place(%x: tensor<8xf32>, %v: f32) -> tensor<8xf32> attributes {test.run} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %e) -> tensor<8xf32> {
    %a = tensor.extract %x[%i] : tensor<8xf32>
    %b = arith.mulf %a, %v : f32
    %n = tensor.insert %b into %t[%i] : tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// The initial value is used after the loop: it is copied.
// CHECK: @for_init_kept: {{.*}} equal, values equal
func.func @for_init_kept(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {test.run} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = arith.addf %x, %x : tensor<8xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %a) -> tensor<8xf32> {
    %n = arith.addf %t, %x : tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  %b = arith.mulf %a, %r : tensor<8xf32>
  return %r, %b : tensor<8xf32>, tensor<8xf32>
}

// CHECK: @for_swap: {{.*}} equal, values equal
func.func @for_swap(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {test.run} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = arith.addf %x, %y : tensor<8xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %a, %q = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    %n = arith.addf %p, %q : tensor<8xf32>
    scf.yield %q, %n : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// The same value yielded twice, and an outer one: one of them moves, the others
// are copied.
// CHECK: @for_yield_twice: {{.*}} equal, values equal
func.func @for_yield_twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) attributes {test.run} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = arith.addf %x, %x : tensor<8xf32>
  %r:3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %x, %q = %x, %s = %a) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %n = arith.addf %p, %s : tensor<8xf32>
    scf.yield %n, %n, %x : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK: @for_zero_trips: {{.*}} equal, values equal
func.func @for_zero_trips(%x: tensor<8xf32>, %n: index {test.value = 0 : index}) -> tensor<8xf32> attributes {test.run} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.addf %x, %x : tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<8xf32> {
    %m = arith.addf %t, %x : tensor<8xf32>
    scf.yield %m : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK: @nested_for: {{.*}} equal, values equal
func.func @nested_for(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {test.run} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %a = arith.addf %x, %x : tensor<4x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%t = %a) -> tensor<4x4xf32> {
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = scf.for %j = %c0 to %c2 step %c1 iter_args(%acc = %f) -> tensor<4x4xf32> {
      %m = linalg.matmul ins(%t, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%acc : tensor<4x4xf32>) -> tensor<4x4xf32>
      scf.yield %m : tensor<4x4xf32>
    }
    %u = arith.subf %s, %t : tensor<4x4xf32>
    scf.yield %u : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// CHECK: @while: {{.*}} equal, values equal
func.func @while(%x: tensor<8xf32>, %n: index {test.value = 3 : index}) -> tensor<8xf32> attributes {test.run} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.addf %x, %x : tensor<8xf32>
  %r:2 = scf.while (%i = %c0, %t = %a) : (index, tensor<8xf32>) -> (index, tensor<8xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i, %t : index, tensor<8xf32>
  } do {
  ^bb0(%i: index, %t: tensor<8xf32>):
    %j = arith.addi %i, %c1 : index
    %b = arith.mulf %t, %x : tensor<8xf32>
    scf.yield %j, %b : index, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// CHECK: @if_fresh: {{.*}} equal, values equal
func.func @if_fresh(%x: tensor<8xf32>, %c: i1 {test.value = 1 : i1}) -> tensor<8xf32> attributes {test.run} {
  %r = scf.if %c -> tensor<8xf32> {
    %a = arith.addf %x, %x : tensor<8xf32>
    %b = math.absf %a : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  } else {
    %a = arith.mulf %x, %x : tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// %a dies in both branches: written in place in one, handed on in the other.
// CHECK: @if_in_place: {{.*}} equal, values equal
func.func @if_in_place(%x: tensor<8xf32>, %v: f32, %c: i1 {test.value = 0 : i1}) -> tensor<8xf32> attributes {test.run} {
  %i = arith.constant 2 : index
  %a = arith.addf %x, %x : tensor<8xf32>
  %r = scf.if %c -> tensor<8xf32> {
    %b = tensor.insert %v into %a[%i] : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  } else {
    scf.yield %a : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// %a is read after the branch: its write is a copy, and the other branch copies
// what it lends.
// CHECK: @if_kept: {{.*}} equal, values equal
func.func @if_kept(%x: tensor<8xf32>, %v: f32, %c: i1 {test.value = 1 : i1}) -> (tensor<8xf32>, tensor<8xf32>) attributes {test.run} {
  %i = arith.constant 2 : index
  %a = arith.addf %x, %x : tensor<8xf32>
  %r = scf.if %c -> tensor<8xf32> {
    %b = tensor.insert %v into %a[%i] : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  } else {
    scf.yield %a : tensor<8xf32>
  }
  %s = arith.subf %a, %r : tensor<8xf32>
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}

// Both branches lend an argument, nobody writes it.
// CHECK: @if_borrowed: {{.*}} equal, values equal
func.func @if_borrowed(%x: tensor<8xf32>, %y: tensor<8xf32>, %c: i1) -> tensor<8xf32> attributes {test.run} {
  %r = scf.if %c -> tensor<8xf32> {
    scf.yield %x : tensor<8xf32>
  } else {
    scf.yield %y : tensor<8xf32>
  }
  %s = arith.addf %r, %x : tensor<8xf32>
  return %s : tensor<8xf32>
}

// %a dies inside an scf.if that has no else.
// CHECK: @if_without_else: {{.*}} equal, values equal
func.func @if_without_else(%x: tensor<8xf32>, %out: memref<1xf32>, %c: i1 {test.value = 0 : i1}) -> tensor<8xf32> attributes {test.run} {
  %i = arith.constant 0 : index
  %a = arith.addf %x, %x : tensor<8xf32>
  scf.if %c {
    %e = tensor.extract %a[%i] : tensor<8xf32>
    memref.store %e, %out[%i] : memref<1xf32>
  }
  %b = arith.mulf %x, %x : tensor<8xf32>
  %d = arith.addf %b, %x : tensor<8xf32>
  return %d : tensor<8xf32>
}

// CHECK: @if_in_for: {{.*}} equal, values equal
func.func @if_in_for(%x: tensor<8xf32>, %v: f32) -> tensor<8xf32> attributes {test.run} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %x) -> tensor<8xf32> {
    %low = arith.cmpi slt, %i, %c2 : index
    %n = scf.if %low -> tensor<8xf32> {
      %b = tensor.insert %v into %t[%i] : tensor<8xf32>
      scf.yield %b : tensor<8xf32>
    } else {
      %b = arith.addf %t, %x : tensor<8xf32>
      scf.yield %b : tensor<8xf32>
    }
    scf.yield %n : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK: @switch: {{.*}} equal, values equal
func.func @switch(%x: tensor<8xf32>, %k: index {test.value = 1 : index}) -> tensor<8xf32> attributes {test.run} {
  %a = arith.addf %x, %x : tensor<8xf32>
  %r = scf.index_switch %k -> tensor<8xf32>
  case 0 {
    scf.yield %a : tensor<8xf32>
  }
  case 1 {
    %b = arith.mulf %a, %x : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  default {
    %b = arith.subf %x, %x : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

func.func @callee(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %a = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = linalg.matmul ins(%a, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %b, %x : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK: @calls_twice: {{.*}} equal, values equal
func.func @calls_twice(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {test.run} {
  %a:2 = func.call @callee(%x) : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  %b:2 = func.call @callee(%a#0) : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  %c = arith.addf %b#0, %b#1 : tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}

func.func private @inlined(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = math.absf %x : tensor<8xf32>
  return %a : tensor<8xf32>
}

// CHECK: @calls_private: {{.*}} equal, values equal
func.func @calls_private(%x: tensor<8xf32>) -> tensor<8xf32> attributes {test.run} {
  %a = arith.addf %x, %x : tensor<8xf32>
  %b = func.call @inlined(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}

// CHECK: @diamond: {{.*}} equal, values equal
func.func @diamond(%x: tensor<8xf32>, %c: i1 {test.value = 1 : i1}) -> tensor<8xf32> attributes {test.run} {
  %a = arith.addf %x, %x : tensor<8xf32>
  cf.cond_br %c, ^left, ^right
^left:
  %l = arith.mulf %a, %x : tensor<8xf32>
  cf.br ^join(%l : tensor<8xf32>)
^right:
  %r = arith.subf %x, %x : tensor<8xf32>
  cf.br ^join(%r : tensor<8xf32>)
^join(%j: tensor<8xf32>):
  %s = arith.addf %j, %x : tensor<8xf32>
  return %s : tensor<8xf32>
}

// CHECK: @block_loop: {{.*}} equal, values equal
func.func @block_loop(%x: tensor<8xf32>, %n: index {test.value = 3 : index}) -> tensor<8xf32> attributes {test.run} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.addf %x, %x : tensor<8xf32>
  cf.br ^head(%c0, %a : index, tensor<8xf32>)
^head(%i: index, %t: tensor<8xf32>):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^exit
^body:
  %j = arith.addi %i, %c1 : index
  %m = arith.mulf %t, %x : tensor<8xf32>
  cf.br ^head(%j, %m : index, tensor<8xf32>)
^exit:
  %s = arith.addf %t, %x : tensor<8xf32>
  return %s : tensor<8xf32>
}

// A value handed on along one edge dies on the other.
// CHECK: @edge: {{.*}} equal, values equal
func.func @edge(%x: tensor<8xf32>, %c: i1 {test.value = 0 : i1}) -> tensor<8xf32> attributes {test.run} {
  %a = arith.addf %x, %x : tensor<8xf32>
  %b = arith.mulf %x, %x : tensor<8xf32>
  cf.cond_br %c, ^join(%a : tensor<8xf32>), ^other
^other:
  cf.br ^join(%b : tensor<8xf32>)
^join(%j: tensor<8xf32>):
  %s = math.absf %j : tensor<8xf32>
  return %s : tensor<8xf32>
}

// CHECK: 20 programs
