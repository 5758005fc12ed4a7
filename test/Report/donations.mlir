// What donating an argument saves, beside the report without it: the same number as
// in a report with the flag.
// RUN: es-opt --memory-report --graphs=inference --entry=@two %s | FileCheck %s --check-prefix=TWO
// RUN: es-opt --memory-report=json --graphs=inference --entry=@two %s | FileCheck %s --check-prefix=JSON
// RUN: es-opt --memory-report=json --graphs=inference --entry=@two --donate='^a\.0$' %s | FileCheck %s --check-prefix=A
// RUN: es-opt --memory-report=json --graphs=inference --entry=@two --donate='^b$' %s | FileCheck %s --check-prefix=B
// RUN: es-opt --memory-report=json --graphs=inference --entry=@two --donate='^(a\.0|b)$' %s | FileCheck %s --check-prefix=BOTH
// RUN: es-opt --memory-report --graphs=inference --entry=@elsewhere %s | FileCheck %s --check-prefix=ELSEWHERE
// RUN: es-opt --memory-report=json --graphs=inference --entry=@elsewhere --donate='^a$' %s | FileCheck %s --check-prefix=SAME
// RUN: es-opt --memory-report --graphs=inference --entry=@many %s | FileCheck %s --check-prefix=MANY

// a.0 16*4*4 = 256, b 8*4*4 = 128, k 16: 400. Both updated ones beside them: 784;
// one of them only 784 - 256 = 528 or 784 - 128 = 656; none 400.
// TWO: peak {{ *}}784
// TWO: note: donate a.0 (--donate='^a\.0$'): saves 256 B (256 B): peak 528 B instead of 784 B
// TWO-NEXT: note: donate b (--donate='^b$'): saves 128 B (128 B): peak 656 B instead of 784 B
// TWO-NEXT: note: donate all 2 (--donate='^(a\.0|b)$'): saves 384 B (384 B): peak 400 B instead of 784 B
// JSON: "donate b (--donate='^b$'): saves 128 B (128 B): peak 656 B instead of 784 B"
// A: "peak_bytes": 528
// A-NOT: donate a
// B: "peak_bytes": 656
// BOTH: "peak_bytes": 400
// BOTH-NOT: donate
func.func @two(%a: tensor<16x4xf32> loc("a.0"), %b: tensor<8x4xf32> loc("b"), %k: tensor<1x4xf32>, %at: index) -> (tensor<16x4xf32>, tensor<8x4xf32>) {
  %0 = tensor.insert_slice %k into %a[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<16x4xf32>
  %1 = tensor.insert_slice %k into %b[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  return %0, %1 : tensor<16x4xf32>, tensor<8x4xf32>
}

// x 256*4 = 1024, a 256, k 16: 1296; the exponential 1024 beside them: 2320. It is
// gone when a is updated: 1296 + 256 is less.
// ELSEWHERE: note: donate a (--donate='^a$'): saves nothing: the peak of 2320 B is elsewhere
// SAME: "peak_bytes": 2320
func.func @elsewhere(%a: tensor<16x4xf32> loc("a"), %x: tensor<256xf32>, %k: tensor<1x4xf32>, %at: index) -> (f32, tensor<16x4xf32>) {
  %t = math.exp %x : tensor<256xf32>
  %r = tensor.extract %t[%at] : tensor<256xf32>
  %0 = tensor.insert_slice %k into %a[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<16x4xf32>
  return %r, %0 : f32, tensor<16x4xf32>
}

// The four largest of five, then all. 4 * (2 + 3 + 4 + 5 + 6) = 80, k 4, and the
// updated ones 80: 164.
// MANY: note: donate e ({{.*}}: saves 24 B (24 B): peak 140 B instead of 164 B
// MANY-NEXT: note: donate d
// MANY-NEXT: note: donate c
// MANY-NEXT: note: donate b
// MANY-NEXT: note: donate all 5 (--donate='^(a|b|c|d|e)$'): saves 80 B (80 B): peak 84 B instead of 164 B
func.func @many(%a: tensor<2xf32> loc("a"), %b: tensor<3xf32> loc("b"), %c: tensor<4xf32> loc("c"), %d: tensor<5xf32> loc("d"), %e: tensor<6xf32> loc("e"), %k: tensor<1xf32>) -> (tensor<2xf32>, tensor<3xf32>, tensor<4xf32>, tensor<5xf32>, tensor<6xf32>) {
  %0 = tensor.insert_slice %k into %a[0] [1] [1] : tensor<1xf32> into tensor<2xf32>
  %1 = tensor.insert_slice %k into %b[0] [1] [1] : tensor<1xf32> into tensor<3xf32>
  %2 = tensor.insert_slice %k into %c[0] [1] [1] : tensor<1xf32> into tensor<4xf32>
  %3 = tensor.insert_slice %k into %d[0] [1] [1] : tensor<1xf32> into tensor<5xf32>
  %4 = tensor.insert_slice %k into %e[0] [1] [1] : tensor<1xf32> into tensor<6xf32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<3xf32>, tensor<4xf32>, tensor<5xf32>, tensor<6xf32>
}
