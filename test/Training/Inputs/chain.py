"""A chain of products with parameters: chain.py COUNT ROWS SIZE ELEMENT."""

import sys

count, rows, size, element = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
act, weight = f"tensor<{rows}x{size}x{element}>", f"tensor<{size}x{size}x{element}>"
params = "".join(
    f', %w{i}: {weight} {{es.param = #es.param<trainable "w{i}">}}' for i in range(count)
)
print(f"func.func @chain(%x: {act}{params}) -> {act} {{")
for i in range(count):
    before = f"%h{i - 1}" if i else "%x"
    print(f'  %h{i} = "stablehlo.dot"({before}, %w{i}) : ({act}, {weight}) -> {act}')
print(f"  return %h{count - 1} : {act}\n}}")
