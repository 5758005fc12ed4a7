func.func @update(%w: memref<100x100xf32>, %key: i64, %c: memref<8xf32>, %n: i64, %u: f64) {
  es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : memref<8xf32>)
      params(%w : memref<100x100xf32>) as [#es.param<trainable "w">]
  return
}
func.func @adam(%w: memref<100xbf16>, %m: memref<100xf32>, %v: memref<100xf32>, %t: i64, %key: i64,
                %c: memref<8xf32>, %n: i64, %u: f64) {
  es.update adam maximize normal32 key(%key) weights(%c, %n, %u : memref<8xf32>) step(%t)
      params(%w : memref<100xbf16>) as [#es.param<trainable "w">]
      states(%m, %v : memref<100xf32>, memref<100xf32>) {rounding = #es.rounding<stochastic>}
  return
}
