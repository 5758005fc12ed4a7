// Flags of the report that no other test is about. x and its exponential: 64 each.
// RUN: es-opt --memory-report --graphs=inference --budget=inference:128 %s | FileCheck %s --check-prefix=FITS
// RUN: not es-opt --memory-report --graphs=inference --budget=127 %s 2>&1 | FileCheck %s --check-prefix=OVER
// RUN: not es-opt --memory-report --graphs=inference --budget=1KiB --reserve=897 %s | FileCheck %s --check-prefix=RESERVE
// RUN: es-opt --memory-report --graphs=inference --budget=1KiB --reserve=896 %s | FileCheck %s --check-prefix=RESERVED
// RUN: es-opt --memory-report --graphs=inference --device=cuda %s | FileCheck %s --check-prefix=CUDA
// RUN: es-opt --memory-report --graphs=inference --device=cpu --alignment=16 %s | FileCheck %s --check-prefix=ALIGNED
// RUN: es-opt --memory-report --graphs=inference --top=1 %s | FileCheck %s --check-prefix=TOP
// RUN: es-opt --memory-report --graphs=inference --explain=%x %s | FileCheck %s --check-prefix=EXPLAIN
// RUN: not es-opt --memory-report --graphs=inference --budget=1KiB --reserve=8000000TiB %s 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: es-opt --memory-report=json --graphs=inference --print-roles --explain=%x %s | FileCheck %s --check-prefix=JSON
// RUN: not es-opt --budget=1KiB %s 2>&1 | FileCheck %s --check-prefix=STRAY
// RUN: not es-opt --timeline %s 2>&1 | FileCheck %s --check-prefix=SWITCH
// RUN: not es-opt --freeze=x %s 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not es-opt --memory-report --graphs=inference --reserve=much %s 2>&1 | FileCheck %s --check-prefix=BAD

// FITS: 128 B? inference yes (128 B)
// OVER-DAG: 127 B? inference no (128 B)
// OVER-DAG: error: the budget of 127 B is exceeded: @f needs 128 B for inference
// The reserve is part of what is needed: 128 + 896 = 1024.
// RESERVE: 1.0 KiB? inference no (1.0 KiB)
// RESERVED: 1.0 KiB? inference yes (1.0 KiB)
// Each buffer is rounded up to 512 by the profile of the device.
// HUGE: inference no (7.6 EiB)
// JSON says what the text says.
// JSON: "assumptions": [
// JSON: "not_reported": []
// JSON: "roles": [
// JSON: "name": "x",
// JSON-NEXT: "role": "input",
// JSON: "explanation": [
// JSON-NEXT: "x: input, tensor<16xf32>, 64 B, live from point 0 to
// A budget without a report would pass whatever the model needs.
// STRAY: error: --budget needs --memory-report
// SWITCH: error: --timeline needs --memory-report
// RULE: error: --freeze needs --memory-report
// CUDA: peak{{ +}}1024 (1.0 KiB)
// --alignment wins over the profile.
// ALIGNED: peak{{ +}}128 (128 B)
// TOP: largest buffers there:
// TOP-NEXT: {{^ +}}64
// TOP-NOT: {{^ +}}64
// EXPLAIN: x: input, tensor<16xf32>, 64 B, live from point 0 to {{[0-9]+}}
// EXPLAIN-NEXT: x used by math.exp at {{.*}}flags.mlir:
// EXPLAIN-NEXT: kept by the caller; --donate='^x$' lets it die at its last use
// BAD: error: --reserve expects a size such as 512MiB or 24GiB, got 'much'
func.func @f(%x: tensor<16xf32> loc("x")) -> tensor<16xf32> {
  %0 = math.exp %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
