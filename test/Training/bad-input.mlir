// RUN: es-opt --split-input-file --verify-diagnostics --es-build-training-graph=loss=sum %s

// expected-error @below {{no trainable parameter; name some with '--train'}}
func.func @nothing_trainable(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{the loss depends on no trainable parameter}}
func.func @no_path(%x: tensor<4xf32>, %w: tensor<4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{the loss depends on no trainable parameter}}
func.func @cut(%x: tensor<4xf32>, %w: tensor<4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4xf32> {
  // expected-note @below {{no gradient flows through 'math.floor'}}
  %y = math.floor %w : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{no float result that a loss could be computed from}}
func.func @integers(%x: tensor<4xi32>, %w: tensor<4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4xi32> {
  return %x : tensor<4xi32>
}

// -----

// expected-note @below {{the loop runs up to this value: a dynamic trip count}}
func.func @trips(%x: tensor<4xf32>, %n: index, %w: tensor<4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{cannot be differentiated: the trip count of 'scf.for' is not a constant; bind what it depends on}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %b = arith.mulf %a, %w : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @call(%x: tensor<4xf32>, %w: tensor<4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4xf32> {
  // expected-error @below {{cannot be differentiated: 'func.call' on the way from the loss to a parameter}}
  %y = func.call @callee(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @callee(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @below {{a training step expects a function of one block}}
func.func @blocks(%x: tensor<4xf32>, %w: tensor<4xf32> {es.param = #es.param<trainable "w">}) -> tensor<4xf32> {
  cf.br ^next
^next:
  %y = arith.mulf %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}
