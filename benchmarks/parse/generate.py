#!/usr/bin/env python3
"""Prints a network of about SIZE bytes, in StableHLO or in linalg.

  generate.py stablehlo|linalg SIZE

Both are the same layers, y = max(x w + b, 0) scaled by its row sums, as the
frameworks print them.
"""

import sys

STABLEHLO = """\
    %{i}a = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %{i}b = stablehlo.dot_general %{x}, %w, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512xf32>, tensor<512x512xf32>) -> tensor<32x512xf32>
    %{i}c = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<512xf32>) -> tensor<32x512xf32>
    %{i}d = stablehlo.add %{i}b, %{i}c : tensor<32x512xf32>
    %{i}e = stablehlo.broadcast_in_dim %{i}a, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %{i}f = stablehlo.maximum %{i}d, %{i}e : tensor<32x512xf32>
    %{i}g = stablehlo.reduce(%{i}f init: %{i}a) applies stablehlo.add across dimensions = [1] : (tensor<32x512xf32>, tensor<f32>) -> tensor<32xf32>
    %{i}h = stablehlo.broadcast_in_dim %{i}g, dims = [0] : (tensor<32xf32>) -> tensor<32x512xf32>
    %{i}i = stablehlo.compare GT, %{i}h, %{i}e : (tensor<32x512xf32>, tensor<32x512xf32>) -> tensor<32x512xi1>
    %{i}j = stablehlo.divide %{i}f, %{i}h : tensor<32x512xf32>
    %{i} = stablehlo.select %{i}i, %{i}j, %{i}f : tensor<32x512xi1>, tensor<32x512xf32>
"""

LINALG = """\
    %{i}a = arith.constant 0.000000e+00 : f32
    %{i}b = tensor.empty() : tensor<32x512xf32>
    %{i}c = linalg.fill ins(%{i}a : f32) outs(%{i}b : tensor<32x512xf32>) -> tensor<32x512xf32>
    %{i}d = linalg.matmul ins(%{x}, %w : tensor<32x512xf32>, tensor<512x512xf32>) outs(%{i}c : tensor<32x512xf32>) -> tensor<32x512xf32>
    %{i}e = linalg.broadcast ins(%b : tensor<512xf32>) outs(%{i}b : tensor<32x512xf32>) dimensions = [0]
    %{i}f = linalg.add ins(%{i}d, %{i}e : tensor<32x512xf32>, tensor<32x512xf32>) outs(%{i}b : tensor<32x512xf32>) -> tensor<32x512xf32>
    %{i}g = linalg.max ins(%{i}f, %{i}c : tensor<32x512xf32>, tensor<32x512xf32>) outs(%{i}b : tensor<32x512xf32>) -> tensor<32x512xf32>
    %{i}h = tensor.empty() : tensor<32xf32>
    %{i}i = linalg.fill ins(%{i}a : f32) outs(%{i}h : tensor<32xf32>) -> tensor<32xf32>
    %{i}j = linalg.reduce ins(%{i}g : tensor<32x512xf32>) outs(%{i}i : tensor<32xf32>) dimensions = [1]
      (%in: f32, %init: f32) {{
        %s = arith.addf %in, %init : f32
        linalg.yield %s : f32
      }}
    %{i}k = linalg.broadcast ins(%{i}j : tensor<32xf32>) outs(%{i}b : tensor<32x512xf32>) dimensions = [1]
    %{i} = linalg.generic {{indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}} ins(%{i}g, %{i}k : tensor<32x512xf32>, tensor<32x512xf32>) outs(%{i}b : tensor<32x512xf32>) {{
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.divf %in, %in_0 : f32
      %p = arith.cmpf ogt, %in_0, %{i}a : f32
      %r = arith.select %p, %q, %in : f32
      linalg.yield %r : f32
    }} -> tensor<32x512xf32>
"""


def main():
    layer = {"stablehlo": STABLEHLO, "linalg": LINALG}[sys.argv[1]]
    size = int(sys.argv[2])
    out = []
    written = 0
    last = "x"
    for i in range(size):
        if written >= size:
            break
        text = layer.format(i=f"v{i}", x=last)
        last = f"v{i}"
        out.append(text)
        written += len(text)
    print("#map = affine_map<(d0, d1) -> (d0, d1)>")
    print("module {")
    print(
        "  func.func @main(%x: tensor<32x512xf32>, %w: tensor<512x512xf32>, "
        "%b: tensor<512xf32>) -> tensor<32x512xf32> {"
    )
    print("".join(out), end="")
    print(f"    return %{last} : tensor<32x512xf32>\n  }}\n}}")


if __name__ == "__main__":
    main()
