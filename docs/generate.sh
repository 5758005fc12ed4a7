#!/bin/sh
# Writes the reference pages that TableGen makes into a folder, one for the dialect
# and one for each Passes.td:
#   docs/generate.sh [folder]      default: docs/generated
# A test compares docs/generated with a fresh run.
set -e

root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/docs/generated}
llvm=${LLVM_PREFIX:-/usr/lib/llvm-22}
mkdir -p "$out"

page() {
  name=$1 source=$2
  shift 2
  "$llvm/bin/mlir-tblgen" "$@" -I "$root/include" -I "$llvm/include" \
    "$root/include/$source" -o "$out/$name.md"
}

page ESDialect es/Dialect/ES/IR/ESOps.td -gen-dialect-doc -dialect=es

# es/Dialect/ES/Transforms/Passes.td is ESPasses, es/Report/Passes.td ESReportPasses.
cd "$root/include"
for passes in $(find es -name Passes.td | sort); do
  name=$(echo "$passes" | sed 's,^es/,,; s,Dialect/ES/Transforms/,,; s,[/.]\|td$,,g')
  page "ES$name" "$passes" -gen-pass-doc
done
