"""Prints attention layers in a row, each on what the last one gave: LAYERS S H."""

import sys

layers, s, h = map(int, sys.argv[1:])
x, w, scores = f"tensor<{s}x{h}xf64>", f"tensor<{h}x{h}xf64>", f"tensor<{s}x{s}xf64>"
params = [f'%w{i}: {w} {{es.param = #es.param<trainable "w{i}">}}' for i in range(layers)]
print(f"func.func @stack(%x: {x}, {', '.join(params)}) -> {x} {{")
print("  %zero = arith.constant 0.0 : f64")


def product(name, a, b, types, result, kind="matmul"):
    print(f"  %{name}e = tensor.empty() : {result}")
    print(f"  %{name}f = linalg.fill ins(%zero : f64) outs(%{name}e : {result}) -> {result}")
    print(f"  %{name} = linalg.{kind} ins(%{a}, %{b} : {types}) outs(%{name}f : {result}) -> {result}")


last = "x"
for i in range(layers):
    product(f"q{i}", last, f"w{i}", f"{x}, {w}", x)
    print(f"  %ke{i} = tensor.empty() : tensor<{h}x{s}xf64>")
    print(f"  %k{i} = linalg.transpose ins(%{last} : {x}) outs(%ke{i} : tensor<{h}x{s}xf64>) permutation = [1, 0]")
    product(f"s{i}", f"q{i}", f"k{i}", f"{x}, tensor<{h}x{s}xf64>", scores)
    print(f"  %pe{i} = tensor.empty() : {scores}")
    print(f"  %p{i} = linalg.softmax dimension(1) ins(%s{i} : {scores}) outs(%pe{i} : {scores}) -> {scores}")
    product(f"o{i}", f"p{i}", last, f"{scores}, {x}", x)
    last = f"o{i}"
print(f"  return %{last} : {x}\n}}")
