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

static llvm::Error parseCount(StringRef flag, StringRef text, unsigned most,
                              unsigned &count) {
  if (!text.getAsInteger(10, count) && count >= 1 && count <= most)
    return llvm::Error::success();
  return makeError("--" + flag + " expects a number from 1 to " +
                   llvm::Twine(most) + ", got '" + text + "'");
}

static llvm::Error parsePositive(StringRef flag, StringRef text,
                                 double &number) {
  if (!text.getAsDouble(number) && number > 0 &&
      number < std::numeric_limits<double>::infinity())
    return llvm::Error::success();
  return makeError("--" + flag + " expects a positive number, got '" + text +
                   "'");
}

/// Enumerations of up to eight cases, counted from 0.
template <typename Enum>
static llvm::Error parseEnum(StringRef flag, StringRef text,
                             std::optional<Enum> (*symbolize)(StringRef),
                             std::optional<Enum> (*get)(uint32_t),
                             Enum &value) {
  if (std::optional<Enum> known = symbolize(text)) {
    value = *known;
    return llvm::Error::success();
  }
  std::string names;
  for (uint32_t i = 0; i < 8; ++i)
    if (std::optional<Enum> known = get(i))
      names += (names.empty() ? "" : ", ") + stringifyEnum(*known).str();
  return makeError("--" + flag + " expects one of " + names + ", got '" + text +
                   "'");
}

static llvm::Error parsePlacement(const RawEvolutionOptions &raw,
                                  EvolutionOptions &options) {
  if (raw.esPerturb == "copy")
    options.placement = PerturbPlacement::Copy;
  else if (raw.esPerturb == "inplace")
    options.placement = PerturbPlacement::InPlace;
  else if (raw.esPerturb == "low-rank")
    options.placement = PerturbPlacement::LowRank;
  else if (raw.esPerturb != "sunk")
    return makeError("--es-perturb expects sunk, copy, inplace or low-rank, "
                     "got '" +
                     raw.esPerturb + "'");
  bool isLowRank = options.placement == PerturbPlacement::LowRank;
  options.rank = isLowRank ? 1 : 0;
  constexpr unsigned kMost = 1 << 12;
  if (!raw.esRank.empty() &&
      (StringRef(raw.esRank).getAsInteger(10, options.rank) ||
       options.rank > kMost || (isLowRank && options.rank == 0)))
    return makeError("--es-rank expects a number from " +
                     llvm::Twine(isLowRank ? 1 : 0) + " to " +
                     llvm::Twine(kMost) + ", got '" + raw.esRank + "'");
  if (options.placement == PerturbPlacement::InPlace && options.inFlight > 1)
    return makeError("--es-perturb=inplace expects --es-in-flight=1, got '" +
                     raw.esInFlight + "'");
  return llvm::Error::success();
}

llvm::Expected<EvolutionOptions>
mlir::es::parseEvolutionOptions(const RawEvolutionOptions &raw) {
  EvolutionOptions options;
  if (llvm::Error error =
          parseCount("population", raw.population, 1 << 20, options.population))
    return std::move(error);
  // The step has the model that often.
  if (llvm::Error error =
          parseCount("es-in-flight", raw.esInFlight, 1 << 10, options.inFlight))
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
  if (llvm::Error error = parsePlacement(raw, options))
    return std::move(error);
  if (llvm::Error error = parseEnum("es-noise", raw.esNoise, symbolizeNoiseKind,
                                    symbolizeNoiseKind, options.noise))
    return std::move(error);
  if (llvm::Error error =
          parseEnum("es-shaping", raw.esShaping, symbolizeShaping,
                    symbolizeShaping, options.shaping))
    return std::move(error);
  if (llvm::Error error =
          parseEnum("es-direction", raw.esDirection, symbolizeDirection,
                    symbolizeDirection, options.direction))
    return std::move(error);
  if (llvm::Error error = parseEnum("es-nan", raw.esNan, symbolizeNanPolicy,
                                    symbolizeNanPolicy, options.nan))
    return std::move(error);
  if (llvm::Error error =
          parseEnum("es-rounding", raw.esRounding, symbolizeRounding,
                    symbolizeRounding, options.rounding))
    return std::move(error);
  if (llvm::Error error =
          parseEnum("es-fixed", raw.esFixed, symbolizeFixedRounding,
                    symbolizeFixedRounding, options.fixed))
    return std::move(error);
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
