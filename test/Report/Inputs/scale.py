"""Prints a module of full size: scale.py KIND

chain      one block of 10^6 ops, each reading the one before
fan        one block of 10^6 ops that all read one argument
nest       loops nested 500 deep
functions  10^5 functions
line       a constant of 10 MB on one line
"""

import sys

T = "tensor<4xf32>"


def block(read_last):
    print(f"func.func @f(%a: {T}, %b: {T}) -> {T} {{")
    last = "%a"
    for i in range(10**6):
        print(f"%v{i} = arith.addf {last if read_last else '%a'}, %b : {T}")
        last = f"%v{i}"
    print(f"return {last} : {T}\n}}")


def nest(depth=500):
    print(f"func.func @f(%v0: {T}, %n: index) -> {T} {{")
    print("%zero = arith.constant 0 : index\n%one = arith.constant 1 : index")
    for i in range(depth):
        print(f"%r{i} = scf.for %i{i} = %zero to %n step %one", end=" ")
        print(f"iter_args(%v{i + 1} = %v{i}) -> ({T}) {{")
    print(f"%r{depth} = arith.addf %v{depth}, %v{depth} : {T}")
    for i in reversed(range(depth)):
        print(f"scf.yield %r{i + 1} : {T}\n}}")
    print(f"return %r0 : {T}\n}}")


def functions():
    for i in range(10**5):
        print(f"func.func @f{i}(%a: {T}) -> {T} {{")
        print(f"%0 = arith.addf %a, %a : {T}\nreturn %0 : {T}\n}}")


def line(elements=10 * 2**17):
    wide = f"tensor<{elements}xf32>"
    digits = "0000803F" * (elements - 1) + "00000040"
    print(f"func.func @f() -> {wide} {{")
    print(f'%0 = arith.constant dense<"0x{digits}"> : {wide}')
    print(f"return %0 : {wide}\n}}")


kinds = {
    "chain": lambda: block(True),
    "fan": lambda: block(False),
    "nest": nest,
    "functions": functions,
    "line": line,
}
kinds[sys.argv[1]]()
