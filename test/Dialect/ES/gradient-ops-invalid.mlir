// RUN: es-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

func.func @no_name(%x: tensor<4xf32>) {
  // expected-error@+1 {{(V1) expects the name of an op}}
  %0 = es.vjp opaque "" cotangents(0 = %x) wrt [0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_such_operand(%x: tensor<4xf32>) {
  // expected-error@+1 {{(V2) expects indices below 1, got 1}}
  %0 = es.vjp opaque "t.f" saved(operand 1 = %x) cotangents(0 = %x) wrt [0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_such_gradient(%x: tensor<4xf32>) {
  // expected-error@+1 {{(V2) expects indices below 1, got 2}}
  %0 = es.vjp opaque "t.f" cotangents(0 = %x) wrt [2] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_repetition(%x: tensor<4xf32>) {
  // expected-error@+1 {{(V2) expects indices of gradients to rise and to be below 2, got 0}}
  %0:2 = es.vjp opaque "t.f" cotangents(0 = %x) wrt [1, 0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_other_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{(V3) expects saved operands 0 to be 'tensor<5xf32>', got 'tensor<4xf32>'}}
  %0 = "es.vjp"(%x, %x) <{of = "t.f", kind = #es<vjp_kind opaque>, saved_operands = array<i32: 0>, saved_results = array<i32>,
    cotangent_of = array<i32: 0>, wrt = array<i32: 0>, original_type = (tensor<5xf32>) -> tensor<4xf32>,
    operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @no_cotangent(%x: tensor<4xf32>) {
  // expected-error@+1 {{(V4) expects a cotangent and a gradient}}
  %0 = es.vjp opaque "t.f" cotangents() wrt [0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_two_views(%x: tensor<4xf32>) {
  // expected-error@+1 {{(V4) expects a view to have one gradient, got 2}}
  %0:2 = es.vjp view "t.f" cotangents(0 = %x) wrt [0, 1] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_other_op(%x: tensor<4xf32>) {
  // expected-error@+1 {{(V5) expects 't.f' on the arguments of its block, of type '(tensor<4xf32>) -> tensor<4xf32>', got 't.g'}}
  %0 = es.vjp opaque "t.f" cotangents(0 = %x) wrt [0] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = "t.g"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  }
  return
}

// -----

func.func @no_two_ops(%x: tensor<4xf32>) {
  // expected-error@+1 {{(V5) expects one op in the region}}
  %0 = es.vjp opaque "t.f" cotangents(0 = %x) wrt [0] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = "t.f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = "t.f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  }
  return
}

// -----

func.func @no_kind(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects a kind of gradient, got 'sideways'}}
  %0 = es.vjp sideways "t.f" cotangents(0 = %x) wrt [0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_vector_loss(%x: tensor<4xf32>) {
  // expected-error@+1 {{(L1) expects a loss of rank 0, a float, got 'tensor<4xf32>'}}
  %0 = es.loss sum(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_labels(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{(L2) expects labels and log-probabilities with 'xent'}}
  %0 = es.loss xent(%x) : (tensor<4x2xf32>) -> tensor<f32>
  return
}

// -----

func.func @no_wide_labels(%x: tensor<4x2xf32>, %l: tensor<4x2xi32>) {
  // expected-error@+1 {{(L2) expects labels of the shape of 'tensor<4x2xf32>' without its last dimension, got 'tensor<4x2xi32>'}}
  %0:2 = es.loss xent(%x, %l) : (tensor<4x2xf32>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
  return
}

// -----

func.func @no_float_labels(%x: tensor<4x2xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{(L2) expects integer labels, got 'tensor<4xf32>'}}
  %0:2 = es.loss xent(%x, %l) : (tensor<4x2xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4x2xf32>)
  return
}

// -----

func.func @no_other_target(%x: tensor<4xf32>, %t: tensor<5xf32>) {
  // expected-error@+1 {{(L3) expects a target of type 'tensor<4xf32>' with 'mse'}}
  %0 = es.loss mse(%x, %t) : (tensor<4xf32>, tensor<5xf32>) -> tensor<f32>
  return
}

// -----

func.func @no_missing_state(%w: tensor<4xf32>, %t: i64) {
  // expected-error@+1 {{(O1) expects 2 states for each parameter, got 1 in all}}
  %0:2 = es.optimizer_step adam fused params(%w : tensor<4xf32>) grads(%w : tensor<4xf32>) states(%w : tensor<4xf32>) step(%t)
  return
}

// -----

func.func @no_state_of_sgd(%w: tensor<4xf32>) {
  // expected-error@+1 {{(O1) expects 0 states, got 1}}
  %0:2 = es.optimizer_step sgd fused params(%w : tensor<4xf32>) grads(%w : tensor<4xf32>) states(%w : tensor<4xf32>)
  return
}

// -----

func.func @no_other_gradient(%w: tensor<4xf32>, %g: tensor<5xf32>) {
  // expected-error@+1 {{(O2) expects a gradient of shape [4], got 'tensor<5xf32>'}}
  %0 = es.optimizer_step sgd fused params(%w : tensor<4xf32>) grads(%g : tensor<5xf32>)
  return
}

// -----

func.func @no_group(%w: tensor<4xf32>) {
  // expected-error@+1 {{(O3) expects one parameter with 'fused', got 2}}
  %0:2 = es.optimizer_step sgd fused params(%w, %w : tensor<4xf32>, tensor<4xf32>) grads(%w, %w : tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @no_step(%w: tensor<4xf32>) {
  // expected-error@+1 {{(O4) expects a step with 'adam'}}
  %0:3 = es.optimizer_step adam fused params(%w : tensor<4xf32>) grads(%w : tensor<4xf32>) states(%w, %w : tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @no_other_arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C1) expects one block with arguments of the types of the inputs}}
  %y = es.composite gelu(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<5xf32>):
    %r = math.erf %a : tensor<5xf32>
  }
  return
}

// -----

func.func @no_other_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C2) expects the last op of the body to give 'tensor<5xf32>'}}
  %y = es.composite gelu(%x) : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%a: tensor<4xf32>):
    %r = math.erf %a : tensor<4xf32>
  }
  return
}

// -----

func.func @no_missing_statistics(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{(C3) expects 3 results with 'layer_norm', got 1}}
  %y = es.composite layer_norm(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %r = math.erf %a : tensor<4x8xf32>
  }
  return
}
