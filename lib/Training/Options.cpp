//===- Options.cpp - The options of a training step, as text --------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Training/Options.h"

#include "es/Analysis/StorageSize.h"

#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace mlir::es;

static llvm::Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

static llvm::Error parseLoss(StringRef text, TrainingOptions &options) {
  if (text == "auto")
    options.loss = LossChoice::Automatic;
  else if (text == "xent")
    options.loss = LossChoice::CrossEntropy;
  else if (text == "mse")
    options.loss = LossChoice::MeanSquare;
  else if (text == "sum")
    options.loss = LossChoice::Sum;
  else
    options.loss = LossChoice::Result;
  if (options.loss != LossChoice::Result)
    return llvm::Error::success();
  SmallVector<StringRef> numbers;
  text.split(numbers, '+');
  for (StringRef number : numbers)
    if (number.getAsInteger(10, options.lossResults.emplace_back()))
      return makeError("--loss expects auto, xent, mse, sum or the numbers of "
                       "results (0, or 0+2 for their sum), got '" +
                       text + "'");
  return llvm::Error::success();
}

static llvm::Error parseOptimizer(const RawTrainingOptions &raw,
                                  TrainingOptions &options) {
  std::optional<OptimizerKind> kind = symbolizeOptimizerKind(raw.optimizer);
  if (!kind)
    return makeError("--optimizer expects sgd, momentum, lion, adam, adamw, "
                     "adamw8bit or adafactor, got '" +
                     raw.optimizer + "'");
  options.optimizer = *kind;
  if (*kind != OptimizerKind::adamw && *kind != OptimizerKind::adamw8bit)
    options.decay = DecayKind::none;
  std::optional<OptimizerImpl> impl = symbolizeOptimizerImpl(raw.optimizerImpl);
  if (!impl)
    return makeError("--optimizer-impl expects fused, loop or foreach, got '" +
                     raw.optimizerImpl + "'");
  options.impl = *impl;
  if (raw.optimizerTemporaries.empty())
    return llvm::Error::success();
  unsigned count;
  if (StringRef(raw.optimizerTemporaries).getAsInteger(10, count))
    return makeError("--optimizer-temporaries expects a number, got '" +
                     raw.optimizerTemporaries + "'");
  options.temporaries = count;
  return llvm::Error::success();
}

/// An element type; none for an empty text.
static llvm::Error parseElement(StringRef flag, StringRef text,
                                bool allowIntegers, MLIRContext *context,
                                Type &type) {
  if (text.empty())
    return llvm::Error::success();
  // The parser would print what is wrong with the text; we say it ourselves.
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) {});
  type = parseType(text, context);
  if (type && (isa<FloatType>(type) || (allowIntegers && type.isInteger())))
    return llvm::Error::success();
  return makeError("--" + flag + " expects " +
                   (allowIntegers ? "a number type" : "a float type") +
                   ", got '" + text + "'");
}

static llvm::Error parseNumber(StringRef flag, StringRef text, unsigned least,
                               unsigned most, unsigned &number) {
  if (!text.getAsInteger(10, number) && number >= least && number <= most)
    return llvm::Error::success();
  return makeError("--" + flag + " expects a number from " +
                   llvm::Twine(least) + " to " + llvm::Twine(most) + ", got '" +
                   text + "'");
}

llvm::Expected<CheckpointChoice>
mlir::es::parseCheckpointChoice(StringRef text) {
  CheckpointChoice options;
  if (text == "none")
    return options;
  if (text == "blocks") {
    options.kind = CheckpointKind::Blocks;
    return options;
  }
  if (text == "sqrt") {
    options.kind = CheckpointKind::Sqrt;
    return options;
  }
  if (text.consume_front("states=")) {
    options.kind = CheckpointKind::States;
    if (llvm::Error error =
            parseNumber("checkpoint=states", text, 1, 1u << 20, options.states))
      return error;
    return options;
  }
  if (!text.consume_front("budget="))
    return makeError("--checkpoint expects none, blocks, sqrt, states=N or "
                     "budget=SIZE, got '" +
                     text + "'");
  llvm::Expected<uint64_t> budget = parseByteSize(text);
  if (!budget)
    return makeError("--checkpoint=budget " +
                     llvm::toString(budget.takeError()));
  options.kind = CheckpointKind::Budget;
  options.budget = *budget;
  return options;
}

static llvm::Error parseScale(const RawTrainingOptions &raw,
                              TrainingOptions &options) {
  constexpr unsigned kMost = 1 << 20;
  if (llvm::Error error = parseNumber("accumulate", raw.accumulate, 1, kMost,
                                      options.accumulate))
    return error;
  if (llvm::Error error = parseNumber("zero", raw.zero, 0, 3, options.zero))
    return error;
  if (llvm::Error error =
          parseNumber("devices", raw.devices, 1, kMost, options.devices))
    return error;
  if (options.accumulate > 1 && options.lifetime == GradientLifetime::Update)
    return makeError("--grad-lifetime=update frees each gradient at once, "
                     "--accumulate keeps the sums of all");
  return llvm::Error::success();
}

llvm::Expected<TrainingOptions>
mlir::es::parseTrainingOptions(const RawTrainingOptions &raw,
                               MLIRContext *context) {
  TrainingOptions options;
  if (llvm::Error error = parseLoss(raw.loss, options))
    return std::move(error);
  if (llvm::Error error = parseOptimizer(raw, options))
    return std::move(error);
  if (llvm::Error error = parseElement("grad-dtype", raw.gradType, false,
                                       context, options.gradType))
    return std::move(error);
  if (llvm::Error error = parseElement("state-dtype", raw.stateType, true,
                                       context, options.stateType))
    return std::move(error);
  if (raw.gradLifetime == "update")
    options.lifetime = GradientLifetime::Update;
  else if (raw.gradLifetime != "step")
    return makeError("--grad-lifetime expects step or update, got '" +
                     raw.gradLifetime + "'");
  if (options.lifetime == GradientLifetime::Update &&
      options.impl == OptimizerImpl::foreach)
    return makeError("--grad-lifetime=update updates one parameter at a time, "
                     "--optimizer-impl=foreach all of them at once");
  options.masterWeights = raw.masterWeights;
  if (raw.savePolicy == "all")
    options.savePolicy = SavePolicy::All;
  else if (raw.savePolicy == "attention-fused")
    options.savePolicy = SavePolicy::AttentionFused;
  else if (raw.savePolicy != "mincut")
    return makeError("--save-policy expects all, mincut or attention-fused, "
                     "got '" +
                     raw.savePolicy + "'");
  if (raw.relu == "mask")
    options.relu = ReluSaves::Mask;
  else if (raw.relu != "result")
    return makeError("--relu expects result or mask, got '" + raw.relu + "'");
  llvm::Expected<CheckpointChoice> checkpoint =
      parseCheckpointChoice(raw.checkpoint);
  if (!checkpoint)
    return checkpoint.takeError();
  options.checkpoint = *checkpoint;
  if (llvm::Error error = parseScale(raw, options))
    return std::move(error);
  return options;
}
