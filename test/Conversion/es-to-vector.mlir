// RUN: es-opt --convert-es-to-vector %s | FileCheck %s
// RUN: es-opt --convert-es-to-vector=es-threads=2 %s | FileCheck %s --check-prefix=THREADS

// One kernel an element type, whatever the number of parameters.
// CHECK-LABEL: @update
// CHECK-COUNT-1: call @es_update0_f32_all
// CHECK-COUNT-1: call @es_update0_bf16_all
// CHECK-NOT: call @es_update
func.func @update(%a: memref<100xf32>, %b: memref<7xbf16>, %c: memref<4x5xf32>, %key: i64,
                  %w: memref<8xf32>, %n: i64, %u: f64) {
  es.update sgd maximize normal16 key(%key) weights(%w, %n, %u : memref<8xf32>)
      params(%a, %b, %c : memref<100xf32>, memref<7xbf16>, memref<4x5xf32>)
      as [#es.param<trainable "a">, #es.param<trainable "b">, #es.param<trainable "c">]
  return
}

// Perturbations of one kind share theirs.
// CHECK-LABEL: @perturb
// CHECK-COUNT-2: call @es_perturb_f32_normal16_all
func.func @perturb(%a: memref<100xf32>, %b: memref<7xf32>, %key: i64, %m: index) {
  es.perturb normal16 %a <trainable "a"> into %a key(%key) member(%m) : memref<100xf32> into memref<100xf32>
  es.perturb normal16 %b <trainable "b"> into %b key(%key) member(%m) : memref<7xf32> into memref<7xf32>
  return
}

// CHECK-LABEL: @key
// CHECK-NOT: = es.step_key
func.func @key(%seed: i64, %step: i64) -> i64 {
  %key = es.step_key %seed, %step
  return %key : i64
}

// CHECK-LABEL: @shape
// CHECK: cf.assert
// CHECK-NOT: = es.shape_fitness
func.func @shape(%f: memref<?xf32>, %c: memref<?xf32>) -> (i64, f64) {
  %n, %u = es.shape_fitness centered_rank maximize %f into %c : memref<?xf32> into memref<?xf32>
  return %n, %u : i64, f64
}

// The kernels know their noise: no call but that of a tile, no function of libm.
// CHECK-LABEL: func.func private @es_update0_f32(
// CHECK-NOT: call
// CHECK: return
// CHECK-LABEL: func.func private @es_update0_f32_range(
// CHECK: call @es_update0_f32(
// CHECK-LABEL: func.func private @es_update0_f32_all(
// CHECK-NOT: omp.parallel
// CHECK: call @es_update0_f32_range(
// THREADS-LABEL: func.func private @es_update0_f32_all(
// THREADS: omp.parallel num_threads(%{{.*}} : i32)
// THREADS: call @es_update0_f32_range(
