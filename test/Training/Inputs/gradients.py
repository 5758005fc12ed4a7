"""Executes training steps and compares gradients with central differences.

    gradients.py es-opt LLVM_BIN MODEL [--loss=mse] [--train=RE ...] [@function ...]

Each function becomes a training step with plain gradient descent, is expanded,
bufferized, lowered and compiled; at a learning rate of 1 the change of a parameter is
its gradient, the loss is returned. In f64, at up to 12 elements of each parameter.
Prints a line a function with the largest relative deviation.
"""

import ctypes
import os
import random
import re
import subprocess
import sys
import tempfile

STEP = 1e-5
TOLERANCE = 1e-6
LOWERING = (
    "es-bufferize,func.func(llvm-request-c-wrappers),convert-linalg-to-loops,convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-math-to-llvm,convert-math-to-libm,arith-expand,convert-arith-to-llvm,"
    "convert-index-to-llvm,finalize-memref-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts"
)
LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p
LIBC.malloc.argtypes = [ctypes.c_size_t]


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)[:300]}\n{done.stderr[:3000]}")
    return done.stdout


def compile_steps(tool, llvm, path, names, flags, folder):
    """For each function: its step, the types of arguments and results."""
    build = f"es-build-training-graph{{optimizer=sgd {' '.join(flags)}}}"
    graph = run([tool, f"--pass-pipeline=builtin.module({build})", path], None)
    graph = re.sub(r"(es\.optimizer_step .*)", r"\1 {lr = 1.0}", graph)
    steps = run([tool, "--pass-pipeline=builtin.module(es-expand-vjp,es-strip-annotations)"], graph)
    # Only the steps are compiled.
    keep = ",".join(name + ".training_step" for name in names)
    lowered = run(
        [tool, f"--pass-pipeline=builtin.module(symbol-privatize{{exclude={keep}}},symbol-dce,{LOWERING})"],
        steps,
    )
    ir = run([os.path.join(llvm, "mlir-translate"), "--mlir-to-llvmir"], lowered)
    source, library = os.path.join(folder, "steps.ll"), os.path.join(folder, "steps.so")
    with open(source, "w") as file:
        file.write(ir)
    runtime = os.path.join(os.path.dirname(os.path.abspath(llvm)), "lib")
    run([os.path.join(llvm, "clang"), "-O1", "-w", "-shared", "-fPIC", source, "-o", library, "-lm",
         f"-L{runtime}", f"-Wl,-rpath,{runtime}", "-lmlir_c_runner_utils"], None)  # fmt: skip
    loaded = ctypes.CDLL(library)
    for name in names:
        header = re.search(rf"func.func (?:public )?@{name}\.training_step\((.*?)\) -> \((.*?)\) *{{", steps, re.S)
        arguments = re.findall(r"%arg\d+: ([^,{]*(?:<[^>]*>)?[^,{]*)(\{[^}]*\})?", header.group(1))
        arguments = [(t.strip(), "writable = true" in a) for t, a in arguments]
        results = [t.strip() for t in header.group(2).split(", ")]
        yield name, getattr(loaded, f"_mlir_ciface_{name}.training_step"), arguments, results


def shape_of(text):
    match = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>", text)
    if not match:
        return None
    return [int(d) for d in match.group(1).split("x") if d], match.group(2)


C_TYPES = {"f64": ctypes.c_double, "f32": ctypes.c_float, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
           "i1": ctypes.c_bool}  # fmt: skip


def count(dims):
    product = 1
    for dim in dims:
        product *= dim
    return product


def descriptor(dims, element, values):
    kind = C_TYPES[element]
    memory = LIBC.malloc(max(1, len(values)) * ctypes.sizeof(kind))
    (kind * len(values)).from_address(memory)[:] = values
    words = [memory, memory, 0, *dims]
    stride, strides = 1, []
    for dim in reversed(dims):
        strides.insert(0, stride)
        stride *= dim
    words += strides
    return (ctypes.c_int64 * len(words))(*words)


def read(words, at, dims, element):
    kind = C_TYPES[element]
    base, offset = words[at + 1], words[at + 2]
    strides = list(words[at + 3 + len(dims) : at + 3 + 2 * len(dims)])
    values = []
    for linear in range(count(dims)):
        where, rest = offset, linear
        for dim, stride in zip(reversed(dims), reversed(strides)):
            where += rest % dim * stride
            rest //= dim
        values.append(kind.from_address(base + where * ctypes.sizeof(kind)).value)
    return values


def call_step(call, arguments, results, data):
    """The loss and the new parameters."""
    packed, kept = [], []
    size = sum(3 + 2 * len(shape_of(r)[0]) for r in results)
    out = (ctypes.c_int64 * size)()
    for (text, _), values in zip(arguments, data):
        shape = shape_of(text)
        if shape is None:
            packed.append({"i1": ctypes.c_bool, "f64": ctypes.c_double}.get(text, ctypes.c_int64)(values))
            continue
        kept.append(descriptor(*shape, values))
        packed.append(ctypes.byref(kept[-1]))
    call(ctypes.byref(out), *packed)
    at, found = 0, []
    for text in results:
        dims, element = shape_of(text)
        found.append(read(out, at, dims, element))
        at += 3 + 2 * len(dims)
    return found[0][0], found[1:]


def make_data(arguments):
    data = []
    for text, _ in arguments:
        shape = shape_of(text)
        if shape is None:
            data.append({"i1": True, "f64": 0.7}.get(text, 1))
        elif shape[1].startswith("f"):
            # Away from 0 and 1, where some functions have kinks.
            data.append([random.choice((1, 1, -1)) * random.uniform(0.15, 0.85) for _ in range(count(shape[0]))])
        elif shape[1] == "i1":
            data.append([random.random() < 0.5 for _ in range(count(shape[0]))])
        else:
            data.append([random.randrange(3) for _ in range(count(shape[0]))])
    return data


def check(call, arguments, results, positive):
    data = make_data(arguments)
    if positive:
        data = [[abs(v) for v in d] if isinstance(d, list) else d for d in data]
    _, updated = call_step(call, arguments, results, data)
    trained = [i for i, (_, writable) in enumerate(arguments) if writable]
    assert len(trained) == len(updated), "one result for each parameter"
    worst = compared = 0
    for index, new in zip(trained, updated):
        gradient = [old - value for old, value in zip(data[index], new)]
        for element in random.sample(range(len(new)), min(12, len(new))):
            losses = []
            for sign in (1, -1):
                moved = [list(d) if isinstance(d, list) else d for d in data]
                moved[index][element] += sign * STEP
                losses.append(call_step(call, arguments, results, moved)[0])
            expected = (losses[0] - losses[1]) / (2 * STEP)
            worst = max(worst, abs(expected - gradient[element]) / max(1e-2, abs(expected)))
            compared += 1
        assert any(abs(g) > 1e-9 for g in gradient), "a gradient is zero throughout"
    return worst, compared


def main():
    tool, llvm, path = sys.argv[1:4]
    flags = [a[2:] for a in sys.argv[4:] if a.startswith("--")]
    wanted = [a[1:] for a in sys.argv[4:] if a.startswith("@")]
    random.seed(7)
    text = open(path).read()
    names = wanted or re.findall(r"^func\.func @(\w+)\(", text, re.M)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, call, arguments, results in compile_steps(tool, llvm, path, names, flags, folder):
            worst, compared = check(call, arguments, results, name.endswith("_positive"))
            ok = worst < TOLERANCE
            failed += not ok
            print(f"@{name}: {compared} derivatives, " + ("equal" if ok else f"DIFFERENT by {worst:.3g}"))
    print(f"{len(names)} functions, {failed} different")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
