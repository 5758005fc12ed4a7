//===- ESGradientOps.td - Ops of backpropagation -----------*- tablegen -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_GRADIENT_OPS_TD
#define ES_GRADIENT_OPS_TD

include "es/Dialect/ES/IR/ESDialect.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class ES_Enum<string name, string summary, list<string> cases>
    : I32Enum<name, summary,
        !foreach(i, !range(!size(cases)),
          I32EnumCase<cases[i], i>)> {
  let cppNamespace = "::mlir::es";
}

def ES_VjpKind : ES_Enum<"VjpKind", "how a gradient uses memory", [
    "view", "elementwise", "rowwise", "movement", "reduction", "contraction",
    "opaque"]>;
def ES_CompositeKind : ES_Enum<"CompositeKind", "what one kernel computes", [
    "attention", "layer_norm", "gelu", "cross_entropy", "log_softmax", "relu"]>;
def ES_LossKind : ES_Enum<"LossKind", "a loss on the model's output", [
    "xent", "mse", "sum"]>;
def ES_OptimizerKind : ES_Enum<"OptimizerKind", "an update rule", [
    "sgd", "momentum", "lion", "adam", "adamw", "adamw8bit", "adafactor"]>;
def ES_OptimizerImpl : ES_Enum<"OptimizerImpl", "how an update is carried out", [
    "fused", "loop", "foreach"]>;
def ES_DecayKind : ES_Enum<"DecayKind", "how weights decay", [
    "none", "coupled", "decoupled"]>;

class ES_EnumAttr<EnumInfo info, string mnemonic>
    : EnumAttr<ES_Dialect, info, mnemonic>;
def ES_VjpKindAttr : ES_EnumAttr<ES_VjpKind, "vjp_kind">;
def ES_CompositeKindAttr : ES_EnumAttr<ES_CompositeKind, "composite_kind">;
def ES_LossKindAttr : ES_EnumAttr<ES_LossKind, "loss_kind">;
def ES_OptimizerKindAttr : ES_EnumAttr<ES_OptimizerKind, "optimizer_kind">;
def ES_OptimizerImplAttr : ES_EnumAttr<ES_OptimizerImpl, "optimizer_impl">;
def ES_DecayKindAttr : ES_EnumAttr<ES_DecayKind, "decay_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

def ES_VjpOp : ES_Op<"vjp", [Pure, AttrSizedOperandSegments, NoTerminator]> {
  let summary = "the gradient of one op, as an op";
  let description = [{
    The vector-Jacobian product of the op named `of`: from the cotangents of its
    results to the gradients of those of its operands that need one. Its operands
    are exactly the values of the forward pass that the derivative reads, each
    with its place among the operands or results of the original op, and the
    cotangents that arrived; a result without a cotangent has a cotangent of
    zero. The types and attributes of the original op are kept; an op with regions
    is kept whole, as the one op of a region whose arguments are its operands.

    To memory it does what its kind says: a `view` of its first cotangent; an
    `elementwise` gradient may take over an operand of its own shape that dies,
    saved ones included, and so may a `rowwise` one (softmax, layer norm), which
    reads each row whole before it writes it; `movement`, `reduction`,
    `contraction` and `opaque` have memory of their own.

    The dialect of the original op need not be linked in.

    Constraints:
    * (V1) `of` is not empty
    * (V2) every index is one of an operand or a result of the original op, and
      in rising order without repetition
    * (V3) saved values, cotangents and results have the types of the operands and
      results they stand for
    * (V4) there is a cotangent and a result; a `view` has one result
    * (V5) a region holds one op called `of`, on the arguments of its block

    Example:

    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %dy: tensor<4x2xf32>) -> tensor<8x2xf32> {
      %dw = es.vjp contraction "stablehlo.dot" saved(operand 0 = %x) cotangents(0 = %dy) wrt [1]
          : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
      return %dw : tensor<8x2xf32>
    }
    ```
  }];
  let arguments = (ins
    StrAttr:$of,
    ES_VjpKindAttr:$kind,
    Variadic<AnyType>:$saved,
    Variadic<AnyType>:$cotangents,
    DenseI32ArrayAttr:$saved_operands,
    DenseI32ArrayAttr:$saved_results,
    DenseI32ArrayAttr:$cotangent_of,
    DenseI32ArrayAttr:$wrt,
    TypeAttrOf<FunctionType>:$original_type,
    OptionalAttr<DictionaryAttr>:$original_attrs);
  let results = (outs Variadic<AnyType>:$gradients);
  let regions = (region VariadicRegion<AnyRegion>:$original);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The saved value of operand `index` of the original op, or null.
    ::mlir::Value getSavedOperand(unsigned index);
    ::mlir::Value getSavedResult(unsigned index);
    /// The cotangent of result `index` of the original op, or null.
    ::mlir::Value getCotangent(unsigned index);
    ::mlir::FunctionType getOriginalFunctionType() {
      return ::llvm::cast<::mlir::FunctionType>(getOriginalType());
    }
  }];
}

def ES_CompositeOp : ES_Op<"composite", [
    Pure, IsolatedFromAbove, NoTerminator]> {
  let summary = "ops that one kernel computes";
  let description = [{
    Several ops of the forward pass that one kernel computes without writing what
    is between them to memory. The body says what is computed: ops on its
    arguments, which stand for the inputs, the last of which gives the first
    result. Further results are what the kernel leaves for its gradient:

    | kind | inputs | further results | its gradient reads |
    |---|---|---|---|
    | `attention` | queries, keys, values, masks | logarithms of the sums of each row | all inputs, the result, the logarithms |
    | `layer_norm` | operand, scale, offset | mean and reciprocal deviation of each row | the operand, the scale, both statistics |
    | `gelu` | operand | | the operand |
    | `cross_entropy` | logits, labels as weights | log-probabilities | labels, log-probabilities |
    | `log_softmax` | logits | | the result |
    | `relu` | operand | where it is positive | that mask |

    `attention` and `cross_entropy` have memory of their own for their results;
    the others may take over an input of the shape of the result that dies.

    Constraints:
    * (C1) the body has one block, whose arguments have the types of the inputs
    * (C2) the first result of its last op has the type of the first result
    * (C3) there are as many further results as the kind has

    Example:

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = es.composite gelu(%x) : (tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%a: tensor<4xf32>):
        %e = math.erf %a : tensor<4xf32>
        %g = arith.mulf %a, %e : tensor<4xf32>
      }
      return %y : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins ES_CompositeKindAttr:$kind, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outcomes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kind `(` $inputs `)` attr-dict `:`
    functional-type($inputs, $outcomes) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def ES_SplatOp : ES_Op<"splat", [Pure]> {
  let summary = "a value all of whose elements are equal";
  let description = [{
    The seed of a gradient, or zero, of any type that carries a shape or is a
    float. It takes no memory unless something needs it there.

    Example:

    ```mlir
    func.func @f() -> tensor<f32> {
      %one = es.splat 1.0 : tensor<f32>
      return %one : tensor<f32>
    }
    ```
  }];
  let arguments = (ins F64Attr:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def ES_AccumulateOp : ES_Op<"accumulate", [Pure, SameOperandsAndResultType]> {
  let summary = "the sum of two cotangents";
  let description = [{
    Adds what two consumers of a value say of its gradient. The sum takes over
    the memory of an operand that dies, in every memory model: frameworks that run
    op by op accumulate in place too. With `apart` it does not: PyTorch's sum has
    memory of its own where the cotangent that came first is a view.

    Example:

    ```mlir
    func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
      %sum = es.accumulate %a, %b : tensor<4xf32>
      return %sum : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins AnyType:$lhs, AnyType:$rhs, UnitAttr:$apart);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`apart` $apart^)? attr-dict `:` type($result)
  }];
}

def ES_ReleaseOp : ES_Op<"release", [
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite",
      "getAliasingValues", "bufferize"]>]> {
  let summary = "the point at which values may be freed";
  let description = [{
    Computes nothing: its operands live until here. A training step that keeps all
    gradients until the last parameter is updated says so with this op.
    Bufferization, which frees its operands behind it, erases it.

    Example:

    ```mlir
    func.func @f(%g: tensor<4xf32>) {
      es.release %g : tensor<4xf32>
      return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

//===----------------------------------------------------------------------===//
// Shards
//===----------------------------------------------------------------------===//

class ES_ShardingOp<string mnemonic, list<Trait> traits = []>
    : ES_Op<mnemonic, !listconcat([Pure], traits)> {
  let arguments = (ins AnyRankedTensor:$source,
                       ConfinedAttr<I64Attr, [IntPositive]>:$devices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `over` $devices attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def ES_ShardOp : ES_ShardingOp<"shard"> {
  let summary = "the part of a tensor that one device keeps up to date";
  let description = [{
    One of `devices` equal parts of the elements in row-major order, the last of
    them padded. A view of its source.

    Constraints:
    * (S1) the shard is of rank 1, holds as many elements as the whole has,
      divided by the devices and rounded up, and has the same element type

    Example:

    ```mlir
    func.func @f(%w: tensor<4x5xf32>) -> tensor<7xf32> {
      %s = es.shard %w over 3 : tensor<4x5xf32> -> tensor<7xf32>
      return %s : tensor<7xf32>
    }
    ```
  }];
}

def ES_AllGatherOp : ES_ShardingOp<"all_gather"> {
  let summary = "a whole tensor, put together from the shards of all devices";
  let description = [{
    Has memory of its own. Its gradient is a reduce-scatter.

    Constraints: (S1) as for `es.shard`.

    Example:

    ```mlir
    func.func @f(%s: tensor<7xf32>) -> tensor<4x5xf32> {
      %w = es.all_gather %s over 3 : tensor<7xf32> -> tensor<4x5xf32>
      return %w : tensor<4x5xf32>
    }
    ```
  }];
}

def ES_ReduceScatterOp : ES_ShardingOp<"reduce_scatter"> {
  let summary = "the sum over all devices, of which each keeps a shard";
  let description = [{
    Has memory of its own.

    Constraints: (S1) as for `es.shard`.

    Example:

    ```mlir
    func.func @f(%g: tensor<4x5xf32>) -> tensor<7xf32> {
      %s = es.reduce_scatter %g over 3 : tensor<4x5xf32> -> tensor<7xf32>
      return %s : tensor<7xf32>
    }
    ```
  }];
}

//===----------------------------------------------------------------------===//
// The loss
//===----------------------------------------------------------------------===//

def ES_LossOp : ES_Op<"loss", [Pure]> {
  let summary = "a loss on the output of a model";
  let description = [{
    `xent`: the mean over all rows of the softmax cross entropy of the last
    dimension of `prediction` against integer labels in `target`; the second
    result is the logarithm of the probabilities, in f32 at least, which the
    gradient reads. `mse`: the mean square of the difference from `target`. `sum`:
    the sum of all elements, without a target.

    Constraints:
    * (L1) the loss is a tensor of rank 0 and a float
    * (L2) `xent` has an integer target of the shape of `prediction` without its
      last dimension, and log-probabilities of the shape of `prediction`
    * (L3) `mse` has a target of the type of `prediction` and one result; `sum`
      has no target and one result

    Example:

    ```mlir
    func.func @f(%y: tensor<4x10xf32>, %labels: tensor<4xi32>) -> tensor<f32> {
      %loss, %logp = es.loss xent(%y, %labels) : (tensor<4x10xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4x10xf32>)
      return %loss : tensor<f32>
    }
    ```
  }];
  let arguments = (ins ES_LossKindAttr:$kind, AnyType:$prediction,
                       Optional<AnyType>:$target);
  let results = (outs AnyRankedTensor:$loss,
                      Optional<AnyRankedTensor>:$log_probabilities);
  let assemblyFormat = [{
    $kind `(` $prediction (`,` $target^)? `)` attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

def ES_OptimizerStepOp : ES_Op<"optimizer_step", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "the update of parameters from their gradients";
  let description = [{
    New values of parameters and of the optimizer's states, in this order. Both
    are updated in place, in every memory model; a gradient is only read.

    Per element, with gradient g, learning rate lr, decay d = `weight_decay`
    (`coupled`: g += d p; `decoupled`: p -= lr d p):
    * `sgd`: p -= lr g
    * `momentum`: v = beta1 v + g; p -= lr v
    * `lion`: p -= lr sign(beta1 m + (1 - beta1) g); m = beta2 m + (1 - beta2) g
    * `adam`, `adamw`, `adamw8bit`: m = beta1 m + (1 - beta1) g;
      v = beta2 v + (1 - beta2) g g; p -= lr m' / (sqrt(v') + epsilon) with
      m' = m / (1 - beta1^t), v' = v / (1 - beta2^t), t = `step`, from 1
    * `adafactor`: v in a row and a column of means over the last two dimensions;
      a whole v for vectors

    States, per parameter: none for `sgd`; one for `momentum` and `lion`; two for
    `adam`, `adamw` and `adamw8bit` (stored in a byte each); a row and a column
    for `adafactor`, or one for vectors and scalars; then, with
    `master_weights`, the parameter at full precision.

    `fused` works without temporaries; `loop` has `temporaries` copies of the one
    parameter it updates; `foreach` updates all parameters at once and has
    `temporaries` copies of all of them.

    Constraints:
    * (O1) as many gradients as parameters, and as many states as the rule has
    * (O2) gradients have the shapes of their parameters, and so have states but
      for the rows and columns of `adafactor`
    * (O3) `fused` and `loop` update one parameter
    * (O4) a `step` where the rule reads one

    Example:

    ```mlir
    func.func @f(%w: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %t: i64) -> tensor<4xf32> {
      %new:3 = es.optimizer_step adamw fused params(%w : tensor<4xf32>) grads(%g : tensor<4xf32>)
          states(%m, %v : tensor<4xf32>, tensor<4xf32>) step(%t)
      return %new#0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins
    ES_OptimizerKindAttr:$kind,
    ES_OptimizerImplAttr:$impl,
    Variadic<AnyType>:$parameters,
    Variadic<AnyType>:$gradients,
    Variadic<AnyType>:$states,
    Optional<I64>:$step,
    DefaultValuedAttr<F64Attr, "1.0e-3">:$lr,
    DefaultValuedAttr<F64Attr, "0.9">:$beta1,
    DefaultValuedAttr<F64Attr, "0.999">:$beta2,
    DefaultValuedAttr<F64Attr, "1.0e-8">:$epsilon,
    DefaultValuedAttr<F64Attr, "0.0">:$weight_decay,
    DefaultValuedAttr<ES_DecayKindAttr, "::mlir::es::DecayKind::none">:$decay,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$temporaries,
    UnitAttr:$master_weights);
  let results = (outs Variadic<AnyType>:$updated);
  let assemblyFormat = [{
    $kind $impl `params` `(` $parameters `:` type($parameters) `)`
    `grads` `(` $gradients `:` type($gradients) `)`
    (`states` `(` $states^ `:` type($states) `)`)? (`step` `(` $step^ `)`)?
    attr-dict
  }];
  let hasVerifier = 1;
}

#endif // ES_GRADIENT_OPS_TD
