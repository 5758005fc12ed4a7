// What is trained.
// RUN: es-opt --split-input-file --es-print-parameters %s -o /dev/null | FileCheck %s
// RUN: es-opt --split-input-file --es-print-parameters="train=int8 freeze=^b stored-as=f32.*:i8" %s -o /dev/null | FileCheck %s --check-prefix=FLAG

// Floats are trained; integers are for Evolution Strategies alone, whatever is
// asked for; truth values and indices for nobody. A complex number is stored
// as two of the stated type.
// CHECK-LABEL: @types:
// CHECK-NEXT: trainable_parameter f32.weight : tensor<4xf32> id {{[0-9]+}} from name{{$}}
// CHECK-NEXT: trainable_parameter bf16.weight : tensor<4xbf16> id {{[0-9]+}} from name{{$}}
// CHECK-NEXT: frozen_parameter int8.weight : tensor<4xi8> id {{[0-9]+}} from name, trained by es only
// CHECK-NEXT: frozen_parameter quant.weight : tensor<4x!quant.uniform<i4:f32, 5.000000e-01>> id {{[0-9]+}} from name, trained by es only
// CHECK-NEXT: frozen_parameter i64.weight : tensor<4xi64> id {{[0-9]+}} from name{{$}}
// CHECK-NEXT: frozen_parameter mask.weight : tensor<4xi1> id {{[0-9]+}} from name{{$}}
// CHECK-NEXT: trainable_parameter complex : tensor<4xcomplex<f16>> id {{[0-9]+}} from es.param{{$}}
// CHECK-NEXT: frozen_parameter packed : tensor<4xi4> id {{[0-9]+}} from es.param, trained by es only

// FLAG-LABEL: @types:
// FLAG-NEXT: frozen_parameter f32.weight : tensor<4xi8> id {{[0-9]+}} from name, trained by es only
// FLAG-NEXT: frozen_parameter bf16.weight : tensor<4xbf16> id {{[0-9]+}} from name{{$}}
// FLAG-NEXT: frozen_parameter int8.weight : tensor<4xi8> id {{[0-9]+}} from name, trained by es only
func.func @types(%0: tensor<4xf32> loc("f32.weight"), %1: tensor<4xbf16> loc("bf16.weight"), %2: tensor<4xi8> loc("int8.weight"),
                 %3: tensor<4x!quant.uniform<i4:f32, 0.5>> loc("quant.weight"), %4: tensor<4xi64> loc("i64.weight"),
                 %5: tensor<4xi1> loc("mask.weight"),
                 %6: tensor<4xcomplex<f32>> {es.param = #es.param<trainable "complex", stored = f16>},
                 %7: tensor<4xf32> {es.param = #es.param<trainable "packed", stored = i4>})
    -> (tensor<4xf32>, tensor<4xbf16>, tensor<4xi8>, tensor<4x!quant.uniform<i4:f32, 0.5>>, tensor<4xi64>, tensor<4xi1>, tensor<4xcomplex<f32>>, tensor<4xf32>) {
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4xf32>, tensor<4xbf16>, tensor<4xi8>, tensor<4x!quant.uniform<i4:f32, 0.5>>, tensor<4xi64>, tensor<4xi1>, tensor<4xcomplex<f32>>, tensor<4xf32>
}

// -----

// One adapter, and only adapters are trained.
// CHECK-LABEL: @adapters:
// CHECK-NEXT: frozen_parameter base.weight
// CHECK-NEXT: trainable_parameter base.lora_A
func.func @adapters(%0: tensor<4xf32> loc("base.weight"), %1: tensor<4xf32> loc("base.lora_A")) -> (tensor<4xf32>, tensor<4xf32>) {
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The hash of the second name is the id that the first one states, so it moves
// on by one: FNV-1a of "a.weight" is 3344269742.
// CHECK-LABEL: @taken_id:
// CHECK-NEXT: frozen_parameter other : tensor<4xf32> id [[#ID:]] from es.param
// CHECK-NEXT: trainable_parameter a.weight : tensor<4xf32> id [[#ID+1]] from name
func.func @taken_id(%0: tensor<4xf32> {es.param = #es.param<frozen "other", id = -950697554 : i32>}, %1: tensor<4xf32> loc("a.weight")) -> (tensor<4xf32>, tensor<4xf32>) {
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The largest id there is.
// CHECK-LABEL: @largest_id:
// CHECK-NEXT: frozen_parameter w : tensor<4xf32> id 4294967295
func.func @largest_id(%0: tensor<4xf32> {es.param = #es.param<frozen "w", id = -1 : i32>}) -> tensor<4xf32> {
  return %0 : tensor<4xf32>
}
