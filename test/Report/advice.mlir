// A graph that exceeds its budget: each flag that would help, with what a run with
// that flag reports.
// RUN: split-file %s %t
// RUN: not es-opt --memory-report --graphs=inference --budget=600 %t/step.mlir 2> /dev/null | FileCheck %s --check-prefix=STEP
// RUN: not es-opt --memory-report=json --graphs=inference --budget=600 %t/step.mlir 2> /dev/null | FileCheck %s --check-prefix=JSON
// RUN: es-opt --memory-report=json --graphs=inference --donate='^(cache)$' --budget=600 %t/step.mlir | FileCheck %s --check-prefix=DONATED
// RUN: es-opt --memory-report --graphs=inference --budget=608 %t/step.mlir | FileCheck %s --check-prefix=FITS
// RUN: not es-opt --memory-report --graphs=inference --budget=400 %t/mlp.mlir 2> /dev/null | FileCheck %s --check-prefix=MLP
// RUN: es-opt --memory-report=json --graphs=inference --stored-as='^(w)$:bf16' %t/mlp.mlir | FileCheck %s --check-prefix=BF16
// RUN: es-opt --memory-report=json --graphs=inference --stored-as='^(w)$:i8' %t/mlp.mlir | FileCheck %s --check-prefix=I8
// RUN: not es-opt --memory-report --graphs=inference --shape=batch:64 --budget=10000 %t/batch.mlir 2> /dev/null | FileCheck %s --check-prefix=BATCH
// RUN: es-opt --memory-report=json --graphs=inference --shape=batch:32 %t/batch.mlir | FileCheck %s --check-prefix=HALF
// RUN: not es-opt --memory-report --graphs=backprop --budget=backprop:2000 --loss=sum %S/../Analysis/toy.mlir 2> /dev/null | FileCheck %s --check-prefix=FREEZE

// cache 256, k 16, q 16, scores 64, and the second cache 256: 608. Donated: 352.
// STEP: 600 B? inference no (608 B)
// STEP: note: advice: --donate='^(cache)$' needs 352 B (352 B), which fits
// k is gone when the scores come: 608 - 16 = 592. Of q, 16 bytes, half is 600.
// STEP-NEXT: note: advice: --donate='^(k)$' needs 592 B (592 B), which fits
// STEP-NEXT: note: advice: --stored-as='^(q)$:bf16' needs 600 B (600 B), which fits
// STEP: note: donate cache
// JSON: "advice: --donate='^(cache)$' needs 352 B (352 B), which fits"
// DONATED: "arena_bytes": 352
// FITS-NOT: note: advice

// x 4*4*4 = 64, w 4*16*4 = 256, y 4*16*4 = 256: 576. As bf16 w has 128: 448; as i8
// 64: 384.
// MLP: 400 B? inference no (576 B)
// MLP: note: advice: --stored-as='^(w)$:bf16' needs 448 B (448 B)
// MLP-NEXT: note: advice: --stored-as='^(w)$:i8' needs 384 B (384 B), which fits
// BF16: "arena_bytes": 448
// I8: "arena_bytes": 384

// x and its exponential, 64*32*4 = 8192 each: 16384; half of it at batch 32.
// BATCH: note: advice: --shape=batch:32 needs 8192 B (8.0 KiB), which fits
// HALF: "arena_bytes": 8192

// The toy network with AdamW: 2948; with the first weight frozen, 1444.
// FREEZE: 2.0 KiB? backprop no (2.9 KiB)
// FREEZE: note: advice: --freeze='^(w1)$' needs 1444 B (1.4 KiB), which fits

//--- step.mlir
func.func @step(%cache: tensor<16x4xf32> loc("cache"), %k: tensor<1x4xf32>, %q: tensor<4x1xf32>, %at: index) -> (tensor<16x4xf32>, tensor<16x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %new = tensor.insert_slice %k into %cache[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<16x4xf32>
  %e = tensor.empty() : tensor<16x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x1xf32>) -> tensor<16x1xf32>
  %s = linalg.matmul ins(%new, %q : tensor<16x4xf32>, tensor<4x1xf32>) outs(%f : tensor<16x1xf32>) -> tensor<16x1xf32>
  return %new, %s : tensor<16x4xf32>, tensor<16x1xf32>
}
//--- mlp.mlir
func.func @mlp(%x: tensor<4x4xf32>, %w: tensor<4x16xf32> loc("w")) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
//--- batch.mlir
func.func @batch(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = math.exp %x : tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}
