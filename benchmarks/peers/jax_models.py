"""JAX functions of many kinds, to compare memory on.

Each entry: name -> (function, arguments, positions of donated arguments).
Arguments are shapes only.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def cast(tree, dtype):
    return jax.tree.map(lambda s: jax.ShapeDtypeStruct(s.shape, dtype), tree)


# A multilayer perceptron.

MLP = [
    {"w": f32(784, 512), "b": f32(512)},
    {"w": f32(512, 512), "b": f32(512)},
    {"w": f32(512, 10), "b": f32(10)},
]


def mlp(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def xent(logits, labels):
    logp = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.take_along_axis(logp, labels[:, None], axis=-1).mean()


def mlp_loss(params, x, y):
    return xent(mlp(params, x), y)


def sgd_step(params, x, y):
    loss, grads = jax.value_and_grad(mlp_loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


def adam_step(state, x, y):
    params, m, v, t = state
    loss, grads = jax.value_and_grad(mlp_loss)(params, x, y)
    t = t + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)
    scale = jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    params = jax.tree.map(
        lambda p, m, v: p - 1e-3 * scale * m / (jnp.sqrt(v) + 1e-8), params, m, v
    )
    return (params, m, v, t), loss


# A convolutional network.

CONV = {
    "c1": f32(3, 3, 3, 32),
    "c2": f32(3, 3, 32, 64),
    "fc": f32(64, 10),
}


def conv_net(params, x):
    for name in ("c1", "c2"):
        x = lax.conv_general_dilated(
            x, params[name], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.relu(x)
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.mean((1, 2)) @ params["fc"]


# Transformers.


def layer_norm(x, g, b):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * g + b


def attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(q.shape[-1]).astype(q.dtype)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v)


def causal_attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(q.shape[-1]).astype(q.dtype)
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    scores = jnp.where(mask, scores, jnp.finfo(scores.dtype).min)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v)


D, HEADS, SEQ, BATCH = 256, 4, 128, 4
BLOCK = {
    "ln1": (f32(D), f32(D)),
    "qkv": f32(D, 3 * D),
    "proj": f32(D, D),
    "ln2": (f32(D), f32(D)),
    "up": f32(D, 4 * D),
    "down": f32(4 * D, D),
}


def block(params, x):
    b, s, d = x.shape
    h = layer_norm(x, *params["ln1"])
    q, k, v = jnp.split(h @ params["qkv"], 3, axis=-1)
    heads = lambda t: t.reshape(b, s, HEADS, d // HEADS).transpose(0, 2, 1, 3)
    h = causal_attention(heads(q), heads(k), heads(v))
    x = x + h.transpose(0, 2, 1, 3).reshape(b, s, d) @ params["proj"]
    h = layer_norm(x, *params["ln2"])
    return x + jax.nn.gelu(h @ params["up"]) @ params["down"]


def block_loss(params, x):
    return (block(params, x) ** 2).mean()


def gpt_loss(params, tokens):
    x = params["embed"][tokens[:, :-1]]
    for layer in params["blocks"]:
        x = block(layer, x)
    logits = x @ params["embed"].T
    return xent(logits.reshape(-1, logits.shape[-1]), tokens[:, 1:].reshape(-1))


GPT = {"embed": f32(1000, D), "blocks": [BLOCK, BLOCK]}


def gpt_step(params, tokens):
    loss, grads = jax.value_and_grad(gpt_loss)(params, tokens)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


# Loops.


def rnn(params, h, xs):
    def step(h, x):
        h = jnp.tanh(x @ params["wx"] + h @ params["wh"])
        return h, h

    return lax.scan(step, h, xs)


def power_iteration(a, x):
    def cond(state):
        x, old, i = state
        return (jnp.abs(x - old).max() > 1e-5) & (i < 50)

    def body(state):
        x, _, i = state
        y = a @ x
        return y / jnp.linalg.norm(y), x, i + 1

    return lax.while_loop(cond, body, (x, jnp.zeros_like(x), 0))[0]


def stacked_mlp(weights, x):
    return lax.scan(lambda x, w: (jax.nn.relu(x @ w), None), x, weights)[0]


# Recomputation.


def deep_loss(layer, params, x):
    for w in params:
        x = layer(w, x)
    return x.sum()


def deep_layer(w, x):
    return jnp.tanh(x @ w)


plain_grad = jax.grad(functools.partial(deep_loss, deep_layer))
remat_grad = jax.grad(functools.partial(deep_loss, jax.checkpoint(deep_layer)))


# Other things.


def int8_mlp(params, x):
    for layer in params:
        w = layer["q"].astype(jnp.float32) * layer["scale"]
        x = jax.nn.relu(x @ w)
    return x


def decode(cache, q, k, v, pos):
    """One token against a key-value cache."""
    keys = lax.dynamic_update_slice(cache["k"], k, (0, 0, pos, 0))
    values = lax.dynamic_update_slice(cache["v"], v, (0, 0, pos, 0))
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, keys) / 8.0
    mask = jnp.arange(keys.shape[2]) <= pos
    probs = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return {"k": keys, "v": values}, jnp.einsum("bhqk,bhkd->bhqd", probs, values)


def elementwise(x, y):
    z = jnp.exp(x) * y + jnp.tanh(y)
    return z / (1 + jnp.abs(z)), (z * z).sum()


def branch(flag, w, x):
    return lax.cond(flag, lambda: jnp.tanh(x @ w) @ w, lambda: x)


X = f32(128, 784)
Y = jax.ShapeDtypeStruct((128,), jnp.int32)
QKV = [f32(2, 4, 256, 64)] * 3
TOKENS = jax.ShapeDtypeStruct((BATCH, SEQ + 1), jnp.int32)
SCALAR = jax.ShapeDtypeStruct((), jnp.int32)
QUANTISED = [
    {"q": jax.ShapeDtypeStruct((512, 512), jnp.int8), "scale": f32(512)}
    for _ in range(3)
]
CACHE = {"k": f32(2, 4, 512, 64), "v": f32(2, 4, 512, 64)}
TOKEN = [f32(2, 4, 1, 64)] * 3

FUNCTIONS = {
    "mlp": (mlp, (MLP, X), ()),
    "mlp bf16": (mlp, (cast(MLP, jnp.bfloat16), cast(X, jnp.bfloat16)), ()),
    "mlp int8": (int8_mlp, (QUANTISED, f32(128, 512)), ()),
    "mlp sgd step": (sgd_step, (MLP, X, Y), ()),
    "mlp sgd step, donated": (sgd_step, (MLP, X, Y), (0,)),
    "mlp adam step, donated": (adam_step, ((MLP, MLP, MLP, SCALAR), X, Y), (0,)),
    "conv net": (conv_net, (CONV, f32(8, 32, 32, 3)), ()),
    "attention": (attention, QKV, ()),
    "attention, causal": (causal_attention, QKV, ()),
    "gpt block": (block, (BLOCK, f32(BATCH, SEQ, D)), ()),
    "gpt block bf16": (
        block,
        (cast(BLOCK, jnp.bfloat16), cast(f32(BATCH, SEQ, D), jnp.bfloat16)),
        (),
    ),
    "gpt block gradient": (jax.grad(block_loss), (BLOCK, f32(BATCH, SEQ, D)), ()),
    "gpt step, donated": (gpt_step, (GPT, TOKENS), (0,)),
    "rnn scan": (
        rnn,
        ({"wx": f32(64, 256), "wh": f32(256, 256)}, f32(32, 256), f32(50, 32, 64)),
        (),
    ),
    "stacked layers scan": (stacked_mlp, (f32(6, 512, 512), f32(128, 512)), ()),
    "power iteration while": (power_iteration, (f32(512, 512), f32(512)), ()),
    "cond": (branch, (jax.ShapeDtypeStruct((), jnp.bool_), f32(256, 256), f32(64, 256)), ()),
    "deep gradient": (plain_grad, ([f32(256, 256)] * 6, f32(128, 256)), ()),
    "deep gradient, remat": (remat_grad, ([f32(256, 256)] * 6, f32(128, 256)), ()),
    "decode, donated cache": (decode, (CACHE, *TOKEN, SCALAR), (0,)),
    "elementwise": (elementwise, (f32(256, 1024), f32(256, 1024)), ()),
}
