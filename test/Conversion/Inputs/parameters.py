"""An update of as many parameters as asked for."""

import sys

n = int(sys.argv[1])
names = [f"%w{i}" for i in range(n)]
types = ", ".join(f"memref<{i + 1}xf32>" for i in range(n))
params = ", ".join(f'#es.param<trainable "w{i}">' for i in range(n))
arguments = ", ".join(f"{name}: memref<{i + 1}xf32>" for i, name in enumerate(names))
print(f"""func.func @f({arguments}, %key: i64, %c: memref<8xf32>, %n: i64, %u: f64) {{
  es.update sgd maximize normal16 key(%key) weights(%c, %n, %u : memref<8xf32>)
      params({", ".join(names)} : {types}) as [{params}]
  return
}}""")
