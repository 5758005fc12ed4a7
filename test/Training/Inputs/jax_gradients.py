"""Compares gradients with jax.grad, on the same weights, through the exporter.

    jax_gradients.py es-opt LLVM_BIN

Each model is exported by from_jax, lowered by es-stablehlo-to-linalg, given a training
step, expanded, compiled and run. Prints a line for each model, element type and set of
trained parameters.

Both sides add up the same products in other orders, in the same element type. With up to
a few hundred terms of like size to a sum and a handful of ops on the way, rounding is within
some thousand units in the last place of the largest element of a gradient: 1e-11 in f64
(unit 1.1e-16), 1e-4 in f32 (unit 6e-8). A wrong derivative is off by its own size.
"""

import os
import re
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gradients  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import es_opt  # noqa: E402

jax.config.update("jax_enable_x64", True)
TOLERANCE = {"float64": 1e-11, "float32": 1e-4}


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))


def mlp(p, x, labels):
    for i in range(2):
        x = jax.nn.relu(x @ p[f"w{i}"] + p[f"b{i}"])
    return cross_entropy(x @ p["w2"] + p["b2"], labels)


def one_hot(p, x, labels):
    logits = jnp.tanh(x @ p["w0"]) @ p["w1"]
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits) * jax.nn.one_hot(labels, 3, dtype=logits.dtype), -1))


def layer_norm(p, x):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    x = (x @ p["v"] - mean) * jax.lax.rsqrt(variance + 1e-5)
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    x = (x - mean) / jnp.sqrt(variance + 1e-5) * p["scale"] + p["bias"]
    return jnp.mean(jax.nn.gelu(x, approximate=False) * jax.nn.gelu(x) @ p["w"])


def attention(p, x):
    b, s, d = x.shape
    q, k, v = [(x @ p[n]).reshape(b, s, 2, d // 2).transpose(0, 2, 1, 3) for n in "qkv"]
    scores = jnp.einsum("bhsd,bhtd->bhst", q, k) / np.sqrt(d // 2)
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -1e30))
    mixed = jnp.einsum("bhst,bhtd->bhsd", weights, v).transpose(0, 2, 1, 3).reshape(b, s, d)
    x = x + mixed @ p["o"]
    return jnp.mean((x + jax.nn.silu(x @ p["up"]) @ p["down"]) ** 2)


def conv_net(p, x):
    nhwc = ("NHWC", "HWIO", "NHWC")
    x = jax.lax.conv_general_dilated(x, p["k"], (1, 1), "SAME", dimension_numbers=nhwc)
    x = jax.nn.relu(x + p["b"])
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jax.lax.conv_general_dilated(x, p["depthwise"], (1, 1), [(1, 2), (2, 1)], rhs_dilation=(2, 1),
                                     dimension_numbers=nhwc, feature_group_count=4)  # fmt: skip
    x = jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "SAME") / 4
    x = jax.lax.conv_general_dilated(x, p["down"], (2, 2), "VALID", dimension_numbers=nhwc)
    # Away from where tanh is flat and f32 loses what little derivative is left.
    return jnp.mean(jnp.tanh(0.1 * x.reshape(x.shape[0], -1) @ p["w"]))


def transposed_conv(p, x):
    x = jax.lax.conv_transpose(x, p["k"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jnp.mean(x**3)


def scan(p, x):
    def cell(h, row):
        h = jnp.tanh(h @ p["wh"] + row @ p["wx"] + p["b"])
        return h, h

    h, states = jax.lax.scan(cell, jnp.zeros((x.shape[1], p["b"].shape[0]), x.dtype), x)
    return jnp.mean(states**2) + jnp.sum(h)


def fori_loop(p, x):
    return jnp.sum(jax.lax.fori_loop(0, 4, lambda i, h: jnp.sin(h @ p["w"]) + i * p["b"], x))


def scanned_layers(p, x):
    h, _ = jax.lax.scan(lambda h, w: (jax.nn.relu(h @ w) + h, None), x, p["stack"])
    return jnp.mean(h * p["scale"])


def branches(p, x):
    h = jax.lax.cond(x[0, 0] > -10, lambda h: jnp.tanh(h @ p["a"]), lambda h: h @ p["b"], x)
    return jnp.mean(jax.lax.cond(x[0, 0] > 10, lambda h: h @ p["b"], lambda h: h @ p["a"] * h, h) + p["b"])


def movement(p, x):
    a = jnp.concatenate([p["a"][:, 1:5:2], p["a"][:, :1], x], axis=1)
    a = jax.lax.pad(a, jnp.zeros((), a.dtype), ((1, 2, 1), (0, -1, 0)))
    a = jnp.flip(a, 0) * jnp.cumsum(jnp.ones_like(a), 1)
    a = jax.lax.dynamic_update_slice(a, p["b"], (2, 1)).T
    return jnp.mean(jnp.max(a, 0) + jnp.min(a, 0) * jnp.clip(jnp.mean(a, 0), -0.05, 0.05)) ** 2


def embedding(p, tokens):
    h = p["table"][tokens]
    h = jnp.tanh(jnp.mean(h, 1)) @ p["table"].T
    return cross_entropy(h, tokens[:, 0])


def weights(key, dtype, **shapes):
    keys = jax.random.split(jax.random.key(key), len(shapes))
    return {n: 0.5 * jax.random.normal(k, s, dtype) for k, (n, s) in zip(keys, shapes.items())}


def make_models(dtype):
    """Name, function, parameters, data, what to freeze."""
    x = lambda *shape: jax.random.normal(jax.random.key(99), shape, dtype)  # noqa: E731
    w = lambda key, **shapes: weights(key, dtype, **shapes)  # noqa: E731
    labels = jnp.array([0, 2, 1, 2], jnp.int32)
    yield mlp, w(1, w0=(5, 8), b0=(8,), w1=(8, 8), b1=(8,), w2=(8, 3), b2=(3,)), (x(4, 5), labels), "w[02]|b1"
    yield one_hot, w(2, w0=(5, 8), w1=(8, 3)), (x(4, 5), labels), "w1"
    yield layer_norm, w(3, v=(8, 8), scale=(8,), bias=(8,), w=(8, 4)), (x(2, 3, 8),), "scale|'w'"
    yield (attention, w(4, q=(8, 8), k=(8, 8), v=(8, 8), o=(8, 8), up=(8, 16), down=(16, 8)), (x(2, 5, 8),),
           "'[kvo]'|down")  # fmt: skip
    yield (conv_net, w(5, k=(3, 3, 2, 4), b=(4,), depthwise=(2, 3, 1, 8), down=(2, 2, 8, 3), w=(12, 2)),
           (x(2, 8, 8, 2),), "'k'|down")  # fmt: skip
    yield transposed_conv, w(6, k=(3, 3, 2, 3)), (x(1, 3, 4, 2),), None
    yield scan, w(7, wh=(6, 6), wx=(3, 6), b=(6,)), (x(5, 2, 3),), "wh"
    yield fori_loop, w(8, w=(4, 4), b=(4,)), (x(2, 4),), "w"
    yield scanned_layers, w(9, stack=(3, 4, 4), scale=(4,)), (x(2, 4),), "scale"
    yield branches, w(10, a=(4, 4), b=(4, 4)), (x(4, 4),), "'b'"
    yield movement, w(11, a=(3, 6), b=(2, 3)), (x(3, 2),), "'b'"
    yield embedding, w(12, table=(7, 4)), (jnp.array([[1, 4], [6, 1]], jnp.int32),), None


def run_step(tool, llvm, text, leaves):
    """The loss, and the gradient of each trained argument by its number."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.mlir")
        with open(path, "w") as file:
            file.write(gradients.run([tool, "--es-stablehlo-to-linalg"], text))
        _, call, arguments, results = next(gradients.compile_steps(tool, llvm, path, ["main"], [], folder))
        data = [np.asarray(leaf).ravel().tolist() for leaf in leaves]
        loss, updated = gradients.call_step(call, arguments, results, data)
    trained = [i for i, (_, writable) in enumerate(arguments) if writable]
    return loss, {i: np.subtract(data[i], new) for i, new in zip(trained, updated, strict=True)}


def check(tool, llvm, fn, params, data, frozen, form):
    leaves = jax.tree_util.tree_leaves((params, *data))
    text = es_opt.from_jax(fn, params, *data, params=0, frozen=frozen, form=form, keep_unused=True)
    expected_loss, expected = jax.value_and_grad(fn)(params, *data)
    loss, found = run_step(tool, llvm, text, leaves)
    names = sorted(params)
    trained = [i for i, n in enumerate(names) if not (frozen and re.search(frozen, f"p['{n}']"))]
    assert sorted(found) == trained, "a gradient for each trained parameter, and no other"
    worst = abs(loss - float(expected_loss)) / max(1, abs(float(expected_loss)))
    for index in trained:
        reference = np.asarray(expected[names[index]], np.float64).ravel()
        scale = np.abs(reference).max()
        assert scale > 1e-6, "a gradient is zero throughout"
        worst = max(worst, np.abs(found[index] - reference).max() / scale)
    return worst, len(trained), len(names)


def main():
    tool, llvm = sys.argv[1:3]
    different = count = 0
    for dtype, form in ((jnp.float64, "pretty"), (jnp.float32, "generic")):
        for fn, params, data, freeze in make_models(dtype):
            for frozen in dict.fromkeys((None, freeze)):
                worst, trained, total = check(tool, llvm, fn, params, data, frozen, form)
                name = np.dtype(dtype).name
                ok = worst < TOLERANCE[name]
                different += not ok
                count += 1
                print(f"{fn.__name__} {name}, {trained} of {total} trained: "
                      + ("equal" if ok else "DIFFERENT") + f", within {worst:.1e}", flush=True)  # fmt: skip
    print(f"{count} comparisons, {different} different")
    sys.exit(1 if different else 0)


main()
