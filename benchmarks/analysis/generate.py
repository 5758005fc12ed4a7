"""Prints a linalg module of about N ops: generate.py N mixed|chain|shared

mixed   matrix products with elementwise ops between them
chain   one in-place chain through all ops
shared  two values that every op reads
"""

import sys

count, kind = int(sys.argv[1]), sys.argv[2]
t = "tensor<16x16xf32>"
print(f"func.func @f(%a: {t}, %w: {t}) -> {t} {{")
print("  %zero = arith.constant 0.0 : f32")
print(f"  %e = tensor.empty() : {t}")
last = "%a"
for i in range(0, count, 3 if kind == "mixed" else 1):
    if kind == "mixed":
        print(f"  %f{i} = linalg.fill ins(%zero : f32) outs(%e : {t}) -> {t}")
        print(f"  %m{i} = linalg.matmul ins({last}, %w : {t}, {t}) outs(%f{i} : {t}) -> {t}")
        print(f"  %v{i} = arith.maximumf %m{i}, {last} : {t}")
    else:
        operand = last if kind == "chain" else "%a"
        print(f"  %v{i} = arith.addf {operand}, %w : {t}")
    last = f"%v{i}"
print(f"  return {last} : {t}\n}}")
