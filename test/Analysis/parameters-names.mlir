// What names and exporters say.
// RUN: es-opt --allow-unregistered-dialect --es-print-parameters %s -o /dev/null | FileCheck %s
// RUN: es-opt --allow-unregistered-dialect --es-print-parameters="inputs=weight params=^tokens$ donate=^plain" %s -o /dev/null | FileCheck %s --check-prefix=FLAG
// RUN: es-opt --allow-unregistered-dialect --es-print-parameters="params=#0-1 inputs=#1" %s -o /dev/null | FileCheck %s --check-prefix=POSITION

// CHECK-LABEL: @names:
// CHECK-NEXT: trainable_parameter params['w'] : tensor<4xf32> id {{[0-9]+}} from name
// CHECK-NEXT: trainable_parameter p_layer_0 {{.*}} from name
// CHECK-NEXT: trainable_parameter fc1.weight {{.*}} from name
// CHECK-NEXT: state b_steps : tensor<4xf32> from name
// CHECK-NEXT: state bn.running_mean : tensor<4xf32> from name
// CHECK-NEXT: state past.kv_cache : tensor<4xf32> from name
// CHECK-NEXT: optimizer_state opt_state[0].mu['kernel'] : tensor<4xf32> from name
// CHECK-NEXT: input x : tensor<4xf32> from name
// CHECK-NEXT: input tokens : tensor<4xi32> from name
// CHECK-NEXT: input inputs['image'] : tensor<4xf32> from name
// Not the name `x`, and nothing else says more.
// CHECK-NEXT: input x_hat : tensor<4xf32> from {{name|default}}
// CHECK-NEXT: input plain : tensor<4xf32> from default, never read

// FLAG-LABEL: @names:
// FLAG-NEXT: trainable_parameter params['w'] {{.*}} from name
// FLAG-NEXT: trainable_parameter p_layer_0 {{.*}} from name
// FLAG-NEXT: input fc1.weight : tensor<4xf32> from flag
// FLAG: frozen_parameter tokens : tensor<4xi32> id {{[0-9]+}} from flag
// FLAG: state plain : tensor<4xf32> from default, donated, never read

// POSITION-LABEL: @names:
// POSITION-NEXT: trainable_parameter params['w'] {{.*}} from flag
// POSITION-NEXT: input p_layer_0 : tensor<4xf32> from flag
// POSITION-NEXT: trainable_parameter fc1.weight {{.*}} from name
func.func @names(%0: tensor<4xf32> loc("params['w']"), %1: tensor<4xf32> loc("p_layer_0"), %2: tensor<4xf32> loc("fc1.weight"),
                 %3: tensor<4xf32> loc("b_steps"), %4: tensor<4xf32> loc("bn.running_mean"), %5: tensor<4xf32> loc("past.kv_cache"),
                 %6: tensor<4xf32> loc("opt_state[0].mu['kernel']"), %7: tensor<4xf32> loc("x"), %8: tensor<4xi32> loc("tokens"),
                 %9: tensor<4xf32> loc("inputs['image']"), %10: tensor<4xf32> loc("x_hat"), %11: tensor<4xf32> loc("plain")) {
  "test.use"(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// Arguments without names are numbered; a name that occurs twice gets a number.
// CHECK-LABEL: @numbers:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter w.weight
// CHECK-NEXT: trainable_parameter w.weight_1
func.func @numbers(%0: tensor<4xf32>, %1: tensor<4xf32> loc("w.weight"), %2: tensor<4xf32> loc("w.weight")) { return }

// The exporter knows better than the name.
// CHECK-LABEL: @metadata:
// CHECK-NEXT: input conv.weight : tensor<4xf32> from metadata
// CHECK-NEXT: state buffer : tensor<4xf32> from metadata
// CHECK-NEXT: trainable_parameter learned : tensor<4xf32> id {{[0-9]+}} from metadata
// CHECK-NEXT: trainable_parameter variable : tensor<4xf32> id {{[0-9]+}} from metadata
// CHECK-NEXT: input pixel_values : tensor<4xf32> from default
func.func @metadata(%0: tensor<4xf32> {torch.name = "conv.weight", torch.kind = "input"},
                    %1: tensor<4xf32> {torch.name = "buffer", torch.kind = "buffer"},
                    %2: tensor<4xf32> {torch.name = "learned", torch.kind = "parameter"},
                    %3: tensor<4xf32> {tf_saved_model.bound_input = @variable},
                    %4: tensor<4xf32> {onnx.name = "pixel_values"}) { return }

// The annotation knows best.
// CHECK-LABEL: @annotation:
// CHECK-NEXT: frozen_parameter mine : tensor<4xi8> id 7 from es.param
func.func @annotation(%0: tensor<4xf32> {es.param = #es.param<frozen "mine", id = 7 : i32, stored = i8>, torch.name = "theirs", torch.kind = "input"}) { return }
