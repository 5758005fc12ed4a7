"""Which share of the machine's issue limit the normal16 kernel reaches, and why.

  benchmarks/update/issue_limit.py path/to/es-opt

Counts the instructions of the innermost loop, asks llvm-mca (with the model of
this machine) how fast they could issue if none waited for another, all together
and each kind alone, and how fast with their dependences; measures the kernel in
cycles. x86 only.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LLVM = os.environ.get("LLVM_PREFIX", "/usr/lib/llvm-22")
# Eight samples a block, sixteen blocks a turn of the loop.
SAMPLES = 128
KINDS = {
    "integer products": r"vpmul",
    "float products, sums, fma": r"vf|v(mul|add|sub)ps",
    "shifts": r"vps[lr]",
    "logic, integer sums": r"vp(and|or|xor|ternlog|add|sub|blend)",
    "conversions, roots": r"vcvt|vsqrt",
    "moves, loads, stores": r"v(p?broadcast|mov)",
}


def tool(name, arguments, text):
    command = [os.path.join(LLVM, "bin", name)] + arguments
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout


def get_loop(assembly):
    """The longest stretch between a label and a jump back to it with a root in it."""
    lines, loops, labels = assembly.split("\n"), [], {}
    for number, line in enumerate(lines):
        if label := re.match(r"(\.L\w+):", line):
            labels = {label[1]: number}
        jump = re.match(r"\s+j\w+\s+(\.L\w+)", line)
        if jump and jump[1] in labels:
            loops.append([re.sub(r"#.*", "", l) for l in lines[labels[jump[1]] + 1 : number + 1]])
    loops = [loop for loop in loops if any("vsqrtps" in line for line in loop)]
    return [line for line in max(loops, key=len) if re.match(r"\s+[a-z]", line)]


def ask_model(lines, view):
    """A number of llvm-mca's summary, for one turn of the loop."""
    text = "\n".join(line for line in lines if not re.match(r"\s+j", line))
    answer = json.loads(tool("llvm-mca", ["-mcpu=native", "-json"], text.encode()))
    summary = answer["CodeRegions"][0]["SummaryView"]
    return summary[view] / (summary["Iterations"] if view == "TotalCycles" else 1)


def main():
    es_opt = sys.argv[1]
    with open(os.path.join(HERE, "kernel.mlir")) as source:
        module = subprocess.run(
            [es_opt, "--es-to-llvm"], stdin=source, stdout=subprocess.PIPE, check=True
        ).stdout
    triple = tool("llvm-config", ["--host-target"], b"").decode().strip()
    ir = tool("mlir-translate", ["--mlir-to-llvmir"], module)
    ir = tool("opt", ["-O3", "-mcpu=native", "-mtriple=" + triple], ir)
    assembly = tool("llc", ["-O3", "-mcpu=native", "-relocation-model=pic"], ir).decode()
    kernel = assembly[assembly.index("es_update0_f32:") :]
    loop = get_loop(kernel[: kernel.index(".Lfunc_end")])

    with tempfile.TemporaryDirectory() as work:
        path, program = os.path.join(work, "kernel.s"), os.path.join(work, "clock")
        with open(path, "w") as file:
            file.write(assembly)
        source = os.path.join(HERE, "clock.cpp")
        subprocess.run(["g++", "-O2", source, path, "-lm", "-o", program], check=True)
        clock, measured = map(float, subprocess.check_output([program]).split())

    print(f"{len(loop)} instructions a turn of {SAMPLES} samples, {clock:.2f} GHz")
    print(f"{'':34} {'a turn':>7} {'cycles a sample':>16}")
    for kind, pattern in KINDS.items():
        lines = [line for line in loop if re.match(r"\s+(" + pattern + ")", line)]
        if lines:
            bound = ask_model(lines, "BlockRThroughput") / SAMPLES
            print(f"{kind + ' alone':34} {len(lines):7} {bound:16.2f}")
    limit = ask_model(loop, "BlockRThroughput") / SAMPLES
    simulated = ask_model(loop, "TotalCycles") / SAMPLES
    print(f"{'all, none waiting for another':34} {len(loop):7} {limit:16.2f}")
    print(f"{'all, with their dependences':34} {'':7} {simulated:16.2f}")
    print(f"{'measured':34} {'':7} {measured:16.2f}")
    print(f"{limit / measured:.0%} of the issue limit")


main()
