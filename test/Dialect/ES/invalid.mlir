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

// expected-error@+1 {{argument 0: (P5) expects a tensor or memref to annotate, got 'f32'}}
func.func @no_scalar(%w: f32 {es.param = #es.param<trainable "w">}) { return }

// -----

// expected-error@+1 {{expects 'es.param' of argument 0 to be an #es.param attribute}}
func.func @no_other_attribute(%w: tensor<4xf32> {es.param = "w"}) { return }

// -----

func.func @no_complex_as_integer(%w: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{(P5) complex numbers cannot be stored as 'i8'}}
  %0 = es.param %w <frozen "w", stored = i8> : tensor<4xcomplex<f32>>
  return
}

// -----

// expected-error@+1 {{expects every entry of 'es.parameters' to have 'param' and 'type'}}
module attributes {es.parameters = [{name = "w"}]} {}

// -----

// expected-error@+1 {{expects 'es.parameters' to be an array on a module}}
func.func @no_inventory_here() attributes {es.parameters = []} { return }
