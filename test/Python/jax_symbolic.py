"""Symbolic shapes of JAX: jax_symbolic.py es-opt folder."""

import json
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
from jax import export

tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)


def shape(*dims):
    return jax.ShapeDtypeStruct(dims, jnp.float32)


def mlp(params, x):
    h = jax.nn.relu(x @ params["w1"] + params["b1"])
    y = jax.nn.softmax(h @ params["w2"], axis=-1)
    return y, jnp.mean(h.reshape(-1), axis=0)


def attention(q, k, v):
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / 4.0
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), v)


def convolution(x, w):
    y = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")
    return jax.nn.relu(y).transpose(0, 2, 3, 1)


def loop(x, w):
    return jax.lax.fori_loop(0, 5, lambda i, h: jnp.tanh(h @ w), x)


def two(x, y):
    return jnp.concatenate([x, jnp.pad(y, ((0, 0), (1, 2)))], axis=1) * 2.0


def arguments(name, b):
    return {
        "mlp": lambda: (
            {"w1": shape(8, 16), "b1": shape(16), "w2": shape(16, 4)},
            shape(b, 8),
        ),
        "attention": lambda: [shape(b, 6, 2, 4)] * 3,
        "convolution": lambda: (shape(b, 3, 8, 8), shape(5, 3, 3, 3)),
        "loop": lambda: (shape(b, 8), shape(8, 8)),
        "two variables": lambda: (shape(2 * b, 8), shape(2 * b, 4)),
    }[name]()


def report(fn, args, *flags):
    path = folder / "model.mlir"
    path.write_text(str(export.export(jax.jit(fn))(*args).mlir_module()))
    done = subprocess.run(
        [tool, "--memory-report=json", *flags, path], capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)
    graph = json.loads(done.stdout)["functions"][0]["graphs"][0]
    return {k: v for k, v in graph.items() if k.endswith("_bytes") or k == "breakdown"}


(symbol,) = export.symbolic_shape("b")
for name, fn in [
    ("mlp", mlp),
    ("attention", attention),
    ("convolution", convolution),
    ("loop", loop),
    ("two variables", two),
]:
    for model in ("eager", "inplace", "fused"):
        for b in (1, 3, 8):
            flag = f"--memory-model={model}"
            symbolic = report(fn, arguments(name, symbol), flag, f"--shape=b:{b}")
            static = report(fn, arguments(name, b), flag)
            # The loop carries b itself along, an i32 of 4 bytes.
            if name == "loop":
                assert symbolic["peak_bytes"] == static["peak_bytes"] + 4, name
                symbolic = static
            if symbolic != static:
                sys.exit(f"{name}, {model}, b = {b}:\n{symbolic}\n{static}")
    print(f"{name}: b = 1, 3, 8 as exported")
