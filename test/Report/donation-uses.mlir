// What becomes of each donated argument, and why.
// RUN: es-opt --memory-report --graphs=inference --entry=@main %s | FileCheck %s --check-prefix=MAIN
// RUN: es-opt --memory-report --graphs=inference --entry=@main --memory-model=eager %s | FileCheck %s --check-prefix=EAGER
// RUN: es-opt --memory-report=json --graphs=inference --entry=@main %s | FileCheck %s --check-prefix=JSON
// RUN: es-opt --memory-report --graphs=inference --entry=@reasons %s | FileCheck %s --check-prefix=WHY
// RUN: es-opt --memory-report --graphs=inference --entry=@reasons --top=2 %s | FileCheck %s --check-prefix=TOP
// RUN: es-opt --memory-report --graphs=inference --entry=@paths %s | FileCheck %s --check-prefix=PATHS
// RUN: es-opt --memory-report --graphs=inference --entry=@none %s | FileCheck %s --check-prefix=NONE
// RUN: es-opt --memory-report --graphs=inference --entry=@none --donate=x %s | FileCheck %s --check-prefix=FLAG

// The sum is made where a is, so that b has no second taker; c is read by the last
// op, and its half is no result of c's size.
// MAIN: donated arguments: 1 reused, 1 only freed before the end, 1 unused
// MAIN-NEXT: {{^}}             512  unused  c: read until stablehlo.slice at {{.*}}:[[#@LINE+17]]:8; no result has its size
// MAIN-NEXT: {{^}}            1024  freed   b: read until stablehlo.add at {{.*}}:[[#@LINE+15]]:8; result 0 is in the memory of a
// MAIN-NEXT: {{^}}            1024  reused  a: result 0 is in its memory
// Eagerly, every op has a result of its own.
// EAGER: donated arguments: 0 reused, 2 only freed before the end, 1 unused
// EAGER: freed   a: read until stablehlo.add at {{.*}}; that op writes result 0 while it reads
// JSON: "donations": [
// JSON: "argument": "a",
// JSON-NEXT: "bytes": 1024,
// JSON-NEXT: "outcome": "reused",
// JSON-NEXT: "result": 0,
// JSON-NEXT: "why": "result 0 is in its memory"
func.func @main(%a: tensor<256xf32> {tf.aliasing_output = 0 : i32},
                %b: tensor<256xf32> {jax.buffer_donor = true},
                %c: tensor<128xf32> {jax.buffer_donor = true})
    -> (tensor<256xf32>, tensor<64xf32>) {
  %0 = stablehlo.add %a, %b : tensor<256xf32>
  %1 = stablehlo.slice %c [0:64] : (tensor<128xf32>) -> tensor<64xf32>
  return %0, %1 : tensor<256xf32>, tensor<64xf32>
}

// old is read after result 0 is begun; its memory holds the exponential all the
// same. early is dead before result 1 is begun, which has its size. late is said to
// become result 7; there are six. wide is said to become result 2, of half its
// size. same is returned as it is. unread is read by nothing.
// WHY: donated arguments: 2 reused, 4 only freed before the end, 0 unused
// WHY-DAG: freed   early: read until stablehlo.reduce at {{.*}}; result 1 is begun only after that, by stablehlo.slice at
// WHY-DAG: freed   late: read until stablehlo.slice at {{.*}}; there is no result 7 for it to become
// WHY-DAG: freed   wide: read until stablehlo.slice at {{.*}}; result 2 takes 64 B
// WHY-DAG: reused  old: written again by stablehlo.exponential at {{.*}}; result 0 is begun before that, by stablehlo.tanh at
// WHY-DAG: reused  same: result 4 is in its memory
// WHY-DAG: freed   unread: nothing reads it; no result has its size
// TOP: donated arguments: 2 reused, 4 only freed
// TOP: freed
// TOP-NEXT: freed
// TOP-NEXT: and 4 more (--top, or the JSON report)
func.func @reasons(%old: tensor<100xf32> {tf.aliasing_output = 0 : i32},
                   %early: tensor<30xf32> {jax.buffer_donor = true},
                   %late: tensor<20xf32> {tf.aliasing_output = 7 : i32},
                   %wide: tensor<32xf32> {tf.aliasing_output = 2 : i32},
                   %same: tensor<5xf32> {tf.aliasing_output = 4 : i32},
                   %unread: tensor<3xf32> {jax.buffer_donor = true},
                   %zero: tensor<f32>)
    -> (tensor<100xf32>, tensor<30xf32>, tensor<16xf32>, tensor<f32>, tensor<5xf32>, tensor<10xf32>) {
  %t = stablehlo.tanh %old : tensor<100xf32>
  %e = stablehlo.exponential %old : tensor<100xf32>
  %s = stablehlo.reduce(%early init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<30xf32>, tensor<f32>) -> tensor<f32>
  %p = stablehlo.slice %e [0:30] : (tensor<100xf32>) -> tensor<30xf32>
  %l = stablehlo.slice %late [0:10] : (tensor<20xf32>) -> tensor<10xf32>
  %w = stablehlo.slice %wide [0:16] : (tensor<32xf32>) -> tensor<16xf32>
  %q = stablehlo.negate %s : tensor<f32>
  return %t, %p, %w, %q, %same, %l : tensor<100xf32>, tensor<30xf32>, tensor<16xf32>, tensor<f32>, tensor<5xf32>, tensor<10xf32>
}

// Two returns: which memory the result is in depends on the path.
// PATHS: donated arguments: 1 reused, 0 only freed before the end, 0 unused
// PATHS-NEXT: reused  x: result 0 is in its memory on some path
func.func @paths(%x: tensor<8xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = math.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
^bb2:
  %1 = math.tanh %y : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// NONE-NOT: donated arguments
// FLAG: donated arguments: 1 reused, 0 only freed before the end, 0 unused
// FLAG: reused  x: result 0 is in its memory
func.func @none(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
