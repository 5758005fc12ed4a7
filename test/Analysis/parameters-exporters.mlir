// Names and roles in what exporters write on arguments and globals, each in the
// exporter's own form. Locations and SSA names say something else here, and are
// not asked; the types tell the arguments apart.
// RUN: es-opt --es-print-parameters --split-input-file %s -o /dev/null | FileCheck %s

// The role is the exporter's, whatever the name says: a running mean that is
// folded into weights is a constant, an input may be called a weight.
// CHECK-LABEL: @tt:
// CHECK-NEXT: trainable_parameter resnet.stages.0 : tensor<1xbf16> id {{[0-9]+}} from metadata
// CHECK-NEXT: constant bn.weight : tensor<2xbf16> from metadata
// CHECK-NEXT: input input_weight : tensor<3xbf16> from metadata
// A role without a name, and a name without a role.
// CHECK-NEXT: trainable_parameter arg3 : tensor<4xbf16> id {{[0-9]+}} from metadata
// CHECK-NEXT: trainable_parameter head.weight : tensor<5xbf16> id {{[0-9]+}} from name
// What it does not know either is left to the name.
// CHECK-NEXT: trainable_parameter tail.weight : tensor<6xbf16> id {{[0-9]+}} from name
module @tt_model {
  func.func @tt(%a: tensor<1xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = "resnet.stages.0"} loc("other":0:0),
                %b: tensor<2xbf16> {ttcore.argument_type = #ttcore.argument_type<constant>, ttir.name = "bn.weight"},
                %c: tensor<3xbf16> {ttcore.argument_type = #ttcore.argument_type<input>, ttir.name = "input_weight"} loc("other"),
                %d: tensor<4xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                %e: tensor<5xbf16> {ttir.name = "head.weight"},
                %f: tensor<6xbf16> {ttcore.argument_type = #ttcore.argument_type<default>, ttir.name = "tail.weight"}) {
    return
  }
}

// -----

// A path of one name is the name; positions alone name nothing; of a path
// through a structure the positions are part.
// CHECK-LABEL: @tf:
// CHECK-NEXT: input input_ids : tensor<1xi32> from name
// CHECK-NEXT: input args_0 : tensor<2xf32> from default
// CHECK-NEXT: input arg2 : tensor<3xf32> from default
// CHECK-NEXT: input 0.mask : tensor<4xf32> from default
// CHECK-NEXT: trainable_parameter dense/kernel : tensor<5xf32> id {{[0-9]+}} from metadata
module attributes {tf.versions = {producer = 27 : i32}, tf_saved_model.semantics} {
  func.func @tf(%a: tensor<1xi32> {tf_saved_model.index_path = ["input_ids"]},
                %b: tensor<2xf32> {tf._user_specified_name = "args_0", tf_saved_model.index_path = [0]},
                %c: tensor<3xf32> {tf_saved_model.index_path = [1]},
                %d: tensor<4xf32> {tf_saved_model.index_path = [0, "mask"]},
                %e: tensor<5xf32> {tf_saved_model.bound_input = @"dense/kernel"})
      -> (tensor<3xf32> {tf_saved_model.index_path = ["out"]}) attributes {tf_saved_model.exported_names = ["serving_default"]} {
    return %c : tensor<3xf32>
  }
}

// -----

// A parameter of a file is called by its key, whatever the scope, and trained;
// without contents outside it has the global's name, and the role by its use.
// CHECK-LABEL: @iree:
// CHECK-NEXT: input arg0
// CHECK-NEXT: trainable_parameter blk.0.attn_q.weight : tensor<1xf32> id {{[0-9]+}} from metadata
// CHECK-NEXT: trainable_parameter no_scope : tensor<2xf32> id {{[0-9]+}} from metadata
// CHECK-NEXT: trainable_parameter model.layer-1.kernel : tensor<3xf32> id {{[0-9]+}} from name
// CHECK-NEXT: state counter : tensor<4xf32>
util.global private @__auto.q = #stream.parameter.named<"model"::"blk.0.attn_q.weight"> : tensor<1xf32>
util.global private @__auto.k {noinline} = #stream.parameter.named<"no_scope"> : tensor<2xf32>
util.global private @"model.layer-1.kernel" = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
util.global private mutable @counter = #util.uninitialized : tensor<4xf32>
func.func @iree(%0: tensor<1xf32>) -> (tensor<1xf32>, tensor<2xf32>, tensor<3xf32>, tensor<4xf32>) {
  %q = util.global.load @__auto.q : tensor<1xf32>
  %k = util.global.load immutable @__auto.k : tensor<2xf32>
  %w = util.global.load @"model.layer-1.kernel" : tensor<3xf32>
  %n = util.global.load @counter : tensor<4xf32>
  util.global.store %n, @counter : tensor<4xf32>
  %1 = stablehlo.add %0, %q : tensor<1xf32>
  return %1, %k, %w, %n : tensor<1xf32>, tensor<2xf32>, tensor<3xf32>, tensor<4xf32>
}

// -----

// Identifiers of ml_program, of arguments and of globals.
// CHECK-LABEL: @ml:
// CHECK-NEXT: trainable_parameter encoder.weight : tensor<1xf32> id {{[0-9]+}} from name
// CHECK-NEXT: trainable_parameter decoder.bias : tensor<2xf32> id {{[0-9]+}} from name
// CHECK-NEXT: state hits : tensor<3xf32>
ml_program.global private @decoder.bias(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private mutable @hits(dense<0.0> : tensor<3xf32>) : tensor<3xf32>
func.func @ml(%a: tensor<1xf32> {ml_program.identifier = "encoder.weight"} loc("other")) -> (tensor<1xf32>, tensor<2xf32>) {
  %b = ml_program.global_load @decoder.bias : tensor<2xf32>
  %h = ml_program.global_load @hits : tensor<3xf32>
  ml_program.global_store @hits = %h : tensor<3xf32>
  return %a, %b : tensor<1xf32>, tensor<2xf32>
}

// -----

// ONNX names inputs and results, and its initializers by their node.
// CHECK-LABEL: @onnx:
// CHECK-NEXT: input pixel_values : tensor<1x2xf32> from default
// CHECK-NEXT: trainable_parameter fc.weight : tensor<2x2xf32> id {{[0-9]+}} from name
func.func @onnx(%x: tensor<1x2xf32> {onnx.name = "pixel_values"} loc("other")) -> (tensor<1x2xf32> {onnx.name = "logits"}) {
  %w = onnx.Constant {onnx_node_name = "fc.weight"} dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// -----

// Where several speak, the attribute goes before the location, and that before
// the position.
// CHECK-LABEL: @order:
// CHECK-NEXT: input first : tensor<1xf32>
// CHECK-NEXT: input second : tensor<2xf32>
// CHECK-NEXT: input arg2 : tensor<3xf32>
func.func @order(%0: tensor<1xf32> {onnx.name = "first"} loc("location"), %1: tensor<2xf32> loc("second"), %2: tensor<3xf32>) { return }
