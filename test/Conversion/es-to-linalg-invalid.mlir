// RUN: es-opt --convert-es-to-linalg %s -split-input-file -verify-diagnostics

func.func @part(%w: tensor<1x4xf32>, %key: i64, %m: index, %at: index) -> tensor<1x4xf32> {
  // expected-error@+1 {{cannot be lowered to linalg: expects a whole parameter that is perturbed, not a part of it, nor undone}}
  %p = es.perturb normal16 %w <trainable "w"> into %w key(%key) member(%m) at(%at) : tensor<1x4xf32> into tensor<1x4xf32>
  return %p : tensor<1x4xf32>
}

// -----

func.func @rows(%w: tensor<2x4xf32>, %key: i64, %m: index, %r: tensor<2xi32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{cannot be lowered to linalg: expects a whole parameter that is perturbed}}
  %p = es.perturb normal16 %w <trainable "w"> into %w key(%key) member(%m) rows(%r : tensor<2xi32>) : tensor<2x4xf32> into tensor<2x4xf32>
  return %p : tensor<2x4xf32>
}

// -----

func.func @undone(%w: tensor<4xf32>, %key: i64, %m: index) -> tensor<4xf32> {
  // expected-error@+1 {{cannot be lowered to linalg: expects a whole parameter that is perturbed}}
  %p = es.perturb normal16 %w <trainable "w"> into %w key(%key) member(%m) {undo} : tensor<4xf32> into tensor<4xf32>
  return %p : tensor<4xf32>
}

// -----

func.func @factors(%a: tensor<1x8xf32>, %b: tensor<1x4xf32>, %key: i64, %m: index) -> tensor<1x8xf32> {
  // expected-error@+1 {{cannot be lowered to linalg}}
  %p, %q = es.perturb_factors normal16 <trainable "w"> into %a, %b key(%key) member(%m) : tensor<1x8xf32>, tensor<1x4xf32>
  return %p : tensor<1x8xf32>
}
