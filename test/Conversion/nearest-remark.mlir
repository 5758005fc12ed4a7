// RUN: es-opt --convert-es-to-vector --remarks-filter=es --remark-format=emitRemark %s 2>&1 >/dev/null | FileCheck %s

// CHECK: nearest-remark.mlir:[[@LINE+5]]:3: remark: [Missed] NearestRounding
// CHECK-SAME: updates below half an ulp of bf16 vanish
// CHECK-NOT: NearestRounding
func.func @f(%w: memref<4xbf16>, %v: memref<4xf32>, %b: memref<4xbf16>, %key: i64, %c: memref<8xf32>,
             %n: i64, %u: f64) {
  es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : memref<8xf32>)
      params(%w, %v : memref<4xbf16>, memref<4xf32>) as [#es.param<trainable "w">, #es.param<trainable "v">]
  es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : memref<8xf32>)
      params(%b : memref<4xbf16>) as [#es.param<trainable "b">] {rounding = #es.rounding<stochastic>}
  return
}
