"""Equal residual layers, x + tanh(x u + b) v: stack.py LAYERS ROWS WIDTH HIDDEN ELEMENT."""

import sys

layers, rows, width, hidden = map(int, sys.argv[1:5])
element = sys.argv[5]
act, wide = f"tensor<{rows}x{width}x{element}>", f"tensor<{rows}x{hidden}x{element}>"
u, v, b = f"tensor<{width}x{hidden}x{element}>", f"tensor<{hidden}x{width}x{element}>", f"tensor<{hidden}x{element}>"


def product(name, left, right, lt, rt, to):
    return f"""  %{name}e = tensor.empty() : {to}
  %{name}f = linalg.fill ins(%zero : {element}) outs(%{name}e : {to}) -> {to}
  %{name} = linalg.matmul ins({left}, {right} : {lt}, {rt}) outs(%{name}f : {to}) -> {to}"""


def param(name, kind):
    return f'%{name}: {kind} {{es.param = #es.param<trainable "{name}">}}'


arguments = [f"%x: {act}"]
for i in range(layers):
    arguments += [param(f"u{i}", u), param(f"b{i}", b), param(f"v{i}", v)]
print("#id = affine_map<(i, j) -> (i, j)>\n#col = affine_map<(i, j) -> (j)>")
print(f"func.func @stack({', '.join(arguments)}) -> {act} {{\n  %zero = arith.constant 0.0 : {element}")
x = "%x"
for i in range(layers):
    print(product(f"m{i}", x, f"%u{i}", act, u, wide))
    print(f"""  %ze{i} = tensor.empty() : {wide}
  %z{i} = linalg.generic {{indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}} ins(%m{i}, %b{i} : {wide}, {b}) outs(%ze{i} : {wide}) {{
  ^bb0(%p: {element}, %q: {element}, %o: {element}):
    %s = arith.addf %p, %q : {element}
    linalg.yield %s : {element}
  }} -> {wide}
  %t{i} = math.tanh %z{i} : {wide}""")
    print(product(f"d{i}", f"%t{i}", f"%v{i}", wide, v, act))
    print(f"  %x{i} = arith.addf {x}, %d{i} : {act}")
    x = f"%x{i}"
print(f"  return {x} : {act}\n}}")
