//===- Donations.h - Arguments that a function may overwrite ----*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How exporters and passes say that the caller gives an argument away:
// `bufferization.writable`, `jax.buffer_donor`, and `tf.aliasing_output`, which
// names the result that the argument becomes.
//
//===----------------------------------------------------------------------===//

#ifndef ES_OPMODEL_DONATIONS_H
#define ES_OPMODEL_DONATIONS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::es {

/// Whether the function may overwrite the argument, as its attributes say.
bool isDonatedArgument(BlockArgument argument);

/// The number of the result that argument `index` is declared to become, which
/// need not exist.
std::optional<uint64_t> getDeclaredResult(FunctionOpInterface func,
                                          unsigned index);

/// Says of argument `index` that it is donated or not, and nothing of a result.
void setDonated(FunctionOpInterface func, unsigned index, bool isDonated);

/// The same for the attributes of an argument.
DictionaryAttr withDonation(DictionaryAttr attributes, bool isDonated);

} // namespace mlir::es

#endif // ES_OPMODEL_DONATIONS_H
