"""A transformer in 16 bit as the published activation count splits it: layer norm,
softmax, GELU and dropout are one op each. LAYERS SEQUENCE BATCH HIDDEN HEADS."""

import sys

layers, s, b, h, a = map(int, sys.argv[1:])
d = h // a
ACT, WIDE = f"tensor<{b}x{s}x{h}xf16>", f"tensor<{b}x{s}x{4 * h}xf16>"
SPLIT, HEADS, KEYS = (f"tensor<{b}x{x}xf16>" for x in (f"{s}x{a}x{d}", f"{a}x{s}x{d}", f"{a}x{d}x{s}"))
SCORES, MASK = f"tensor<{b}x{a}x{s}x{s}xf16>", f"tensor<{b}x{a}x{s}x{s}xi1>"
parameters, lines = [], []


def param(name, *dims):
    shape = "x".join(map(str, dims))
    value = "%p" + name.replace(".", "_")
    parameters.append(f'{value}: tensor<{shape}xf16> {{es.param = #es.param<trainable "{name}">}}')
    return value, f"tensor<{shape}xf16>"


def op(result, name, operands, types, out, attributes=""):
    lines.append(f'  {result} = "torch.aten.{name}"({", ".join(operands)}){attributes} : ({", ".join(types)}) -> {out}')


def linear(result, x, name, m, n, x_type, out):
    w, w_type = param(name, n, m)
    op(result, "linear", (x, w), (x_type, w_type), out)


def norm(result, x, name):
    g, t = param(name + ".weight", h)
    beta, _ = param(name + ".bias", h)
    op(result, "layer_norm", (x, g, beta), (ACT, t, t), ACT)


def dropout(result, x, act, mask):
    op(result + ":2", "native_dropout", (x,), (act,), f"({act}, {mask})", " {p = 0.1}")


x = "%x"
for i in range(layers):
    p = f"%l{i}_"
    norm(p + "n1", x, f"{i}.ln1")
    for name in "qkv":
        linear(p + name, p + "n1", f"{i}.{name}", h, h, ACT, ACT)
        op(p + name + "s", "view", (p + name,), (ACT,), SPLIT)
        op(p + name + "h", "transpose.int", (p + name + "s",), (SPLIT,), HEADS, " {dim0 = 1, dim1 = 2}")
    op(p + "kt", "transpose.int", (p + "kh",), (HEADS,), KEYS, " {dim0 = 2, dim1 = 3}")
    op(p + "s", "matmul", (p + "qh", p + "kt"), (HEADS, KEYS), SCORES)
    op(p + "p", "softmax.int", (p + "s",), (SCORES,), SCORES, " {dim = -1}")
    dropout(p + "pd", p + "p", SCORES, MASK)
    op(p + "o", "matmul", (p + "pd#0", p + "vh"), (SCORES, HEADS), HEADS)
    op(p + "ot", "transpose.int", (p + "o",), (HEADS,), SPLIT, " {dim0 = 1, dim1 = 2}")
    op(p + "oc", "view", (p + "ot",), (SPLIT,), ACT)
    linear(p + "proj", p + "oc", f"{i}.proj", h, h, ACT, ACT)
    dropout(p + "d1", p + "proj", ACT, ACT.replace("f16", "i1"))
    op(p + "x1", "add.Tensor", (x, p + "d1#0"), (ACT, ACT), ACT)
    norm(p + "n2", p + "x1", f"{i}.ln2")
    linear(p + "up", p + "n2", f"{i}.up", h, 4 * h, ACT, WIDE)
    op(p + "g", "gelu", (p + "up",), (WIDE,), WIDE)
    linear(p + "down", p + "g", f"{i}.down", 4 * h, h, WIDE, ACT)
    dropout(p + "d2", p + "down", ACT, ACT.replace("f16", "i1"))
    op(p + "x2", "add.Tensor", (p + "x1", p + "d2#0"), (ACT, ACT), ACT)
    x = p + "x2"
print(f"func.func @transformer(%x: {ACT}, " + ", ".join(parameters) + f") -> {ACT} {{")
print("\n".join(lines))
print(f"  return {x} : {ACT}\n}}")
