"""One function for each elementwise op that has an expansion."""

UNARY = """math.exp math.exp2 math.expm1 math.tanh math.sin math.cos math.sinh math.cosh math.tan math.erf
math.erfc math.atan math.asinh math.absf arith.negf""".split()
POSITIVE = """math.log math.log2 math.log10 math.log1p math.sqrt math.rsqrt math.cbrt math.asin math.acos
math.atanh""".split()
BINARY = "arith.addf arith.subf arith.mulf arith.divf arith.maximumf arith.minimumf math.atan2".split()
T = "tensor<3x4xf64>"
P = '{es.param = #es.param<trainable "%s">}'


def function(name, arguments, lines):
    print(f"func.func @{name}({arguments}) -> {T} {{")
    for line in lines:
        print("  " + line)
    print(f"  return %y : {T}\n}}")


for op in UNARY + POSITIVE:
    name = op.replace(".", "_") + ("_positive" if op in POSITIVE else "")
    function(name, f"%w: {T} {P % name}", [f"%y = {op} %w : {T}"])
for op in BINARY:
    name = op.replace(".", "_")
    function(name, f"%a: {T} {P % (name + 'a')}, %b: {T} {P % (name + 'b')}", [f"%y = {op} %a, %b : {T}"])
function("powf_positive", f"%a: {T} {P % 'pa'}, %b: {T} {P % 'pb'}", [f"%y = math.powf %a, %b : {T}"])
function("fma", f"%a: {T} {P % 'fa'}, %b: {T} {P % 'fb'}, %c: {T} {P % 'fc'}", [f"%y = math.fma %a, %b, %c : {T}"])
function("select", f"%p: tensor<3x4xi1>, %a: {T} {P % 'sa'}, %b: {T} {P % 'sb'}",
         [f"%y = arith.select %p, %a, %b : tensor<3x4xi1>, {T}"])  # fmt: skip
function("relu", f"%w: {T} {P % 'rw'}", [f"%z = arith.constant dense<0.0> : {T}", f"%y = arith.maximumf %w, %z : {T}"])
function("clip", f"%w: {T} {P % 'cw'}", [f"%z = arith.constant dense<0.4> : {T}", f"%y = arith.minimumf %z, %w : {T}"])
