// The kernels that benchmarks/update measures: 2^20 elements and
// 32 pairs unless said.
func.func @normal16_f32(%w: memref<1048576xf32>, %c: memref<32xf32>, %key: i64) attributes {llvm.emit_c_interface} {
  %n = arith.constant 32 : i64
  %u = arith.constant 1.0 : f64
  es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : memref<32xf32>)
      params(%w : memref<1048576xf32>) as [#es.param<trainable "w", id = 7 : i32>] {sigma = 0.5, lr = 0.25}
  return
}
func.func @normal16_bf16(%w: memref<1048576xbf16>, %c: memref<32xf32>, %key: i64) attributes {llvm.emit_c_interface} {
  %n = arith.constant 32 : i64
  %u = arith.constant 1.0 : f64
  es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : memref<32xf32>)
      params(%w : memref<1048576xbf16>) as [#es.param<trainable "w", id = 7 : i32>]
      {sigma = 0.5, lr = 0.25, rounding = #es.rounding<stochastic>}
  return
}
func.func @normal32_f32(%w: memref<1048576xf32>, %c: memref<32xf32>, %key: i64) attributes {llvm.emit_c_interface} {
  %n = arith.constant 32 : i64
  %u = arith.constant 1.0 : f64
  es.update sgd maximize normal32 key(%key) weights(%c, %n, %u : memref<32xf32>)
      params(%w : memref<1048576xf32>) as [#es.param<trainable "w", id = 7 : i32>] {sigma = 0.5, lr = 0.25}
  return
}
func.func @rademacher_f32(%w: memref<1048576xf32>, %c: memref<32xf32>, %key: i64) attributes {llvm.emit_c_interface} {
  %n = arith.constant 32 : i64
  %u = arith.constant 1.0 : f64
  es.update sgd maximize rademacher key(%key) weights(%c, %n, %u : memref<32xf32>)
      params(%w : memref<1048576xf32>) as [#es.param<trainable "w", id = 7 : i32>] {sigma = 0.5, lr = 0.25}
  return
}
// 4096 x 4096, 128 pairs, so a population of 256.
func.func @low_rank_f32(%w: memref<4096x4096xf32>, %c: memref<128xf32>, %key: i64) attributes {llvm.emit_c_interface} {
  %n = arith.constant 256 : i64
  %u = arith.constant 1.0 : f64
  es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : memref<128xf32>)
      params(%w : memref<4096x4096xf32>) as [#es.param<trainable "w", id = 7 : i32>] {sigma = 0.5, lr = 0.25, rank = 1}
  return
}
// Eight pairs: a population of 16.
func.func @normal16_f32_few(%w: memref<1048576xf32>, %c: memref<8xf32>, %key: i64) attributes {llvm.emit_c_interface} {
  %n = arith.constant 16 : i64
  %u = arith.constant 1.0 : f64
  es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : memref<8xf32>)
      params(%w : memref<1048576xf32>) as [#es.param<trainable "w", id = 7 : i32>]
      {sigma = 0.5, lr = 0.25}
  return
}
// Eight pairs: a population of 16.
func.func @normal16_bf16_few(%w: memref<1048576xbf16>, %c: memref<8xf32>, %key: i64) attributes {llvm.emit_c_interface} {
  %n = arith.constant 16 : i64
  %u = arith.constant 1.0 : f64
  es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : memref<8xf32>)
      params(%w : memref<1048576xbf16>) as [#es.param<trainable "w", id = 7 : i32>]
      {sigma = 0.5, lr = 0.25, rounding = #es.rounding<stochastic>}
  return
}
