// RUN: es-opt %s -split-input-file -verify-diagnostics

func.func @no_odd_pairs(%f: tensor<7xf32>, %e: tensor<3xf32>) {
  // expected-error@+1 {{(F1) expects an even number of members with 'antithetic', got 7}}
  %c, %n, %u = es.shape_fitness centered_rank maximize %f into %e {antithetic} : tensor<7xf32> into tensor<3xf32>
  return
}

// -----

func.func @no_other_count(%f: tensor<8xf32>, %e: tensor<8xf32>) {
  // expected-error@+1 {{(F2) expects 4 coefficients, one a pair, got 8}}
  %c, %n, %u = es.shape_fitness sign maximize %f into %e {antithetic} : tensor<8xf32> into tensor<8xf32>
  return
}

// -----

func.func @no_whole_scores(%f: tensor<8xf32>, %e: tensor<8xf32>) {
  // expected-error@+1 {{(F3) expects 'integer' with 'centered_rank' only}}
  %c, %n, %u = es.shape_fitness zscore maximize %f into %e {integer} : tensor<8xf32> into tensor<8xf32>
  return
}

// -----

func.func @no_frozen_perturbation(%w: tensor<4xf32>, %e: tensor<4xf32>, %key: i64, %m: index) {
  // expected-error@+1 {{(N1) expects a trainable parameter, "w" is frozen}}
  %p = es.perturb normal16 %w <frozen "w"> into %e key(%key) member(%m) : tensor<4xf32> into tensor<4xf32>
  return
}

// -----

func.func @no_complex_perturbation(%w: tensor<4xcomplex<f32>>, %e: tensor<4xcomplex<f32>>, %key: i64, %m: index) {
  // expected-error@+1 {{(N2) expects elements of type f32, f64, bf16, f16, i8, i16 or i32, got 'complex<f32>'}}
  %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%m) : tensor<4xcomplex<f32>> into tensor<4xcomplex<f32>>
  return
}

// -----

func.func @no_other_destination(%w: tensor<4xf32>, %e: tensor<5xf32>, %key: i64, %m: index) {
  // expected-error@+1 {{(N3) expects a destination of type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %p = es.perturb normal16 %w <trainable "w"> into %e key(%key) member(%m) : tensor<4xf32> into tensor<5xf32>
  return
}

// -----

func.func @no_missing_annotation(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U1) expects an annotation for each of 1 parameters, got 0}}
  %0 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as []
  return
}

// -----

func.func @no_frozen_update(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U2) expects trainable parameters, "w" is frozen}}
  %0 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<frozen "w">]
  return
}

// -----

func.func @no_shared_id(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U3) expects ids that differ, "w" and "v" have 7}}
  %0:2 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w, %s : tensor<4xf32>, tensor<4xf32>) as [#es.param<trainable "w", id = 7 : i32>, #es.param<trainable "v", id = 7 : i32>]
  return
}

// -----

func.func @no_wide_integers(%w: tensor<4xi64>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U4) expects elements of type f32, f64, bf16, f16, i8, i16 or i32, got 'i64'}}
  %0 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xi64>) as [#es.param<trainable "w">]
  return
}

// -----

func.func @no_missing_state(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U5) expects a state of 'f32' for 'tensor<4xf32>' after 0 states}}
  %0 = es.update momentum maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">]
  return
}

// -----

func.func @no_state_of_sgd(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U5) expects 0 states, got 1}}
  %0:2 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] states(%s : tensor<4xf32>)
  return
}

// -----

func.func @no_wide_moments(%w: tensor<4xbf16>, %s: tensor<4xf64>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U5) expects a state of 'f32' for 'tensor<4xbf16>', got 'tensor<4xf64>'}}
  %0:2 = es.update momentum maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xbf16>) as [#es.param<trainable "w">] states(%s : tensor<4xf64>)
  return
}

// -----

func.func @no_mixed_moments(%w: tensor<4xf32>, %m: tensor<4xbf16>, %v: tensor<4xf32>, %t: i64, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U5) expects a state of 'bf16' for 'tensor<4xf32>', got 'tensor<4xf32>'}}
  %0:3 = es.update adam maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) step(%t) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] states(%m, %v : tensor<4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @no_narrow_moments_of_f64(%w: tensor<4xf64>, %m: tensor<4xbf16>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U5) expects a state of 'f64' for 'tensor<4xf64>', got 'tensor<4xbf16>'}}
  %0:2 = es.update momentum maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf64>) as [#es.param<trainable "w">] states(%m : tensor<4xbf16>)
  return
}

// -----

func.func @no_rounding_of_f32(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U6) expects a parameter of 16-bit floats with the rounding 'stochastic'}}
  %0 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {rounding = #es.rounding<stochastic>}
  return
}

// -----

func.func @no_threshold_of_floats(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U6) expects a parameter of integers with 'threshold'}}
  %0 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {fixed = #es.fixed<threshold>}
  return
}

// -----

func.func @no_adam_of_integers(%w: tensor<4xi8>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U6) expects integers to be updated by 'sgd' without decay}}
  %0 = es.update adam maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) step(%n) params(%w : tensor<4xi8>) as [#es.param<trainable "w">]
  return
}

// -----

func.func @no_lion(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U7) expects one of sgd, momentum, adam and adamw, got lion}}
  %0 = es.update lion maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">]
  return
}

// -----

func.func @no_step(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U7) expects a step with 'adam'}}
  %0 = es.update adam maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">]
  return
}

// -----

func.func @no_decay_of_no_kind(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U7) expects a weight decay that is not 0 together with a kind of decay}}
  %0 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {weight_decay = 0.1}
  return
}

// -----

func.func @no_coupled_adamw(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U7) expects no coupled decay with 'adamw'}}
  %0 = es.update adamw maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) step(%n) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {weight_decay = 0.1, decay = #es.decay_kind<coupled>}
  return
}

// -----

func.func @no_chunk_in_seq(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U8) expects a 'chunk' with the order 'chunk' only}}
  %0 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {chunk = 4}
  return
}

// -----

func.func @no_exact_normals(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U9) expects 'rademacher' or 'int8' noise with the order 'exact', got normal16}}
  %0 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {order = #es.order<exact>, max_coefficient = 1}
  return
}

// -----

func.func @no_unbounded_sum(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{(U9) expects a 'max_coefficient' of at most 2^24 with the order 'exact'}}
  %0 = es.update sgd maximize int8 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {order = #es.order<exact>}
  return
}

// -----

func.func @no_narrow_accumulator(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // 8 pairs, coefficients up to 2^24, noise up to 46: 8 * 16777216 * 46.
  // expected-error@+1 {{(U9) expects sums below 2^31 with an accumulator of 32 bits, got up to 6174015488}}
  %0 = es.update sgd maximize int8 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {order = #es.order<exact>, max_coefficient = 16777216, accumulator = #es.accumulator<s32>}
  return
}

// -----

func.func @no_sum_just_beyond_32_bits(%w: tensor<4xf32>, %key: i64, %c: tensor<3xf32>, %n: i64, %u: f64) {
  // 3 * 46 * 15561475 = 2^31 - 98 fits; one more in the coefficient is 138 more.
  %0 = es.update sgd maximize int8 key(%key) weights(%c, %n, %u : tensor<3xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {order = #es.order<exact>, max_coefficient = 15561475, accumulator = #es.accumulator<s32>}
  // expected-error@+1 {{(U9) expects sums below 2^31 with an accumulator of 32 bits, got up to 2147483688}}
  %1 = es.update sgd maximize int8 key(%key) weights(%c, %n, %u : tensor<3xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {order = #es.order<exact>, max_coefficient = 15561476, accumulator = #es.accumulator<s32>}
  return
}

// -----

func.func @no_dynamic_narrow_sum(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<?xf32>, %n: i64, %u: f64) {
  // Up to 2^32 pairs, as their addresses have 32 bits: 2^32 * 46.
  // expected-error@+1 {{(U9) expects sums below 2^31 with an accumulator of 32 bits, got up to 197568495616}}
  %0 = es.update sgd maximize int8 key(%key) weights(%c, %n, %u : tensor<?xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {order = #es.order<exact>, max_coefficient = 1, accumulator = #es.accumulator<s32>}
  return
}

// -----

func.func @no_sum_beyond_64_bits(%w: tensor<4x4xf32>, %key: i64, %c: tensor<?xf32>, %n: i64, %u: f64) {
  // 2^32 * 2^24 * 46 * 46 is above 2^63.
  // expected-error@+1 {{(U9) expects sums below 2^63 with an accumulator of 64 bits, cannot bound them}}
  %0 = es.update sgd maximize int8 key(%key) weights(%c, %n, %u : tensor<?xf32>) params(%w : tensor<4x4xf32>) as [#es.param<trainable "w">] {rank = 1, order = #es.order<exact>, max_coefficient = 16777216}
  return
}

// -----

func.func @no_negative_sigma(%w: tensor<4xf32>, %s: tensor<4xf32>, %key: i64, %c: tensor<8xf32>, %n: i64, %u: f64) {
  // expected-error@+1 {{attribute 'sigma' failed to satisfy constraint: 64-bit float attribute whose value is positive}}
  %0 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {sigma = -1.0}
  return
}

// -----

func.func @no_other_direction(%w: tensor<4xf32>, %f: tensor<8xf32>, %key: i64) {
  // expected-note@+1 {{shaped here}}
  %c, %n, %u = es.shape_fitness sign minimize %f into %f : tensor<8xf32> into tensor<8xf32>
  // expected-error@+1 {{(U10) expects the direction of the fitness, 'minimize'}}
  %0 = es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">]
  return
}

// -----

func.func @no_fractions_in_exact(%w: tensor<4xf32>, %f: tensor<8xf32>, %key: i64) {
  // expected-note@+1 {{shaped here}}
  %c, %n, %u = es.shape_fitness centered_rank maximize %f into %f : tensor<8xf32> into tensor<8xf32>
  // expected-error@+1 {{(U9) expects whole coefficients with the order 'exact': 'sign', or 'centered_rank' with 'integer'}}
  %0 = es.update sgd maximize int8 key(%key) weights(%c, %n, %u : tensor<8xf32>) params(%w : tensor<4xf32>) as [#es.param<trainable "w">] {order = #es.order<exact>, max_coefficient = 8}
  return
}

// -----

func.func @no_rank_of_a_part(%w: tensor<4x4xf32>, %key: i64, %m: index) {
  // expected-error@+1 {{(N4) expects one of 'at' and 'rows', and no rank}}
  %0 = es.perturb normal16 %w <trainable "w"> into %w key(%key) member(%m) at(%m) {rank = 1} : tensor<4x4xf32> into tensor<4x4xf32>
  return
}

// -----

func.func @no_rows_by_fractions(%w: tensor<4x4xf32>, %r: tensor<4xf32>, %key: i64, %m: index) {
  // expected-error@+1 {{(N5) expects rows by whole numbers, got 'tensor<4xf32>'}}
  %0 = es.perturb normal16 %w <trainable "w"> into %w key(%key) member(%m) rows(%r : tensor<4xf32>) : tensor<4x4xf32> into tensor<4x4xf32>
  return
}

// -----

func.func @no_other_rows(%w: tensor<4x4xf32>, %r: tensor<5xi32>, %key: i64, %m: index) {
  // expected-error@+1 {{(N5) expects rows whose shape begins that of 'tensor<4x4xf32>', got 'tensor<5xi32>'}}
  %0 = es.perturb normal16 %w <trainable "w"> into %w key(%key) member(%m) rows(%r : tensor<5xi32>) : tensor<4x4xf32> into tensor<4x4xf32>
  return
}

// -----

func.func @no_frozen_factors(%a: tensor<1x4xf32>, %b: tensor<1x3xf32>, %key: i64, %m: index) {
  // expected-error@+1 {{(L1) expects a trainable parameter, "w" is frozen}}
  %0:2 = es.perturb_factors normal16 <frozen "w"> into %a, %b key(%key) member(%m) : tensor<1x4xf32>, tensor<1x3xf32>
  return
}

// -----

func.func @no_factors_of_two_ranks(%a: tensor<1x4xf32>, %b: tensor<2x3xf32>, %key: i64, %m: index) {
  // expected-error@+1 {{(L2) expects two matrices of f32, f64, bf16 or f16 with as many rows, got 'tensor<1x4xf32>' and 'tensor<2x3xf32>'}}
  %0:2 = es.perturb_factors normal16 <trainable "w"> into %a, %b key(%key) member(%m) : tensor<1x4xf32>, tensor<2x3xf32>
  return
}
