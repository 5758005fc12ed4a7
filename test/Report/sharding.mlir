// RUN: es-opt --memory-report --graphs=inference --entry='*' %s | FileCheck %s
// RUN: es-opt --memory-report=json --graphs=inference --entry=@uneven %s | FileCheck %s --check-prefix=JSON
// RUN: es-opt --memory-report --graphs=inference --entry=@tensor_parallel --budget=1152 %s | FileCheck %s --check-prefix=FITS
// RUN: not es-opt --memory-report --graphs=inference --entry=@tensor_parallel --budget=1151 %s 2>&1 | FileCheck %s --check-prefix=OVER
// RUN: es-opt --memory-report --graphs=inference --entry=@batch --sweep=batch:4,5 %s | FileCheck %s --check-prefix=SWEEP

// What one device of several holds, by sdy.sharding and by mhlo.sharding.

sdy.mesh @mesh = <["data"=2, "model"=4]>
sdy.mesh @third = <[], device_ids=[3]>

// x 4 x 8, split in two rows: 64 B of 128; exp of it the same.
// CHECK-LABEL: @split
// CHECK: peak {{ *}}256 (256 B)
// CHECK: on the most loaded of 8 devices
// CHECK-NEXT: arguments {{ *}}64 (64 B)
// CHECK-NEXT: results {{ *}}64 (64 B)
// CHECK-NEXT: peak {{ *}}128 (128 B)
// CHECK-NEXT: arena {{ *}}128 (128 B)
func.func @split(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.exponential %x : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// 5 x 7 f32, 140 B: ceil(5 / 2) = 3 by ceil(7 / 4) = 2, 24 B.
// CHECK-LABEL: @uneven
// CHECK: arguments {{ *}}24 (24 B)
// CHECK: peak {{ *}}48 (48 B)
// JSON: "peak_bytes": 280,
// JSON: "per_device": {
// JSON-NEXT: "devices": 8,
// JSON-NEXT: "peak_bytes": 48,
// JSON-NEXT: "arena_bytes": 48,
// JSON-NEXT: "argument_bytes": 24,
// JSON-NEXT: "result_bytes": 24,
// JSON-NEXT: "aliased_bytes": 0,
// JSON-NEXT: "temporary_peak_bytes": 0,
// JSON-NEXT: "at_most": false,
// JSON-NEXT: "unknown_shardings": 0,
// JSON-NEXT: "reshards": 0,
// JSON-NEXT: "reductions": 0,
func.func @uneven(%x: tensor<5x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> tensor<5x7xf32> {
  %0 = stablehlo.exponential %x : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// One dimension by two axes, 16 / 8; and by a half of an axis, 16 / 2.
// CHECK-LABEL: @axes
// CHECK: arguments {{ *}}40 (40 B)
func.func @axes(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "model"}]>}, %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model":(1)2}]>}) {
  return
}

// A two-layer network, weights split over model, rows over data:
//   w1 16 x 32 / 4 = 512 B, w2 32 / 4 x 8 = 256, x 6 / 2 x 16 = 192: 960;
//   h = x w1, relu in place: 3 x 8 x 4 = 96; h w2 is a part of a sum, 3 x 8 x 4 =
//   96, and the sum of the parts another 96, when h is gone. 960 + 192 = 1152,
//   which is what XLA's memory analysis says (arguments 960, output 96,
//   temporary 96).
// CHECK-LABEL: @tensor_parallel
// CHECK: peak {{ *}}4416 (4.3 KiB)
// CHECK: on the most loaded of 8 devices
// CHECK-NEXT: arguments {{ *}}960 (960 B)
// CHECK-NEXT: results {{ *}}96 (96 B)
// CHECK-NEXT: peak {{ *}}1152 (1.1 KiB)
// CHECK: note: per device: 0 values are communicated to be split otherwise, 1 sums are added up over devices
// FITS: 1.1 KiB? inference yes (1.1 KiB per device)
// OVER: error: the budget of 1.1 KiB is exceeded
func.func @tensor_parallel(
    %w1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %w2: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
    %x: tensor<6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<6x16xf32>, tensor<16x32xf32>) -> tensor<6x32xf32>
  %c = stablehlo.constant dense<0.0> : tensor<6x32xf32>
  %1 = stablehlo.maximum %0, %c : tensor<6x32xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"data"}, {"model"}]> : tensor<6x32xf32>
  %3 = stablehlo.dot_general %2, %w2, contracting_dims = [1] x [0] : (tensor<6x32xf32>, tensor<32x8xf32>) -> tensor<6x8xf32>
  return %3 : tensor<6x8xf32>
}

// The same as XLA has it: devices in 2 rows of 4.
// CHECK-LABEL: @xla_tensor_parallel
// CHECK: arguments {{ *}}960 (960 B)
// CHECK-NEXT: results {{ *}}96 (96 B)
// CHECK-NEXT: peak {{ *}}1152 (1.1 KiB)
func.func @xla_tensor_parallel(
    %w1: tensor<16x32xf32> {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"},
    %w2: tensor<32x8xf32> {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"},
    %x: tensor<6x16xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"})
    -> (tensor<6x8xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}) {
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<6x16xf32>, tensor<16x32xf32>) -> tensor<6x32xf32>
  %c = stablehlo.constant dense<0.0> : tensor<6x32xf32>
  %1 = stablehlo.maximum %0, %c : tensor<6x32xf32>
  %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<6x32xf32>) -> tensor<6x32xf32>
  %3 = stablehlo.dot_general %2, %w2, contracting_dims = [1] x [0] : (tensor<6x32xf32>, tensor<32x8xf32>) -> tensor<6x8xf32>
  return %3 : tensor<6x8xf32>
}

// {replicated} everywhere: nothing is split, and nothing is said.
// CHECK-LABEL: @xla_replicated
// CHECK-NOT: most loaded
// CHECK: parameters:
func.func @xla_replicated(%x: tensor<4xf32> {mhlo.sharding = "{replicated}"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// One of two rows, listed devices, 16 B; replicated, 32 B.
// CHECK-LABEL: @xla_listed
// CHECK: arguments {{ *}}48 (48 B)
func.func @xla_listed(%x: tensor<2x4xf32> {mhlo.sharding = "{devices=[2,1]0,1}"}, %y: tensor<2x4xf32> {mhlo.sharding = "{replicated}"}) {
  return
}

// a is on device 0 alone, b on device 2, both 32 B; x, 64 B, is split in two. The
// most loaded device has 32 + 32.
// CHECK-LABEL: @xla_maximal
// CHECK: arguments {{ *}}64 (64 B)
// CHECK: peak {{ *}}64 (64 B)
func.func @xla_maximal(%a: tensor<8xf32> {mhlo.sharding = "{maximal device=0}"}, %b: tensor<8xf32> {mhlo.sharding = "{maximal device=2}"}, %x: tensor<16xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) {
  return
}

// 128 B on device 3, 16 B on every other.
// CHECK-LABEL: @maximal
// CHECK: arguments {{ *}}144 (144 B)
func.func @maximal(%a: tensor<32xf32> {sdy.sharding = #sdy.sharding<@third, []>}, %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  return
}

// An op of several results: the halves of one, all of the other. exp 32, in full 64.
// CHECK-LABEL: @xla_tuple
// CHECK: results {{ *}}96 (96 B)
func.func @xla_tuple(%x: tensor<16xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> (tensor<16xf32>, tensor<16xf32>) {
  %0:2 = stablehlo.custom_call @pair(%x) {mhlo.sharding = "{{devices=[2]<=[2]}, {replicated}}"} : (tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  return %0#0, %0#1 : tensor<16xf32>, tensor<16xf32>
}

// x, 32 of 64 B, is needed in full: gathered, 64, and its exp, 64, which takes its
// memory over.
// CHECK-LABEL: @gathered
// CHECK: results {{ *}}64 (64 B)
// CHECK-NEXT: peak {{ *}}96 (96 B)
// CHECK: note: per device: 1 values are communicated
func.func @gathered(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> tensor<16xf32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<16xf32>
  %1 = stablehlo.exponential %0 : tensor<16xf32>
  return %1 : tensor<16xf32>
}

// Nobody knows how the op splits what it makes: 64 B in full beside x, 32 B; the
// sum is split as x is, and does not fit into its memory: 32. At most 128.
// CHECK-LABEL: @unknown
// CHECK: arguments {{ *}}at most 32 (32 B)
// CHECK: peak {{ *}}at most 128 (128 B)
// CHECK: note: per device: 1 values have no sharding that is stated or follows; they count in full
func.func @unknown(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.custom_call @numbers() : () -> tensor<16xf32>
  %1 = stablehlo.add %x, %0 : tensor<16xf32>
  return %1 : tensor<16xf32>
}

// The body of a manual computation works on what a device has: 4 x 8 of 8 x 8,
// 128 B, and the same again.
// CHECK-LABEL: @manual
// CHECK: arguments {{ *}}128 (128 B)
// CHECK-NEXT: results {{ *}}128 (128 B)
// CHECK-NEXT: peak {{ *}}256 (256 B)
func.func @manual(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{"data"}, {}]>] manual_axes={"data"} (%a: tensor<4x8xf32>) {
    %1 = stablehlo.exponential %a : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Reshape and transpose: rows of a batch of 4, two on a device, 4 x 6 x 2 f32 =
// 192 B, 96 here; the reshape is a view, the transpose 96.
// CHECK-LABEL: @moved
// CHECK: results {{ *}}96 (96 B)
// CHECK-NEXT: peak {{ *}}192 (192 B)
func.func @moved(%x: tensor<4x6x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) -> tensor<12x4xf32> {
  %0 = stablehlo.reshape %x : (tensor<4x6x2xf32>) -> tensor<4x12xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x12xf32>) -> tensor<12x4xf32>
  return %1 : tensor<12x4xf32>
}

// A loop carries x as it comes in, 16 of 32 B, in a copy, since the caller owns x.
// 16 and n 4; the copy 16, the counter 4, the condition 1: 41.
// CHECK-LABEL: @loop
// CHECK: results {{ *}}16 (16 B)
// CHECK-NEXT: peak {{ *}}41 (41 B)
func.func @loop(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}, %n: tensor<i32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.exponential %y : tensor<8xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// A batch is bound first and split then: ceil(5 / 2) = 3 rows of 16 B, twice.
// SWEEP: @batch, inference, per device, by batch
// SWEEP: {{^ *}}4 {{ *}}64 (64 B)
// SWEEP-NEXT: {{^ *}}5 {{ *}}96 (96 B)
func.func @batch(%x: tensor<?x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<?x4xf32> {
  %0 = stablehlo.exponential %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
