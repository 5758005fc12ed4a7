// RUN: es-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{(P1) expects a name that is not empty}}
func.func @no_name(%w: tensor<4xf32> {es.param = #es.param<frozen "">}) { return }

// -----

// expected-error@+1 {{(P2) expects 'id' to be an i32, got 'i64'}}
func.func @no_wide_id(%w: tensor<4xf32> {es.param = #es.param<frozen "w", id = 7 : i64>}) { return }

// -----

// expected-error@+1 {{(P3) expects 'stored' to be an integer, float or quantised type, got 'index'}}
func.func @no_index_storage(%w: tensor<4xf32> {es.param = #es.param<frozen "w", stored = index>}) { return }

// -----

// expected-error@+1 {{(P4) expects 'sigma' to be positive, got 0.000000e+00 : f32}}
func.func @no_zero_sigma(%w: tensor<4xf32> {es.param = #es.param<trainable "w", sigma = 0.0 : f32>}) { return }

// -----

// expected-error@+1 {{(P4) expects 'lr' to be positive, got -1.000000e+00 : f32}}
func.func @no_negative_lr(%w: tensor<4xf32> {es.param = #es.param<trainable "w", lr = -1.0 : f32>}) { return }

// -----

// expected-error@+1 {{argument 0: (P5) expects a tensor or memref to annotate, got 'f32'}}
func.func @no_scalar(%w: f32 {es.param = #es.param<trainable "w">}) { return }

// -----

func.func @no_vector(%w: vector<4xf32>) {
  // expected-error@+1 {{(P5) expects a tensor or memref to annotate, got 'vector<4xf32>'}}
  %0 = es.param %w <frozen "w"> : vector<4xf32>
  return
}

// -----

// expected-error@+1 {{argument 0: (P5) expects elements that are numbers, got 'vector<4xf32>'}}
func.func @no_vectors(%w: tensor<4xvector<4xf32>> {es.param = #es.param<trainable "w">}) { return }

// -----

func.func @no_complex_as_integer(%w: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{(P6) expects complex numbers to be stored as floats, got 'i8'}}
  %0 = es.param %w <frozen "w", stored = i8> : tensor<4xcomplex<f32>>
  return
}

// -----

// expected-error@+1 {{argument 0: (P6) expects 'i8' to be stored as integers, got 'f16'}}
func.func @no_integer_as_float(%w: memref<4xi8> {es.param = #es.param<frozen "w", stored = f16>}) { return }

// -----

// expected-error@+1 {{argument 0: (P6) expects 'i8' to be stored in no more bits, got 'i16'}}
func.func @no_wider_integer(%w: tensor<4xi8> {es.param = #es.param<frozen "w", stored = i16>}) { return }

// -----

// expected-error@+1 {{argument 0: (P6) expects a quantised type that expresses 'bf16', got '!quant.uniform<i8:f32, 5.000000e-01>'}}
func.func @no_other_expressed_type(%w: tensor<4xbf16> {es.param = #es.param<frozen "w", stored = !quant.uniform<i8:f32, 0.5>>}) { return }

// -----

// expected-error@+1 {{argument 0: (P6) expects 4 scales on axis 0, got 2}}
func.func @no_missing_scales(%w: tensor<4x8xf32> {es.param = #es.param<frozen "w", stored = !quant.uniform<i8:f32:0, {0.5, 0.25}>>}) { return }

// -----

// expected-error@+1 {{argument 0: (P6) expects a quantised axis below 1, got 1}}
func.func @no_such_axis(%w: tensor<2xf32> {es.param = #es.param<frozen "w", stored = !quant.uniform<i8:f32:1, {0.5, 0.25}>>}) { return }

// -----

// expected-error@+1 {{argument 0: (P6) expects blocks that divide 5 on axis 0, got 2}}
func.func @no_partial_block(%w: tensor<5x2xf32> {es.param = #es.param<frozen "w", stored = !quant.uniform<i8:f32:{0:2}, {{0.5}, {0.25}, {0.5}}>>}) { return }

// -----

// expected-error@+1 {{expects 'es.param' of argument 0 to be an #es.param attribute, got "w"}}
func.func @no_other_attribute(%w: tensor<4xf32> {es.param = "w"}) { return }

// -----

// expected-error@+1 {{(P7) expects 'es.param' on an argument, got it on result 0}}
func.func private @no_result() -> (tensor<4xf32> {es.param = #es.param<frozen "w">})

// -----

// expected-error@+1 {{(P7) expects 'es.param' on an argument of a function; a global is annotated in 'es.parameters' of its module}}
ml_program.global private @no_global(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {es.param = #es.param<frozen "w">}

// -----

// expected-error@+1 {{expects every entry of 'es.parameters' to have 'param', 'type' and no more than a 'symbol', got {name = "w"}}}
module attributes {es.parameters = [{name = "w"}]} {}

// -----

// expected-error@+1 {{expects every entry of 'es.parameters' to have 'param', 'type' and no more than a 'symbol'}}
module attributes {es.parameters = [{param = #es.param<frozen "w">, type = tensor<4xf32>, symbols = @w}]} {}

// -----

// expected-error@+1 {{parameter "w": (P5) expects a tensor or memref to annotate, got 'f32'}}
module attributes {es.parameters = [{param = #es.param<frozen "w">, type = f32}]} {}

// -----

// expected-error@+1 {{expects 'es.parameters' to be an array on a module}}
func.func @no_inventory_here() attributes {es.parameters = []} { return }
