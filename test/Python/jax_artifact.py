"""Real StableHLO artifacts: es-opt says how to convert them, and that works.

jax_artifact.py folder [artifact text]: compares what the advice makes of an artifact
with the text of the same model; without files, of a function that JAX exports.
"""

import importlib.util
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import jax
import jax.numpy as jnp

folder = pathlib.Path(sys.argv[1])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)


def advice(path, expected, *flags):
    """The commands in the one diagnostic about a file."""
    done = subprocess.run(["es-opt", *flags, path], cwd=folder, capture_output=True)
    errors = done.stderr.decode(errors="replace")
    assert done.returncode == 1 and errors.count("error:") == 1, errors
    match = re.search(rf"1:1: error: {expected}; convert it with: (.*)", errors)
    assert match, errors
    return match[1].split("; or where JAX is installed: ")


def report(path):
    command = ["es-opt", "--memory-report=json", "--graphs=inference", path]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (function,) = json.loads(done.stdout)["functions"]
    graph = function["graphs"][0]
    sizes = {key: graph[key] for key in ("peak_bytes", "arena_bytes", "breakdown")}
    return function["parameters"], sizes


def convert(command):
    """What a command makes of the file; as it stands but for the Python."""
    command = re.sub("^python3", shlex.quote(sys.executable), command)
    subprocess.run(command, shell=True, cwd=folder, check=True)
    found = report("model.mlir")
    (folder / "model.mlir").unlink()
    return found


def check(artifact, text, expected):
    assert advice(artifact, expected) == advice(artifact, expected, "--memory-report")
    ran = 0
    for command in advice(artifact, expected, "--memory-report"):
        if command.startswith("python3") or shutil.which(shlex.split(command)[0]):
            assert convert(command) == report(text), command
            ran += 1
    assert ran, "no command could run"


portable = r"this is a StableHLO portable artifact \(StableHLO_v[0-9.]+\), which only StableHLO reads"
if len(sys.argv) > 2:
    check(sys.argv[2], sys.argv[3], portable)
    print("given: as its text")
    sys.exit()


def step(params, x):
    h = jax.nn.gelu(x @ params["w1"]) @ params["w2"]
    return jax.nn.softmax(h), jnp.argmax(h, axis=-1)


shapes = {"w1": (64, 128), "w2": (128, 10)}
params = {k: jax.ShapeDtypeStruct(v, jnp.bfloat16) for k, v in shapes.items()}
x = jax.ShapeDtypeStruct((32, 64), jnp.bfloat16)
exported = jax.export.export(jax.jit(step))(params, x)
(folder / "text.mlir").write_text(str(exported.mlir_module()))

(folder / "my model.mlirbc").write_bytes(exported.mlir_module_serialized)
check("my model.mlirbc", "text.mlir", portable)
print("mlir_module_serialized: as its text")

# JAX writes its own format by a library that is not always there.
if importlib.util.find_spec("flatbuffers") is None:
    print("serialize: needs flatbuffers")
else:
    (folder / "exported.bin").write_bytes(exported.serialize())
    held = "this is no MLIR but holds a StableHLO portable artifact, as functions that jax.export serialised do"
    check("exported.bin", "text.mlir", held)
    print("serialize: as its text")
