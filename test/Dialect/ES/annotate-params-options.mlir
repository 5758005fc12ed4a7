// RUN: not es-opt --es-annotate-params="params=(" %s 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not es-opt --es-annotate-params="stored-as=w:nothing" %s 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not es-opt --es-annotate-params="params=#4-2" %s 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not es-opt --es-annotate-params="rules=trane:w" %s 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: es-opt --es-annotate-params="freeze=nothing_like_it" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

// BAD: error: es-annotate-params: --params expects a regular expression, got '(': parentheses not balanced
// TYPE: error: es-annotate-params: --stored-as expects RE:TYPE with an MLIR element type, got 'w:nothing'
// RANGE: error: es-annotate-params: --params expects #N or #N-M for arguments by position, got '#4-2'
// KIND: error: es-annotate-params: rules expects KIND:RE with a kind of params, inputs, train, freeze, donate or stored-as, got 'trane:w'
// NONE: warning: --freeze='nothing_like_it' matches nothing

func.func @fine(%w: tensor<4xf32>) { return }
