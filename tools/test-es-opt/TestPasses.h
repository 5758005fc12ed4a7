//===- TestPasses.h - Passes that exist for tests ---------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ES_TOOLS_TEST_ES_OPT_TESTPASSES_H
#define ES_TOOLS_TEST_ES_OPT_TESTPASSES_H

namespace mlir::es {

void registerTestPasses();

} // namespace mlir::es

#endif // ES_TOOLS_TEST_ES_OPT_TESTPASSES_H
