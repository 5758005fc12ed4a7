// The last rule that matches wins, for the tool and for the pass alike.
// RUN: es-opt --memory-report --freeze=.* --train=b %s | FileCheck %s
// RUN: es-opt --es-print-memory-report="freeze=.* train=b" %s -o /dev/null | FileCheck %s
// RUN: es-opt --memory-report --train=b --freeze=.* %s | FileCheck %s --check-prefix=FROZEN
// RUN: es-opt --es-print-memory-report="train=b freeze=.*" %s -o /dev/null | FileCheck %s --check-prefix=FROZEN
// RUN: es-opt --memory-report --print-roles --params=#1-2 %s | FileCheck %s --check-prefix=POSITION

// a is 4 x 4 B, b 8 x 4 B, and the global that nothing reads 300 x 4 B = 1200 B:
// 16 + 1200 = 1216 frozen and 32 trained, or 1248 frozen.
// CHECK: frozen parameter{{ +}}1216 (1.2 KiB)
// CHECK: trainable parameter{{ +}}32 (32 B)
// FROZEN: frozen parameter{{ +}}1248 (1.2 KiB)

// A parameter that nothing reads is in the inventory, and is named.
// POSITION: trainable parameter {{ *}}a.weight tensor<4xf32> (flag)
// POSITION: trainable parameter {{ *}}unread tensor<300xf32> (use)
ml_program.global private @unread(dense_resource<__elided__> : tensor<300xf32>) : tensor<300xf32>
func.func @f(%x: tensor<4xf32> loc("x"), %a: tensor<4xf32> loc("a.weight"), %b: tensor<8xf32> loc("b.weight")) -> (tensor<4xf32>, tensor<8xf32>) {
  %0 = arith.addf %x, %a : tensor<4xf32>
  return %0, %b : tensor<4xf32>, tensor<8xf32>
}
