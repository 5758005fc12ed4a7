"""Compile time and size of an update, by the number of its parameters of one kind.

  benchmarks/update/compile_time.py path/to/es-opt

The kernels are compiled once for all parameters; the table that describes them
to the kernels, and the function that fills it, grow.
"""

import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LLVM = os.environ.get("LLVM_PREFIX", "/usr/lib/llvm-22")
GENERATOR = os.path.join(HERE, "../../test/Conversion/Inputs/parameters.py")


def run(command, text=b""):
    start = time.perf_counter()
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True)
    return done.stdout, time.perf_counter() - start


def get_sizes(assembly):
    """Instructions of the kernels, and of the function that calls them."""
    kernels = caller = 0
    for function in re.split(r"\n(?=\w+:)", assembly):
        name = function.split(":")[0].split("\n")[-1]
        instructions = len(re.findall(r"\n\s+[a-z]\w*\s", function))
        if name.startswith("es_update"):
            kernels += instructions
        elif name == "f":
            caller += instructions
    return kernels, caller


def main():
    es_opt = sys.argv[1]
    print("| parameters | es-opt, s | opt and llc, s | kernels, instructions | caller, instructions |")
    print("|---|---|---|---|---|")
    for count in (1, 10, 100, 1000):
        module, _ = run([sys.executable, GENERATOR, str(count)])
        least = [1e9, 1e9]
        for _ in range(3):
            lowered, here = run([es_opt, "--es-to-llvm"], module)
            ir, _ = run([f"{LLVM}/bin/mlir-translate", "--mlir-to-llvmir"], lowered)
            ir, optimized = run([f"{LLVM}/bin/opt", "-O3", "-mcpu=native", "-mtriple=x86_64-linux-gnu"], ir)
            assembly, emitted = run([f"{LLVM}/bin/llc", "-O3", "-mcpu=native"], ir)
            least = [min(least[0], here), min(least[1], optimized + emitted)]
        kernels, caller = get_sizes(assembly.decode())
        print(f"| {count} | {least[0]:.2f} | {least[1]:.2f} | {kernels} | {caller} |")


main()
