"""A chain of cheap ops behind one product: long_chain.py COUNT."""

import sys

count = int(sys.argv[1])
T = "tensor<4x4xf32>"
print(f'func.func @f(%x: {T}, %w: {T} {{es.param = #es.param<trainable "w">}}) -> {T} {{')
print(f'  %h0 = "stablehlo.dot"(%x, %w) : ({T}, {T}) -> {T}')
for i in range(1, count):
    op = ("sine", "exponential", "tanh", "logistic")[i % 4]
    print(f"  %h{i} = stablehlo.{op} %h{i - 1} : {T}")
print(f"  return %h{count - 1} : {T}\n}}")
