// RUN: es-opt --memory-report --graphs=inference --print-roles --entry=@named %s | FileCheck %s --check-prefix=NAMED
// RUN: es-opt --memory-report --graphs=inference --print-roles --entry=@named --freeze=arg1 --donate=^x$ %s | FileCheck %s --check-prefix=RULES
// RUN: es-opt --memory-report --graphs=inference --print-roles --entry=@made_up %s | FileCheck %s --check-prefix=MADE
// RUN: es-opt --memory-report --graphs=inference --entry=@dynamic --sweep=rows.0:1,2 %s | FileCheck %s --check-prefix=SWEEP
// RUN: es-opt --memory-report --graphs=inference --entry=@dynamic --sweep=arg0.0:1,2 %s | FileCheck %s --check-prefix=SWEEP

// Arguments that no exporter named are called as in the text, on whichever line
// they stand; a name that says so makes a parameter. A location that is written
// has the last word, and `argN` goes on meaning a position.
// NAMED: trainable parameter  fc.weight
// NAMED: trainable parameter  out.kernel
// NAMED: --inputs='^(x)$'
// RULES: frozen parameter  fc.weight
// RULES: --donate='^(x)$'
func.func @named(%x: tensor<2x2xf32>,
                 %fc.weight: tensor<2x2xf32>, %w2: tensor<2x2xf32> loc("out.kernel"))
    -> tensor<2x2xf32> {
  %0 = stablehlo.dot %x, %fc.weight : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.dot %0, %w2 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// Numbers, and names that a printer made up, are positions.
// MADE: --inputs='^(arg0|arg1)$'
func.func @made_up(%0: tensor<2xf32>, %arg7: tensor<2xf32>) -> tensor<2xf32> {
  %1 = stablehlo.add %0, %arg7 : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// A row of 4 floats, and its exponential: 32 bytes, and 64 for two.
// SWEEP: 1 {{ *}}32 (32 B)
// SWEEP: 2 {{ *}}64 (64 B)
func.func @dynamic(%rows: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = stablehlo.exponential %rows : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
