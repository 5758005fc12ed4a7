// RUN: es-opt %s --es-stablehlo-to-linalg --split-input-file --verify-diagnostics

func.func @no_such_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has no lowering: 'stablehlo.custom_call'}}
  %y = stablehlo.custom_call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @no_dynamic_shape(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{expects tensors of static shape with elements of signless integers or floats, got 'tensor<?xf32>'}}
  %y = stablehlo.sine %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @no_unsigned(%x: tensor<4xui32>) -> tensor<4xui32> {
  // expected-error @below {{got 'tensor<4xui32>'}}
  %y = stablehlo.add %x, %x : tensor<4xui32>
  return %y : tensor<4xui32>
}

// -----

func.func @no_sine_of_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{has no lowering: 'stablehlo.sine' on elements of type 'i32'}}
  %y = stablehlo.sine %x : tensor<4xi32>
  return %y : tensor<4xi32>
}

// -----

func.func @no_third_branch(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has no lowering: 'stablehlo.case' with 3 branches}}
  %y = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @no_reducer(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  %y = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error @below {{has no lowering: 'stablehlo.custom_call' in a reduction}}
    %s = "stablehlo.custom_call"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @no_batch_groups(%x: tensor<2x4x4x1xf32>, %k: tensor<3x3x1x2xf32>) -> tensor<1x2x2x2xf32> {
  // expected-error @below {{has no lowering: 'stablehlo.convolution' with groups in the batch}}
  %y = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x1xf32>, tensor<3x3x1x2xf32>) -> tensor<1x2x2x2xf32>
  return %y : tensor<1x2x2x2xf32>
}
