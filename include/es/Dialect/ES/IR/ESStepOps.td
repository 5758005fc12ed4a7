//===- ESStepOps.td - Ops of Evolution Strategies ----------*- tablegen -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_STEP_OPS_TD
#define ES_STEP_OPS_TD

include "es/Dialect/ES/IR/ESAttributes.td"
include "es/Dialect/ES/IR/ESGradientOps.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def ES_NoiseKind : ES_Enum<"NoiseKind", "a distribution of noise", [
    "normal16", "normal32", "rademacher", "int8", "uniform"]>;
def ES_Direction : ES_Enum<"Direction", "which fitness is good", [
    "maximize", "minimize"]>;
def ES_Shaping : ES_Enum<"Shaping", "how fitness becomes weights", [
    "centered_rank", "zscore", "sign", "raw"]>;
def ES_NanPolicy : ES_Enum<"NanPolicy", "what becomes of bad fitness", [
    "error", "worst", "drop"]>;
def ES_SumOrder : ES_Enum<"SumOrder", "the order of summation over pairs", [
    "seq", "chunk", "exact"]>;
def ES_ScaleKind : ES_Enum<"ScaleKind", "the scale of the gradient estimate", [
    "exact", "mean", "root"]>;
def ES_Rounding : ES_Enum<"Rounding", "how floats of 16 bits are stored", [
    "nearest", "stochastic", "compensated", "master"]>;
def ES_FixedRounding : ES_Enum<"FixedRounding", "how integers are stepped", [
    "nearest", "stochastic", "threshold", "error_feedback"]>;
def ES_Accumulator : ES_Enum<"Accumulator", "the width of whole sums", [
    "s32", "s64"]>;

def ES_NoiseKindAttr : ES_EnumAttr<ES_NoiseKind, "noise_kind">;
def ES_DirectionAttr : ES_EnumAttr<ES_Direction, "direction">;
def ES_ShapingAttr : ES_EnumAttr<ES_Shaping, "shaping">;
class ES_NamedEnumAttr<EnumInfo info, string mnemonic>
    : ES_EnumAttr<info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}
def ES_NanPolicyAttr : ES_NamedEnumAttr<ES_NanPolicy, "nan_policy">;
def ES_SumOrderAttr : ES_NamedEnumAttr<ES_SumOrder, "order">;
def ES_ScaleKindAttr : ES_NamedEnumAttr<ES_ScaleKind, "scale">;
def ES_RoundingAttr : ES_NamedEnumAttr<ES_Rounding, "rounding">;
def ES_FixedRoundingAttr : ES_NamedEnumAttr<ES_FixedRounding, "fixed">;
def ES_AccumulatorAttr : ES_NamedEnumAttr<ES_Accumulator, "accumulator">;

def ES_Positive : AttrConstraint<
    CPred<"::llvm::cast<::mlir::FloatAttr>($_self).getValueAsDouble() > 0">,
    "whose value is positive">;

/// Numbers in a tensor, or in memory once bufferized.
def ES_Storage : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;
def ES_F32Vector : AnyTypeOf<[1DTensorOf<[F32]>, MemRefRankOf<[F32], [1]>],
                             "vector of f32 in a tensor or memref">;
class ES_WriterOp<string mnemonic, list<Trait> traits = []>
    : ES_Op<mnemonic, traits # [
        DeclareOpInterfaceMethods<InferTypeOpInterface>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<BufferizableOpInterface, [
          "bufferizesToMemoryRead", "bufferizesToMemoryWrite",
          "getAliasingValues", "bufferize"]>]>;

//===----------------------------------------------------------------------===//
// The key of a step
//===----------------------------------------------------------------------===//

def ES_StepKeyOp : ES_Op<"step_key", [Pure]> {
  let summary = "the key of all noise of one step";
  let description = [{
    The first two words of philox4x32-10 with counter (step, 0x45534F50, 1) and
    key `seed`, the first in the low half. Every noise value of a step is a
    function of this key, the id of its parameter, the pair and the element.

    Example:

    ```mlir
    func.func @f(%seed: i64, %step: i64) -> i64 {
      %key = es.step_key %seed, %step
      return %key : i64
    }
    ```
  }];
  let arguments = (ins I64:$seed, I64:$step);
  let results = (outs I64:$key);
  let assemblyFormat = "$seed `,` $step attr-dict";
}

//===----------------------------------------------------------------------===//
// From fitness to coefficients
//===----------------------------------------------------------------------===//

def ES_ShapeFitnessOp : ES_WriterOp<"shape_fitness"> {
  let summary = "from the fitness of members to the coefficients of pairs";
  let description = [{
    One coefficient a pair: with `antithetic` the weight of member 2p less that of
    member 2p + 1, else the weight of member p. Computed in f64, in the order of
    members, and rounded once.

    * `centered_rank`: (members worse - members better) / (2 (N - 1)); ties share
      their mean. With `integer` the numerator alone, and `unit` is the rest
    * `zscore`: fitness less its mean, over its standard deviation
    * `sign`: of a pair, the sign of its difference; of a member, of its centered
      rank
    * `raw`: the fitness itself

    If all fitness is equal every coefficient is 0. Bad fitness is NaN, and
    infinity with `zscore` and `raw`: `error` stops the program, `worst` puts the
    worst of the others in its place, `drop` leaves the member out, with the other
    of its pair, of ranks, mean and `members`.

    `members` is N as the scale of the update counts it, `unit` what a coefficient
    of 1 is worth.

    To memory it writes its destination and allocates nothing.

    Constraints:
    * (F1) an even number of members with `antithetic`
    * (F2) as many coefficients as pairs
    * (F3) `integer` with `centered_rank` only: signs are whole anyway, the others
      never are

    Example:

    ```mlir
    func.func @f(%fitness: tensor<8xf32>) -> tensor<4xf32> {
      %empty = tensor.empty() : tensor<4xf32>
      %c, %members, %unit = es.shape_fitness centered_rank maximize %fitness into %empty
          {antithetic} : tensor<8xf32> into tensor<4xf32>
      return %c : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins
    ES_ShapingAttr:$shaping,
    ES_DirectionAttr:$direction,
    ES_F32Vector:$fitness,
    ES_F32Vector:$destination,
    DefaultValuedAttr<ES_NanPolicyAttr, "::mlir::es::NanPolicy::error">:$nan,
    UnitAttr:$antithetic,
    UnitAttr:$integer);
  let results = (outs Optional<1DTensorOf<[F32]>>:$coefficients, I64:$members,
                      F64:$unit);
  let assemblyFormat = [{
    $shaping $direction $fitness `into` $destination attr-dict `:`
    type($fitness) `into` type($destination)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Perturbation
//===----------------------------------------------------------------------===//

def ES_PerturbOp : ES_WriterOp<"perturb", [AttrSizedOperandSegments]> {
  let summary = "the parameter of one member of the population";
  let description = [{
    theta + sign sigma eps, rounded to the storage type of the parameter. eps is
    noise of the parameter's id and the member's pair: with `antithetic` members
    2p and 2p + 1 are a pair, of opposite signs. With `rank` r > 0 the noise of a
    matrix is A B^T / sqrt(r). Integers saturate, and the two of a pair mirror each
    other but for that.

    The parameter is only read. To memory it writes its destination and allocates
    nothing: noise is computed, never stored. A destination that is the parameter
    itself is perturbed in place. With `undo` the sign is the opposite: what was
    perturbed in place comes back, to the bit where no sum was rounded or
    saturated.

    The tensor may be a part of a parameter. With `at`, it holds the elements of
    the parameter from that one on, in row-major order. With `rows`, its rows (the
    elements of one value of the leading dimensions, as many as `rows` has) are
    those rows of the parameter. The noise of an element is that of its place in
    the parameter.

    Constraints:
    * (N1) a trainable parameter
    * (N2) elements of type f32, f64, bf16, f16, i8, i16 or i32
    * (N3) a destination of the type of the parameter
    * (N4) no rank with `at` or `rows`, and one of the two
    * (N5) `rows` whose shape begins that of the parameter

    Example:

    ```mlir
    func.func @f(%w: tensor<4x4xf32>, %key: i64, %member: index) -> tensor<4x4xf32> {
      %empty = tensor.empty() : tensor<4x4xf32>
      %p = es.perturb normal16 %w <trainable "w"> into %empty key(%key) member(%member)
          {antithetic, sigma = 0.02} : tensor<4x4xf32> into tensor<4x4xf32>
      return %p : tensor<4x4xf32>
    }
    ```
  }];
  let arguments = (ins
    ES_NoiseKindAttr:$noise,
    ES_Storage:$parameter,
    ES_ParamAttr:$param,
    ES_Storage:$destination,
    I64:$key,
    Index:$member,
    Optional<Index>:$at,
    Optional<ES_Storage>:$rows,
    DefaultValuedAttr<ConfinedAttr<F64Attr, [ES_Positive]>, "0.02">:$sigma,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$rank,
    UnitAttr:$antithetic,
    UnitAttr:$undo);
  let results = (outs Optional<AnyRankedTensor>:$perturbed);
  let assemblyFormat = [{
    $noise $parameter $param `into` $destination `key` `(` $key `)`
    `member` `(` $member `)` (`at` `(` $at^ `)`)?
    (`rows` `(` $rows^ `:` type($rows) `)`)? attr-dict `:`
    type($parameter) `into` type($destination)
  }];
  let hasVerifier = 1;
}

def ES_PerturbFactorsOp : ES_WriterOp<"perturb_factors"> {
  let summary = "the low-rank noise of one member, as two factors";
  let description = [{
    Of a matrix W of m rows and n columns, A^T (r x m) and sign sigma / sqrt(r) B^T
    (r x n), such that x (W + sign sigma eps) is x W + (x A) (sign sigma / sqrt(r)
    B^T) up to rounding: eps is the noise of `es.perturb` and of `es.update` with
    `rank` r.

    To memory it writes its destinations and allocates nothing.

    Constraints:
    * (L1) a trainable parameter
    * (L2) matrices of f32, f64, bf16 or f16, of one type and of as many rows

    Example:

    ```mlir
    func.func @f(%key: i64, %member: index) -> (tensor<1x8xf32>, tensor<1x4xf32>) {
      %e = tensor.empty() : tensor<1x8xf32>
      %f = tensor.empty() : tensor<1x4xf32>
      %a, %b = es.perturb_factors normal16 <trainable "w"> into %e, %f key(%key)
          member(%member) {antithetic} : tensor<1x8xf32>, tensor<1x4xf32>
      return %a, %b : tensor<1x8xf32>, tensor<1x4xf32>
    }
    ```
  }];
  let arguments = (ins
    ES_NoiseKindAttr:$noise,
    ES_ParamAttr:$param,
    ES_Storage:$left,
    ES_Storage:$right,
    I64:$key,
    Index:$member,
    DefaultValuedAttr<ConfinedAttr<F64Attr, [ES_Positive]>, "0.02">:$sigma,
    UnitAttr:$antithetic);
  let results = (outs Variadic<AnyRankedTensor>:$factors);
  let assemblyFormat = [{
    $noise $param `into` $left `,` $right `key` `(` $key `)`
    `member` `(` $member `)` attr-dict `:` type($left) `,` type($right)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

def ES_UpdateOp : ES_WriterOp<"update", [AttrSizedOperandSegments]> {
  let summary = "the update of all trainable parameters, fused";
  let description = [{
    Adds lr times the ES gradient, g = s S sum_p c_p eps_p, to every parameter, by
    the rule of the optimizer. The noise is computed again from `key`, the id of
    the parameter and the pair, element by element: it is never stored. Parameters
    that are not operands are not touched in any way.

    s is 1 or -1 by the direction. S, an f32, is unit / (N sigma) (`exact`),
    unit / N (`mean`) or unit sigma / sqrt(N) (`root`) with N = `members`; low rank
    adds 1 / sqrt(rank). `sigma` and `lr` of a parameter's annotation go before
    those of the op.

    Summation, in f32: `seq` in the order of pairs, acc = fma(c_p, eps, acc) from
    0, pairs with c_p = 0 left out; of low rank fma(c_p a, b, acc), column by
    column. `chunk`: sums of `chunk` consecutive pairs, added in order. `exact`:
    whole coefficients times whole noise in the integer `accumulator`.

    Rules, with decay d (`coupled`: g -= d theta; `decoupled`:
    theta -= lr d theta before the rest):
    * `sgd`: theta = fma(lr S s, acc, theta)
    * `momentum`: v = fma(beta1, v, g); theta = fma(lr, v, theta)
    * `adam`, `adamw`: m = fma(beta1, m, (1 - beta1) g);
      v = fma(beta2, v, ((1 - beta2) g) g); theta += lr (m c1) / (sqrt(v c2) + epsilon),
      c_i = 1 / (1 - beta_i^step)

    If every coefficient is 0 nothing changes, states included.

    States, for each parameter in turn: the moments of the rule, f64 for f64 and
    f32 for others, or all bf16 or all f16 where the parameter is not f64: computed
    in f32 and rounded at random when stored, as nearest would lose every small
    share of a new gradient; then, for floats of 16 bits, what was lost in rounding, in the
    parameter's type (`compensated`), or the parameter in f32 (`master`); for
    integers with `error_feedback` the f32 remainder. Integers step by
    floor(x + 1/2) (`nearest`), floor(x + random) (`stochastic`), both saturating,
    or by one where |acc| is at least `tau` standard deviations (`threshold`).

    To memory: parameters and states in place, nothing else.

    Constraints:
    * (U1) an annotation for each parameter, and a parameter
    * (U2) trainable parameters
    * (U3) ids that differ
    * (U4) elements of type f32, f64, bf16, f16, i8, i16 or i32
    * (U5) the states that rule and rounding need, in the shape of their parameter
    * (U6) `rounding` where there are floats of 16 bits, `fixed` where there are
      integers; integers with `sgd` and without decay
    * (U7) one of the four rules, `step` where it reads one, `weight_decay` with a
      kind of decay only, and not coupled in `adamw`
    * (U8) a `chunk` with the order of that name only
    * (U9) `exact` with whole noise, whole coefficients, a `max_coefficient` and
      an accumulator that holds every sum
    * (U10) the direction in which the fitness was shaped

    Example:

    ```mlir
    func.func @f(%w: tensor<4x4xf32>, %b: tensor<4xbf16>, %key: i64,
                 %c: tensor<32xf32>, %members: i64, %unit: f64) -> (tensor<4x4xf32>, tensor<4xbf16>) {
      %new:2 = es.update sgd maximize normal16 key(%key) weights(%c, %members, %unit : tensor<32xf32>)
          params(%w, %b : tensor<4x4xf32>, tensor<4xbf16>)
          as [#es.param<trainable "w">, #es.param<trainable "b", lr = 1.0e-3 : f32>]
          {sigma = 0.02, lr = 0.01, rounding = #es.rounding<stochastic>}
      return %new#0, %new#1 : tensor<4x4xf32>, tensor<4xbf16>
    }
    ```
  }];
  let arguments = (ins
    ES_OptimizerKindAttr:$optimizer,
    ES_DirectionAttr:$direction,
    ES_NoiseKindAttr:$noise,
    I64:$key,
    ES_F32Vector:$coefficients,
    I64:$members,
    F64:$unit,
    Optional<I64>:$step,
    Variadic<ES_Storage>:$parameters,
    Variadic<ES_Storage>:$states,
    TypedArrayAttrBase<ES_ParamAttr, "annotations of parameters">:$params,
    DefaultValuedAttr<ConfinedAttr<F64Attr, [ES_Positive]>, "0.02">:$sigma,
    DefaultValuedAttr<ConfinedAttr<F64Attr, [ES_Positive]>, "0.01">:$lr,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$rank,
    DefaultValuedAttr<ES_ScaleKindAttr, "::mlir::es::ScaleKind::exact">:$scale,
    DefaultValuedAttr<ES_SumOrderAttr, "::mlir::es::SumOrder::seq">:$order,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$chunk,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$max_coefficient,
    DefaultValuedAttr<ES_AccumulatorAttr, "::mlir::es::Accumulator::s64">:$accumulator,
    DefaultValuedAttr<ES_RoundingAttr, "::mlir::es::Rounding::nearest">:$rounding,
    DefaultValuedAttr<ES_FixedRoundingAttr, "::mlir::es::FixedRounding::nearest">:$fixed,
    DefaultValuedAttr<ConfinedAttr<F64Attr, [ES_Positive]>, "2.0">:$tau,
    DefaultValuedAttr<F64Attr, "0.9">:$beta1,
    DefaultValuedAttr<F64Attr, "0.999">:$beta2,
    DefaultValuedAttr<F64Attr, "1.0e-8">:$epsilon,
    DefaultValuedAttr<F64Attr, "0.0">:$weight_decay,
    DefaultValuedAttr<ES_DecayKindAttr, "::mlir::es::DecayKind::none">:$decay);
  let results = (outs Variadic<AnyRankedTensor>:$updated);
  let assemblyFormat = [{
    $optimizer $direction $noise `key` `(` $key `)`
    `weights` `(` $coefficients `,` $members `,` $unit `:` type($coefficients) `)`
    (`step` `(` $step^ `)`)?
    `params` `(` $parameters `:` type($parameters) `)` `as` $params
    (`states` `(` $states^ `:` type($states) `)`)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::es::ParamAttr getParam(unsigned index) {
      return ::llvm::cast<::mlir::es::ParamAttr>(getParams()[index]);
    }
    double getSigmaOf(unsigned index);
    double getLrOf(unsigned index);
    /// The number of states that rule and rounding need of a parameter.
    unsigned getNumStatesOf(unsigned index);
    unsigned getNumMoments();
  }];
}

#endif // ES_STEP_OPS_TD
