// Attributes for later passes, and the remark at the peak.
// RUN: es-opt --es-annotate-memory %s | FileCheck %s
// RUN: es-opt --es-print-memory-report --remarks-filter=es --remark-format=emitRemark %s 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: es-opt --memory-report --explain=%0 --print-roles --timeline %s | FileCheck %s --check-prefix=TEXT
// RUN: not es-opt --memory-report --explain=nobody %s 2>&1 | FileCheck %s --check-prefix=NOBODY

// x and w are 64 bytes each, the product 64 more: 192 from the first op on. The
// exponential takes the product over, so its op has no buffer of its own and the
// product's lives from point 0 to the return at point 3.
// CHECK: es.memory = {arena_bytes = 192 : i64, peak_bytes = 192 : i64, peak_op = "arith.mulf"}
// CHECK: arith.mulf %{{.*}} {es.bytes = 64 : i64, es.live_range = array<i64: 0, 3>, es.peak}
// CHECK: tensor.empty() : tensor
// CHECK: math.exp %{{[0-9]+}} : tensor

// REMARK: annotate-memory.mlir:[[@LINE+16]]:8: remark: [Analysis] PeakMemory | Category:es | ArenaBytes=192, PeakBytes=192

// TEXT: live bytes by program point:
// TEXT-NEXT: 0 192
// TEXT-NEXT: 1 192
// TEXT-NEXT: 2 192
// TEXT-NEXT: 3 192
// TEXT: trainable parameter  w.weight tensor<16xf32> (name)
// TEXT: --params='^(w\.weight)$'
// TEXT-NEXT: --inputs='^(x)$'
// TEXT: %0: output, tensor<16xf32>, 64 B, live from point 0 to 3
// TEXT-NEXT: %0 used by math.exp
// TEXT-NEXT: %2 used by func.return

// NOBODY: no buffer is called 'nobody'
func.func @f(%x: tensor<16xf32>, %w: tensor<16xf32> loc("w.weight")) -> tensor<16xf32> {
  %0 = arith.mulf %x, %w : tensor<16xf32>
  %1 = tensor.empty() : tensor<16xf32>
  %2 = math.exp %0 : tensor<16xf32>
  return %2 : tensor<16xf32>
}
