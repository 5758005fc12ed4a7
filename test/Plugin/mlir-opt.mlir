// The packaged mlir-opt gets dialect, passes and pipelines from one flag.
// RUN: mlir-opt --load-dialect-plugin=%es_plugin --pass-pipeline='builtin.module(es-strip-annotations)' %s | FileCheck %s --check-prefix=STRIP
// RUN: mlir-opt --load-dialect-plugin=%es_plugin --pass-pipeline='builtin.module(es-print-memory-report{format=json freeze=fc memory-model=eager})' %s | FileCheck %s --check-prefix=REPORT
// RUN: mlir-opt --load-dialect-plugin=%es_plugin --pass-pipeline='builtin.module(es-bufferize)' %s | FileCheck %s --check-prefix=BUFFERIZE
// RUN: not mlir-opt --load-dialect-plugin=%es_plugin --pass-pipeline='builtin.module(es-print-memory-report{budget=10})' %s 2>&1 | FileCheck %s --check-prefix=BUDGET --implicit-check-not='see current operation'
// RUN: not mlir-opt --load-dialect-plugin=%es_plugin --pass-pipeline='builtin.module(es-print-memory-report{budget=ten})' %s 2>&1 | FileCheck %s --check-prefix=BAD

// STRIP: func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32>
// REPORT: "memory_model": "eager"
// REPORT: "frozen_bytes": 16
// BUFFERIZE: memref.alloc
// The whole module is not printed with it.
// BUDGET: error: the budget of 10 B is exceeded: @f needs 32 B for inference
// BAD: error: es-print-memory-report: --budget expects a size such as 512MiB or 24GiB, got 'ten'
func.func @f(%w: tensor<4xf32> {es.param = #es.param<trainable "fc">}) -> tensor<4xf32> {
  %0 = es.param %w <trainable "fc"> : tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
