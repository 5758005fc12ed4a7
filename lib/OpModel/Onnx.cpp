//===- Onnx.cpp - ONNX operators ------------------------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operators of the ONNX standard, by name, as onnx-mlir writes them
// (`onnx.Add`) and as torch-mlir imports them (`torch.operator "onnx.Add"`).
// If, Loop and Scan are described in ControlFlow.cpp.
//
//===----------------------------------------------------------------------===//

#include "NamedOps.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::es;

static const FamilyTable &getTable() {
  static const FamilyTable table = makeFamilyTable({
      {Family::View,
       "Dropout Flatten Identity Optional OptionalGetElement Reshape "
       "BitCast Squeeze SqueezeV11 Unsqueeze UnsqueezeV11"},
      {Family::Elementwise,
       "Abs Add And BatchNormalization BatchNormalizationInferenceMode "
       "BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike "
       "Ceil Clip DequantizeLinear Equal Floor Greater GreaterOrEqual "
       "IsInf IsNaN LeakyRelu Less LessOrEqual Max Min Mul Neg Not Or PRelu "
       "Binarizer Imputer QuantizeLinear Relu Round Shrink Sign Sub Sum "
       "ThresholdedRelu "
       "Where Xor"},
      {Family::Costly,
       "Acos Acosh Asin Asinh Atan Atanh Celu Cos Cosh Div Elu Erf Exp "
       "Gelu Swish HardSigmoid HardSwish Log Mean Mish Mod Pow Reciprocal Selu "
       "Sigmoid Sin Sinh Softplus Softsign Sqrt Tan Tanh"},
      {Family::Movement,
       "CenterCropPad Concat DepthToSpace Expand Gather GatherElements "
       "GatherND Pad PadV2 PadV11 PadV13 PadV18 Slice SpaceToDepth Split "
       "SplitV11 SplitV13 Tile Transpose Trilu"},
      {Family::Generator, "ConstantOfShape EyeLike Range NoValue None"},
      {Family::Constant, "Constant"},
      {Family::Query, "Shape Size Dim SequenceLength OptionalHasElement"},
      {Family::Reduction,
       "ArgMax ArgMin AveragePool GlobalAveragePool GlobalLpPool "
       "GlobalMaxPool LpPool MaxPool MaxPoolSingleOut ReduceL1 ReduceL2 "
       "ReduceLogSum ReduceLogSumExp ReduceMax ReduceMaxV13 ReduceMaxV18 "
       "ReduceMean ReduceMeanV13 ReduceMin ReduceMinV13 ReduceMinV18 "
       "ReduceProd ReduceSum ReduceSumV11 ReduceSumSquare"},
      {Family::Contraction,
       "Conv ConvInteger ConvTranspose Einsum Gemm MatMul MatMulInteger "
       "QLinearConv QLinearMatMul"},
      {Family::Materializing,
       "AffineGrid Bernoulli BlackmanWindow Col2Im Compress Crop CumSum "
       "Custom DFT DeformConv Det DynamicQuantizeLinear GRU GridSample "
       "GroupNormalization HammingWindow HannWindow Hardmax "
       "InstanceNormalization LRN LSTM LayerNormalization LogSoftmax "
       "LpNormalization MaxRoiPool MaxUnpool MeanVarianceNormalization "
       "MelWeightMatrix Multinomial NegativeLogLikelihoodLoss "
       "NonMaxSuppression NonZero OneHot RMSLayerNormalization RNN "
       "RandomNormal RandomNormalLike RandomUniform RandomUniformLike "
       "Resize ReverseSequence RoiAlign STFT Scatter ScatterElements "
       "ScatterND Softmax SoftmaxCrossEntropyLoss SoftmaxV11 TopK Unique "
       "Upsample "
       "Attention CausalConvWithState ConcatFromSequence CumProd "
       "ImageDecoder LinearAttention RMSNormalization RegexFullMatch "
       "RotaryEmbedding SequenceAt SequenceConstruct SequenceEmpty "
       "SequenceErase SequenceInsert SequenceMap SplitToSequence "
       "StringConcat StringNormalizer StringSplit SwiGLU TensorScatter "
       "TfIdfVectorizer "
       "ArrayFeatureExtractor CastMap CategoryMapper DictVectorizer "
       "FeatureVectorizer LabelEncoder LinearClassifier LinearRegressor "
       "Normalizer OneHotEncoder SVMClassifier SVMRegressor Scaler "
       "TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor ZipMap"},
      {Family::Terminator, "Yield Return"},
  });
  return table;
}

std::optional<OpFacts> mlir::es::getOnnxFacts(Operation *op, StringRef name) {
  auto it = getTable().find(name);
  if (it == getTable().end())
    return std::nullopt;
  OpFacts facts = getFamilyFacts(op, it->second);
  // A cache or a table with some of it new.
  if (name == "TensorScatter" || name == "Scatter" ||
      name == "ScatterElements" || name == "ScatterND")
    makeUpdate(op, facts);
  // Dropout also gives its mask, which is no part of its operand.
  if (name == "Dropout" && facts.results.size() > 1 &&
      facts.results[1].kind == ResultKind::View)
    facts.results[1] = {ResultKind::New, 0};
  return facts;
}

std::optional<OpFacts> mlir::es::getOnnxFacts(Operation *op) {
  if (op->getName().getDialectNamespace() != "onnx")
    return std::nullopt;
  return getOnnxFacts(op, op->getName().stripDialect());
}
