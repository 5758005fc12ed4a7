//===- EvolutionOptions.cpp - The options of an ES step, as text ----------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Training/EvolutionGraph.h"

using namespace mlir;
using namespace mlir::es;

static llvm::Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

static llvm::Error parseCount(StringRef flag, StringRef text, unsigned &count) {
  constexpr unsigned kMost = 1 << 20;
  if (!text.getAsInteger(10, count) && count >= 1 && count <= kMost)
    return llvm::Error::success();
  return makeError("--" + flag + " expects a number from 1 to " +
                   llvm::Twine(kMost) + ", got '" + text + "'");
}

static llvm::Error parsePositive(StringRef flag, StringRef text,
                                 double &number) {
  if (!text.getAsDouble(number) && number > 0 &&
      number < std::numeric_limits<double>::infinity())
    return llvm::Error::success();
  return makeError("--" + flag + " expects a positive number, got '" + text +
                   "'");
}

llvm::Expected<EvolutionOptions>
mlir::es::parseEvolutionOptions(const RawEvolutionOptions &raw) {
  EvolutionOptions options;
  if (llvm::Error error =
          parseCount("population", raw.population, options.population))
    return std::move(error);
  if (llvm::Error error =
          parseCount("es-in-flight", raw.esInFlight, options.inFlight))
    return std::move(error);
  if (llvm::Error error = parsePositive("es-sigma", raw.esSigma, options.sigma))
    return std::move(error);
  if (llvm::Error error =
          parsePositive("es-lr", raw.esLr, options.learningRate))
    return std::move(error);
  if (raw.esSampling == "independent")
    options.antithetic = false;
  else if (raw.esSampling != "antithetic")
    return makeError("--es-sampling expects antithetic or independent, got '" +
                     raw.esSampling + "'");
  if (options.antithetic && options.population % 2)
    return makeError("--population expects an even number, or "
                     "--es-sampling=independent, got '" +
                     raw.population + "'");
  if (raw.esPerturb == "copy")
    options.placement = PerturbPlacement::Copy;
  else if (raw.esPerturb != "sunk")
    return makeError("--es-perturb expects sunk or copy, got '" +
                     raw.esPerturb + "'");
  std::optional<OptimizerKind> rule = symbolizeOptimizerKind(raw.esOptimizer);
  if (!rule ||
      (*rule != OptimizerKind::sgd && *rule != OptimizerKind::momentum &&
       *rule != OptimizerKind::adam && *rule != OptimizerKind::adamw))
    return makeError("--es-optimizer expects sgd, momentum, adam or adamw, "
                     "got '" +
                     raw.esOptimizer + "'");
  options.optimizer = *rule;
  return options;
}
