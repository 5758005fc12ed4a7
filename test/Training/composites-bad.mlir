// RUN: es-opt --split-input-file --verify-diagnostics --es-expand-vjp %s

// The operand of a GELU is not kept, and nothing stands for it.
func.func @not_kept(%dy: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error @below {{has no expansion: the gradient of a composite 'gelu' reads operand 0, which is not kept}}
  %dx = es.vjp elementwise "es.composite" saved() cotangents(0 = %dy) wrt [0] : (tensor<4xf64>) -> tensor<4xf64> {
  ^bb0(%x: tensor<4xf64>):
    %y = es.composite gelu(%x) : (tensor<4xf64>) -> tensor<4xf64> {
    ^bb0(%a: tensor<4xf64>):
      %e = math.erf %a : tensor<4xf64>
      %g = arith.mulf %a, %e : tensor<4xf64>
    }
  }
  return %dx : tensor<4xf64>
}

// -----

// The statistics of a layer norm are for its own gradient.
func.func @statistics(%x: tensor<4xf64>) -> tensor<f64> {
  // expected-error @below {{has no expansion: result 1 is read}}
  %y, %m, %r = es.composite layer_norm(%x) : (tensor<4xf64>) -> (tensor<4xf64>, tensor<f64>, tensor<f64>) {
  ^bb0(%a: tensor<4xf64>):
    %e = math.exp %a : tensor<4xf64>
  }
  return %m : tensor<f64>
}

// -----

// What a body is made of has to have an expansion.
func.func @foreign(%x: tensor<4xf64>, %dy: tensor<4xf64>) -> tensor<4xf64> {
  %dx = es.vjp elementwise "es.composite" saved(operand 0 = %x) cotangents(0 = %dy) wrt [0] : (tensor<4xf64>) -> tensor<4xf64> {
  ^bb0(%b: tensor<4xf64>):
    %y = es.composite gelu(%b) : (tensor<4xf64>) -> tensor<4xf64> {
    ^bb0(%a: tensor<4xf64>):
      // expected-error @below {{no expansion}}
      %g = "chlo.erf"(%a) : (tensor<4xf64>) -> tensor<4xf64>
    }
  }
  return %dx : tensor<4xf64>
}
