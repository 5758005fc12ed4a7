//===- Options.h - The options of a training step, as text ------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TRAINING_OPTIONS_H
#define ES_TRAINING_OPTIONS_H

#include "es/Training/TrainingGraph.h"
#include "llvm/Support/Error.h"

namespace mlir::es {

/// The options as given.
struct RawTrainingOptions {
#define ES_OPTION(member, flag, default, help) std::string member = default;
#define ES_SWITCH(member, flag, help) bool member = false;
#include "es/Training/Options.def"
#undef ES_OPTION
#undef ES_SWITCH
};

/// Understands `raw`; one error that names the flag if something is wrong.
llvm::Expected<TrainingOptions>
parseTrainingOptions(const RawTrainingOptions &raw, MLIRContext *context);

/// The same from any collection of options that contains these.
template <typename Options>
RawTrainingOptions collectTrainingOptions(const Options &options) {
  RawTrainingOptions raw;
#define ES_OPTION(member, flag, default, help) raw.member = options.member;
#define ES_SWITCH(member, flag, help) raw.member = options.member;
#include "es/Training/Options.def"
#undef ES_OPTION
#undef ES_SWITCH
  return raw;
}

} // namespace mlir::es

#endif // ES_TRAINING_OPTIONS_H
